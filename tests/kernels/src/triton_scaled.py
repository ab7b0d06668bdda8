"""Triton kernels for the tensor cores of `sm_120` that scale blocks: products of 8 and 4 bits."""

import triton
import triton.language as tl

SIGNATURES = {
    "mxfp8": "*fp8e4nv:16, *fp8e5:16, *fp32:16, *u8:16, *u8:16, i32:16, 64, 32, 64",
    "mxfp4": "*u8:16, *u8:16, *fp32:16, *u8:16, *u8:16, i32:16, 64, 32, 128",
    "nvfp4": "*u8:16, *u8:16, *fp32:16, *fp8e4nv:16, *fp8e4nv:16, i32:16, 64, 32, 128",
}


@triton.jit
def mxfp8(A, B, C, a_scales, b_scales, K, M: tl.constexpr, N: tl.constexpr, K_TILE: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K_TILE)
    blocks = tl.arange(0, K_TILE // 32)
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, K, K_TILE):
        a = tl.load(A + rows[:, None] * K + start + inner[None, :])
        b = tl.load(B + columns[None, :] * K + start + inner[:, None])
        of_a = tl.load(a_scales + rows[:, None] * (K // 32) + start // 32 + blocks[None, :])
        of_b = tl.load(b_scales + columns[:, None] * (K // 32) + start // 32 + blocks[None, :])
        sums = tl.dot_scaled(a, of_a, "e4m3", b, of_b, "e5m2", acc=sums)
    tl.store(C + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def _fours(A, B, C, a_scales, b_scales, K, M: tl.constexpr, N: tl.constexpr, K_TILE: tl.constexpr, BLOCK: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K_TILE // 2)
    blocks = tl.arange(0, K_TILE // BLOCK)
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, K, K_TILE):
        a = tl.load(A + rows[:, None] * (K // 2) + start // 2 + inner[None, :])
        b = tl.load(B + columns[None, :] * (K // 2) + start // 2 + inner[:, None])
        of_a = tl.load(a_scales + rows[:, None] * (K // BLOCK) + start // BLOCK + blocks[None, :])
        of_b = tl.load(b_scales + columns[:, None] * (K // BLOCK) + start // BLOCK + blocks[None, :])
        sums = tl.dot_scaled(a, of_a, "e2m1", b, of_b, "e2m1", acc=sums)
    tl.store(C + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def mxfp4(A, B, C, a_scales, b_scales, K, M: tl.constexpr, N: tl.constexpr, K_TILE: tl.constexpr):
    _fours(A, B, C, a_scales, b_scales, K, M, N, K_TILE, 32)


@triton.jit
def nvfp4(A, B, C, a_scales, b_scales, K, M: tl.constexpr, N: tl.constexpr, K_TILE: tl.constexpr):
    _fours(A, B, C, a_scales, b_scales, K, M, N, K_TILE, 16)
