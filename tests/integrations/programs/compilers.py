"""The device's generator, tensors by their address alone, and extensions, which say that they are not built."""

from __future__ import annotations

import struct
from tempfile import TemporaryDirectory

import torch
import triton
import triton.language as tl


@triton.jit
def plus_one(x, out, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(out + at, tl.load(x + at) + 1)


class Address:
    """A tensor that says no more than where it is."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.dtype = tensor.dtype

    def data_ptr(self):
        return self.tensor.data_ptr()


class Sized(Address):
    nbytes = property(lambda self: self.tensor.nbytes)


torch.manual_seed(7)
generator = torch.cuda.default_generators[0]
first = generator.get_state()
state = generator.get_state()
state.view(torch.int64)[1] += 8
generator.set_state(state)
moved = generator.get_state()
torch.manual_seed(9)
states = (struct.unpack("<qq", bytes(one.tolist())) for one in (first, moved, generator.get_state()))
print("generator", len(first), *states)

x, out = torch.zeros(64, device="cuda"), torch.zeros(64, device="cuda")
plus_one[(1,)](Address(x), Address(out), block=64)
first = float(out.sum())
out.zero_()
plus_one[(1,)](Sized(x[:32]), Sized(out[16:48]), block=32)
plus_one[(1,)](Sized(x[:16]), Sized(out[:16]), block=16)
plus_one[(1,)](Sized(x[:16]), Sized(out[48:]), block=16)
print("argument", first, float(out.sum()))

from torch.utils.cpp_extension import load_inline  # noqa: E402 - it is heard of when it is imported

with TemporaryDirectory() as folder:
    try:
        load_inline("extension", "", cuda_sources="__global__ void k() {}", build_directory=folder)
    except OSError as error:
        print(str(error).partition(":")[0])
