"""Two block sizes to choose from: the larger needs fewer instructions."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ptxloom.triton import from_numpy


@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 1024})], key=["n"])
@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, at * 3, mask=at < n)


array = np.zeros(4000, np.int32)
kernel[lambda meta: (triton.cdiv(4000, meta["BLOCK"]),)](from_numpy(array), 4000)
print(kernel.best_config.kwargs["BLOCK"])
print("right" if (array == 3 * np.arange(4000)).all() else "wrong")
