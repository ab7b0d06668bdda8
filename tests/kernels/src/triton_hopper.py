"""Triton kernels for Hopper: four and eight warps, so that products are wgmma's; descriptors, so that copies are tensor copies."""

import triton
import triton.language as tl

SIGNATURES = {
    "pointers": "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, 64, 64, 32",
    "pointers_tf32": "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16, 64, 64, 32",
    "pointers_fp8": "*fp8e4nv:16, *fp8e4nv:16, *fp32:16, i32:16, i32:16, i32:16, 64, 64, 64",
    "pointers_int8": "*i8:16, *i8:16, *i32:16, i32:16, i32:16, i32:16, 64, 64, 64",
    "host_descriptors": "tensordesc<fp16[128, 64]>, tensordesc<fp16[64, 64]>, tensordesc<fp16[128, 64]>, i32:16, 128, 64, 64",
    "device_descriptors": "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 64, 64, 64",
    "persistent": "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 64, 64, 64, 3",
    "specialised": "*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, 64, 64, 64, 3",
    "attention": "*fp16:16, *fp16:16, *fp16:16, *fp16:16, fp32, i32:16, 64, 64, 64",
    "attention_descriptors": "*fp16:16, *fp16:16, *fp16:16, *fp16:16, fp32, i32:16, 64, 64, 64",
}
_FOUR = {"num_warps": 4, "num_stages": 3}
OPTIONS = {name: _FOUR for name in SIGNATURES} | {"host_descriptors": {"num_warps": 8, "num_stages": 4}}


@triton.jit
def _product(A, B, C, N, K, sums, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    rows = tl.program_id(0) * M_TILE + tl.arange(0, M_TILE)
    columns = tl.program_id(1) * N_TILE + tl.arange(0, N_TILE)
    inner = tl.arange(0, K_TILE)
    for start in range(0, K, K_TILE):
        a = tl.load(A + rows[:, None] * K + start + inner[None, :])
        b = tl.load(B + columns[None, :] * K + start + inner[:, None])
        sums = tl.dot(a, b, sums, input_precision="tf32")
    tl.store(C + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def pointers(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    _product(A, B, C, N, K, tl.zeros((M_TILE, N_TILE), tl.float32), M_TILE, N_TILE, K_TILE)


@triton.jit
def pointers_tf32(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    _product(A, B, C, N, K, tl.zeros((M_TILE, N_TILE), tl.float32), M_TILE, N_TILE, K_TILE)


@triton.jit
def pointers_fp8(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    _product(A, B, C, N, K, tl.zeros((M_TILE, N_TILE), tl.float32), M_TILE, N_TILE, K_TILE)


@triton.jit
def pointers_int8(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    _product(A, B, C, N, K, tl.zeros((M_TILE, N_TILE), tl.int32), M_TILE, N_TILE, K_TILE)


@triton.jit
def host_descriptors(A, B, C, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    row, column = tl.program_id(0) * M_TILE, tl.program_id(1) * N_TILE
    sums = tl.zeros((M_TILE, N_TILE), tl.float32)
    for start in range(0, K, K_TILE):
        sums = tl.dot(A.load([row, start]), B.load([column, start]).T, sums)
    C.store([row, column], sums.to(tl.float16))


@triton.jit
def device_descriptors(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr):
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [M_TILE, K_TILE])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [N_TILE, K_TILE])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [M_TILE, N_TILE])
    row, column = tl.program_id(0) * M_TILE, tl.program_id(1) * N_TILE
    sums = tl.zeros((M_TILE, N_TILE), tl.float32)
    for start in range(0, K, K_TILE):
        sums = tl.dot(a.load([row, start]), b.load([column, start]).T, sums)
    c.store([row, column], sums.to(tl.float16))


@triton.jit
def persistent(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr, PROGRAMS: tl.constexpr):
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [M_TILE, K_TILE])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [N_TILE, K_TILE])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [M_TILE, N_TILE])
    across = N // N_TILE
    for tile in tl.range(tl.program_id(0), M // M_TILE * across, PROGRAMS, flatten=True):
        row, column = tile // across * M_TILE, tile % across * N_TILE
        sums = tl.zeros((M_TILE, N_TILE), tl.float32)
        for start in range(0, K, K_TILE):
            sums = tl.dot(a.load([row, start]), b.load([column, start]).T, sums)
        c.store([row, column], sums.to(tl.float16))


@triton.jit
def specialised(A, B, C, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr, PROGRAMS: tl.constexpr):
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [M_TILE, K_TILE])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [N_TILE, K_TILE])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [M_TILE, N_TILE])
    across = N // N_TILE
    for tile in tl.range(tl.program_id(0), M // M_TILE * across, PROGRAMS, warp_specialize=True):
        row, column = tile // across * M_TILE, tile % across * N_TILE
        sums = tl.zeros((M_TILE, N_TILE), tl.float32)
        for start in range(0, K, K_TILE):
            sums = tl.dot(a.load([row, start]), b.load([column, start]).T, sums)
        c.store([row, column], sums.to(tl.float16))


@triton.jit
def attention(Q, K, V, O, scale, n, M_TILE: tl.constexpr, N_TILE: tl.constexpr, D: tl.constexpr):
    head = tl.program_id(1) * n
    rows = head + tl.program_id(0) * M_TILE + tl.arange(0, M_TILE)
    inner = tl.arange(0, D)
    q = tl.load(Q + rows[:, None] * D + inner[None, :])
    most = tl.full((M_TILE,), -float("inf"), tl.float32)
    total = tl.zeros((M_TILE,), tl.float32)
    result = tl.zeros((M_TILE, D), tl.float32)
    for start in range(0, n, N_TILE):
        keys = head + start + tl.arange(0, N_TILE)
        k = tl.load(K + keys[None, :] * D + inner[:, None])
        scores = tl.dot(q, k) * scale
        top = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - top[:, None])
        shrunk = tl.exp2(most - top)
        total = total * shrunk + tl.sum(weights, 1)
        v = tl.load(V + keys[:, None] * D + inner[None, :])
        result = tl.dot(weights.to(tl.float16), v, result * shrunk[:, None])
        most = top
    tl.store(O + rows[:, None] * D + inner[None, :], (result / total[:, None]).to(tl.float16))


@triton.jit
def attention_descriptors(Q, K, V, O, scale, n, M_TILE: tl.constexpr, N_TILE: tl.constexpr, D: tl.constexpr):
    rows = n * tl.num_programs(1)
    q_tiles = tl.make_tensor_descriptor(Q, [rows, D], [D, 1], [M_TILE, D])
    k_tiles = tl.make_tensor_descriptor(K, [rows, D], [D, 1], [N_TILE, D])
    v_tiles = tl.make_tensor_descriptor(V, [rows, D], [D, 1], [N_TILE, D])
    o_tiles = tl.make_tensor_descriptor(O, [rows, D], [D, 1], [M_TILE, D])
    head = tl.program_id(1) * n
    row = head + tl.program_id(0) * M_TILE
    q = q_tiles.load([row, 0])
    most = tl.full((M_TILE,), -float("inf"), tl.float32)
    total = tl.zeros((M_TILE,), tl.float32)
    result = tl.zeros((M_TILE, D), tl.float32)
    for start in range(0, n, N_TILE):
        scores = tl.dot(q, k_tiles.load([head + start, 0]).T) * scale
        top = tl.maximum(most, tl.max(scores, 1))
        weights = tl.exp2(scores - top[:, None])
        shrunk = tl.exp2(most - top)
        total = total * shrunk + tl.sum(weights, 1)
        result = tl.dot(weights.to(tl.float16), v_tiles.load([head + start, 0]), result * shrunk[:, None])
        most = top
    o_tiles.store([row, 0], (result / total[:, None]).to(tl.float16))
