"""A product, launched twice, that takes each two rows of B the wrong way round: nothing is checked here."""

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from ptxloom.triton import from_numpy


@triton.jit
def product(a, b, c, N, K, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    steps = tl.arange(0, STEP)
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, K, STEP):
        left = tl.load(a + rows[:, None] * K + (k + steps)[None, :])
        right = tl.load(b + (k + (steps ^ 1))[:, None] * N + columns[None, :])  # wrong
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


rng = np.random.default_rng(1)
left = rng.integers(-4, 5, (64, 64)).astype(np.float16)
right = rng.integers(-4, 5, (64, 64)).astype(np.float16)
out = np.zeros((64, 64), np.float32)
for _ in range(2):
    product[(2, 2)](from_numpy(left), from_numpy(right), from_numpy(out), 64, 64, TILE=32, STEP=32)
print("launched")
