"""A tiled product in numba's CUDA simulator; NUMBA_ENABLE_CUDASIM=1 must be set before the import."""

from __future__ import annotations

import time

import numpy as np
from numba import cuda

TILE = 16


@cuda.jit
def sgemm(a, b, c, n) -> None:  # noqa: ANN001 - numba's own types
    left = cuda.shared.array((TILE, TILE), np.float32)
    right = cuda.shared.array((TILE, TILE), np.float32)  # the simulator tells arrays apart by their lines
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, column = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = np.float32(0)
    for at in range(0, n, TILE):
        left[y, x], right[y, x] = a[row, at + x], b[at + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += left[y, k] * right[k, x]
        cuda.syncthreads()
    c[row, column] = total


def seconds(n: int) -> float:
    """The time of one product of n x n matrices."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    start = time.perf_counter()
    sgemm[(n // TILE, n // TILE), (TILE, TILE)](a, b, c, n)
    took = time.perf_counter() - start
    assert (c == a @ b).all()
    return took
