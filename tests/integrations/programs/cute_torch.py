"""The CuTe DSL on PyTorch's tensors of the device."""

from __future__ import annotations

import torch
from cutlass import cute
from cutlass.cute.runtime import from_dlpack


@cute.kernel
def kernel(x: cute.Tensor, out: cute.Tensor):
    thread, _, _ = cute.arch.thread_idx()
    out[thread] = x[thread] * 2


@cute.jit
def doubled(x: cute.Tensor, out: cute.Tensor):
    kernel(x, out).launch(grid=(1, 1, 1), block=(64, 1, 1))


host = torch.arange(64.0)
x = host.cuda()
out = torch.zeros_like(x)
doubled(from_dlpack(x), from_dlpack(out))
torch.cuda.synchronize()
print(x.__dlpack_device__() != host.__dlpack_device__(), bool((out.cpu() == 2 * host).all()))
