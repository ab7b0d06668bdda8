"""Every program of a grid stores another value at one address."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ptxloom.triton import from_numpy


@triton.jit
def kernel(x):
    tl.store(x, tl.program_id(0))


kernel[(4,)](from_numpy(np.zeros(1, np.int32)))
