"""Arguments that have `data_ptr()` and `dtype`, and what they say beside of how large they are."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ptxloom.triton import from_numpy


@triton.jit
def copy(x, out, n, block: tl.constexpr):
    at = tl.arange(0, block)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


class Bare:
    """Says nothing more."""

    def __init__(self, array):
        self.array = array
        self.dtype = array.dtype

    def data_ptr(self):
        return self.array.ctypes.data


class Sized(Bare):
    nbytes = property(lambda self: self.array.nbytes)


class Shaped(Bare):
    shape = property(lambda self: self.array.shape)


class Strided(Shaped):
    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)


class StridedInBytes(Shaped):
    strides = property(lambda self: self.array.strides)


class Array(np.ndarray):
    """Has a base, which has no address."""

    def data_ptr(self):
        return self.ctypes.data


source = np.arange(64, dtype=np.float32)
for kind in (Sized, Shaped, Strided, StridedInBytes, lambda array: array.view(Array)):
    out = np.zeros(64, np.float32)
    copy[(1,)](kind(source), kind(out), 64, block=64)
    print("right", np.array_equal(out, source))

every_other = Strided(np.zeros(128, np.float32)[::2])
copy[(1,)](from_numpy(source), every_other, 64, block=64)
print("right", np.array_equal(every_other.array.base[:64], source))

for kind in (Sized, Shaped, Strided, StridedInBytes, Bare):
    try:
        copy[(1,)](from_numpy(source), kind(np.zeros(10, np.float32)), 64, block=64)
    except Exception as error:  # noqa: BLE001 - whatever is said
        print(str(error))
