"""Products by `tcgen05` as Triton writes them: persistent, warp-specialised, block-scaled, attention; rows by number.

Each line names what ran, whether it was right, and which of the words its PTX has. Numbers are small: sums are exact.
"""

from __future__ import annotations

import sys

import ml_dtypes
import numpy as np
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from ptxloom.triton import from_numpy


@triton.jit
def by_pointers(a, b, c, N, K, TILE: tl.constexpr, STEP: tl.constexpr, KIND: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    steps = tl.arange(0, STEP)
    total = tl.zeros((TILE, TILE), KIND)
    for k in range(0, K, STEP):
        left = tl.load(a + rows[:, None] * K + (k + steps)[None, :])
        right = tl.load(b + (k + steps)[:, None] * N + columns[None, :])
        total = tl.dot(left, right, total, out_dtype=KIND)
    tl.store(c + rows[:, None] * N + columns[None, :], total)


@triton.jit
def persistent(a, b, c, M, N, K, TILE: tl.constexpr, STEP: tl.constexpr, PROGRAMS: tl.constexpr, WARPS: tl.constexpr):
    across = tl.cdiv(N, TILE)
    tiles = tl.cdiv(M, TILE) * across
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=not WARPS, warp_specialize=WARPS):
        row, column = tile // across * TILE, tile % across * TILE
        total = tl.zeros((TILE, TILE), tl.float32)
        for k in range(0, K, STEP):
            total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def gathering(a, c, numbers, ROWS: tl.constexpr):
    c.store([0, 0], a.gather(tl.load(numbers + tl.arange(0, ROWS)), 0))


@triton.jit
def scattering(a, c, numbers, ROWS: tl.constexpr):
    c.scatter(a.load([0, 0]), tl.load(numbers + tl.arange(0, ROWS)), 0)


@triton.jit
def attention(q, k, v, out, length, scale, TILE: tl.constexpr, HEAD: tl.constexpr, WARPS: tl.constexpr):
    row = tl.program_id(0) * TILE
    query = q.load([row, 0])
    most = tl.full((TILE,), -float("inf"), tl.float32)
    weight = tl.zeros((TILE,), tl.float32)
    total = tl.zeros((TILE, HEAD), tl.float32)
    for at in tl.range(0, length, TILE, warp_specialize=WARPS):
        scores = tl.dot(query, k.load([at, 0]).T) * scale
        higher = tl.maximum(most, tl.max(scores, 1))
        powers = tl.math.exp2(scores - higher[:, None])
        back = tl.math.exp2(most - higher)
        weight = weight * back + tl.sum(powers, 1)
        total = tl.dot(powers.to(tl.float16), v.load([at, 0]), total * back[:, None])
        most = higher
    out.store([row, 0], total / weight[:, None])


@triton.jit
def by_blocks(
    a, a_scale, b, b_scale, c, K: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr, KIND: tl.constexpr, PACK: tl.constexpr
):  # fmt: skip
    """As Triton's tutorial 10 does it: scales come by 512 bytes, as `tcgen05.cp` wants them."""
    several: tl.constexpr = STEP // BLOCK // 4
    total = tl.zeros((128, 128), tl.float32)
    for k in range(0, K, STEP):
        left, right = a.load([0, k // PACK]), b.load([0, k // PACK])
        at = k // BLOCK // 4
        of_a = a_scale.load([0, 0, at, 0, 0]).reshape(1, several, 32, 4, 4).trans(0, 3, 2, 1, 4)
        of_b = b_scale.load([0, 0, at, 0, 0]).reshape(1, several, 32, 4, 4).trans(0, 3, 2, 1, 4)
        of_a, of_b = of_a.reshape(128, STEP // BLOCK), of_b.reshape(128, STEP // BLOCK)
        total = tl.dot_scaled(left, of_a, KIND, right.T, of_b, KIND, total)
    c.store([0, 0], total)


rng = np.random.default_rng(1)


def described(array: np.ndarray, *box: int) -> TensorDescriptor:
    return TensorDescriptor.from_tensor(from_numpy(array), [*box])


def say(name: str, right: bool, made: object, *words: str) -> None:
    text = made.asm["ptx"]
    print(name, "right" if right else "wrong", *(word for word in words if word in text), flush=True)


def products() -> None:
    kinds = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "e4m3": ml_dtypes.float8_e4m3fn, "s8": np.int8}
    for name, kind in kinds.items():
        total = np.int32 if name == "s8" else np.float32
        left, right = rng.integers(-4, 5, (128, 128)).astype(kind), rng.integers(-4, 5, (128, 128)).astype(kind)
        out = np.zeros((128, 128), total)
        triton_type = tl.int32 if name == "s8" else tl.float32
        arrays = map(from_numpy, (left, right, out))
        made = by_pointers[(1, 1)](*arrays, 128, 128, TILE=128, STEP=64, KIND=triton_type)
        say(name, bool((out == left.astype(total) @ right.astype(total)).all()), made, "tcgen05.mma")


def persistent_products() -> None:
    for warps in (False, True):
        left, right = (rng.integers(-4, 5, (256, 128)).astype(np.float16) for _ in range(2))
        out = np.zeros((256, 256), np.float16)
        maps = described(left, 128, 64), described(right, 128, 64), described(out, 128, 128)
        made = persistent[(2,)](*maps, 256, 256, 128, TILE=128, STEP=64, PROGRAMS=2, WARPS=warps)
        wanted = left.astype(np.float32) @ right.astype(np.float32).T
        say("persistent", bool((out == wanted).all()), made, "tcgen05.mma", "setmaxnreg")


def rows_by_number() -> None:
    numbers = rng.permutation(64)[:32].astype(np.int32)
    source, out = rng.integers(-99, 99, (64, 64)).astype(np.float16), np.zeros((32, 64), np.float16)
    made = gathering[(1,)](described(source, 1, 64), described(out, 32, 64), from_numpy(numbers), ROWS=32)
    say("gathered", bool((out == source[numbers]).all()), made, "tile::gather4")
    back = np.zeros((64, 64), np.float16)
    made = scattering[(1,)](described(out, 32, 64), described(back, 1, 64), from_numpy(numbers), ROWS=32)
    say("scattered", bool((back[numbers] == out).all() and not back[np.setdiff1d(range(64), numbers)].any()), made, "tile::scatter4")


def attentions() -> None:
    for warps in (False, True):
        q, k, v = (rng.normal(size=(256, 64)).astype(np.float16) for _ in range(3))
        out = np.zeros((256, 64), np.float32)
        maps = (described(each, 128, 64) for each in (q, k, v, out))
        made = attention[(2,)](*maps, 256, 0.18, TILE=128, HEAD=64, WARPS=warps)
        scores = q.astype(np.float64) @ k.astype(np.float64).T * 0.18
        weights = np.exp2(scores - scores.max(1, keepdims=True))
        wanted = weights / weights.sum(1, keepdims=True) @ v.astype(np.float64)
        say("attention", bool(np.abs(out - wanted).max() < 4e-3), made, "tcgen05.mma", "setmaxnreg")


def scaled_products() -> None:
    for kind, block in (("e4m3", 32), ("e2m1", 32), ("e2m1", 16)):
        pack = 2 if kind == "e2m1" else 1
        (left, exact_left), (right, exact_right) = elements(pack), elements(pack)
        (of_left, factor_left), (of_right, factor_right) = scales(block), scales(block)
        out = np.zeros((128, 128), np.float32)
        box = 1, 1, 128 // block // 4, 2, 256
        made = by_blocks[(1,)](
            described(left, 128, 128 // pack), described(of_left, *box), described(right, 128, 128 // pack),
            described(of_right, *box), described(out, 128, 128), K=256, STEP=128, BLOCK=block, KIND=kind, PACK=pack,
        )  # fmt: skip
        wanted = (exact_left * factor_left) @ (exact_right * factor_right).T
        words = "tcgen05.cp", "kind::mxf8f6f4", "kind::mxf4.", "kind::mxf4nvf4"
        say("scaled", bool((out == wanted).all()), made, *words)


def elements(pack: int) -> tuple[np.ndarray, np.ndarray]:
    """128 rows of 256 elements as a kernel reads them, and what they mean."""
    if pack == 1:
        values = rng.integers(-4, 5, (128, 256)).astype(ml_dtypes.float8_e4m3fn)
        return values, values.astype(np.float32)
    codes = rng.integers(0, 16, (128, 256)).astype(np.uint8)
    return codes[:, ::2] | codes[:, 1::2] << 4, codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32)


def scales(block: int) -> tuple[np.ndarray, np.ndarray]:
    """Scales in blocks of 512 bytes, 128 rows of 4, and the factor of each element."""
    if block == 32:
        held = rng.integers(126, 129, (128, 256 // block)).astype(np.uint8)
        exact = 2.0 ** (held.astype(np.float32) - 127)
    else:
        held = rng.integers(1, 4, (128, 256 // block)).astype(ml_dtypes.float8_e4m3fn)
        exact = held.astype(np.float32)
    placed = held.reshape(1, 4, 32, -1, 4).transpose(0, 3, 2, 1, 4).reshape(1, 1, -1, 2, 256)
    return np.ascontiguousarray(placed), np.repeat(exact, block, axis=1)


for what in sys.argv[1:]:
    globals()[what]()
