"""A product by pointers, and one by tensor descriptors."""

from __future__ import annotations

import ml_dtypes  # noqa: F401 - bf16 in NumPy
import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from ptxloom.triton import from_numpy


@triton.jit
def by_pointers(a, b, c, N, K, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    steps = tl.arange(0, STEP)
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, K, STEP):
        left = tl.load(a + rows[:, None] * K + (k + steps)[None, :])
        right = tl.load(b + (k + steps)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def by_descriptors(a, b, c, K, TILE: tl.constexpr, STEP: tl.constexpr):
    row, column = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    total = tl.zeros((TILE, TILE), tl.float32)
    for k in range(0, K, STEP):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total)


rng = np.random.default_rng(1)
left = rng.integers(-4, 5, (128, 64)).astype(np.float16)
right = rng.integers(-4, 5, (64, 128)).astype(np.float16)
wanted = left.astype(np.float32) @ right.astype(np.float32)

out = np.zeros((128, 128), np.float32)
made = by_pointers[(2, 2)](from_numpy(left), from_numpy(right), from_numpy(out), 128, 64, TILE=64, STEP=32)
print("pointers" if (out == wanted).all() else "wrong")
out = np.zeros((128, 128), np.float32)
maps = [TensorDescriptor.from_tensor(from_numpy(x), [64, 64]) for x in (left, right, out)]
by_descriptors[(2, 2)](*maps, 64, TILE=64, STEP=64)
print("descriptors" if (out == wanted).all() else "wrong")
print("wgmma" if "wgmma.mma_async" in made.asm["ptx"] else "mma")
