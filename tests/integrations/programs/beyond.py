"""A store beyond the end of an array."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ptxloom.machine import LaunchError
from ptxloom.triton import from_numpy


@triton.jit
def kernel(x, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(x + at, at)


try:
    kernel[(1,)](from_numpy(np.zeros(100, np.int32)), N=128)
except LaunchError as error:
    print(error)
