"""How many kernels there are after a launch whose products and sums are fused, and after one whose are not."""

from __future__ import annotations

import gc

import numpy as np
import triton
import triton.language as tl

from ptxloom.machine import Kernel
from ptxloom.triton import from_numpy


@triton.jit
def scaled(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * tl.load(x + at) + tl.load(y + at))


def kernels() -> int:
    return sum(isinstance(one, Kernel) for one in gc.get_objects())


near = np.float32(1) + np.finfo(np.float32).eps
x, y = np.full(64, near, np.float32), np.full(64, -(near * near), np.float32)
for fused in (True, False):
    out = np.ones(64, np.float32)
    scaled[(1,)](from_numpy(x), from_numpy(y), from_numpy(out), BLOCK=64, enable_fp_fusion=fused)
    print("fused" if out.any() else "rounded twice", kernels())
