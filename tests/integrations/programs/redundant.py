"""Lanes that hold one element of a sum, each with its own rounding, put it into shared memory."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ptxloom.triton import from_numpy


@triton.jit
def kernel(x, y, out):
    at = tl.arange(0, 2)[:, None] + 2 * tl.arange(0, 64)[None, :]
    total = tl.sum(tl.load(x + at) * tl.load(y + at), axis=1)
    tl.store(out + tl.arange(0, 2), total)


random = np.random.default_rng(1)
x, y = (random.standard_normal((64, 2)).astype(np.float32) for _ in range(2))
out = np.zeros(2, np.float32)
kernel[(1,)](from_numpy(x), from_numpy(y), from_numpy(out), num_warps=4)
print("right", np.allclose(out, (x * y).sum(0), atol=1e-5))
