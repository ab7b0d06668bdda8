"""Triton kernels for the machine; two warps where a matrix product is involved, so that sm_90 uses mma.sync."""

import triton
import triton.language as tl

SIGNATURES = {
    "softmax": "*fp32:16, *fp32:16, i32:16, i32, 256",
    "layer_norm": "*bf16:16, *bf16:16, *bf16:16, *bf16:16, i32:16, i32, 0.00001, 256",
    "matmul": "*fp16:16, *fp16:16, *fp32:16, i32:16, i32:16, i32:16, 32, 32, 32",
    "matmul_int8": "*i8:16, *i8:16, *i32:16, i32:16, i32:16, i32:16, 32, 32, 64",
    "attention": "*fp16:16, *fp16:16, *fp16:16, *fp16:16, fp32, i32:16, 32, 32, 32",
    "scans": "*i32:16, *i32:16, *fp32:16, 128",
    "atomics": "*i32:16, *fp32:16, *i32, i32, 128",
    "gelu_dropout": "*fp16:16, *fp32:16, i32, fp32, i32, 256",
}
OPTIONS = {"matmul": {"num_warps": 2, "num_stages": 2}, "matmul_int8": {"num_warps": 2, "num_stages": 2}, "attention": {"num_warps": 2, "num_stages": 2}}


@triton.jit
def matmul(A, B, C, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    sums = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for start in range(0, K, TILE_K):
        a = tl.load(A + rows[:, None] * K + start + inner[None, :])
        b = tl.load(B + (start + inner[:, None]) * N + columns[None, :])
        sums = tl.dot(a, b, sums)
    tl.store(C + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + columns, mask=columns < n, other=-float("inf"))
    numerator = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + row * stride + columns, numerator / tl.sum(numerator, axis=0), mask=columns < n)


@triton.jit
def layer_norm(x, y, weight, bias, stride, n, eps: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    values = tl.load(x + row * stride + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(values, axis=0) / n
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(weight + columns, mask=inside, other=0.0)
    b = tl.load(bias + columns, mask=inside, other=0.0)
    tl.store(y + row * stride + columns, (centred * scale * w + b).to(tl.bfloat16), mask=inside)


@triton.jit
def matmul_int8(A, B, C, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    sums = tl.zeros((TILE_M, TILE_N), dtype=tl.int32)
    for start in range(0, K, TILE_K):
        a = tl.load(A + rows[:, None] * K + start + inner[None, :])
        b = tl.load(B + start + inner[:, None] + columns[None, :] * K)
        sums = tl.dot(a, b, sums)
    tl.store(C + rows[:, None] * N + columns[None, :], sums)


@triton.jit
def attention(Q, K, V, O, scale, length, TILE_M: tl.constexpr, TILE_N: tl.constexpr, WIDTH: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    head = tl.program_id(1) * length * WIDTH
    width = tl.arange(0, WIDTH)
    q = tl.load(Q + head + rows[:, None] * WIDTH + width[None, :])
    best = tl.full((TILE_M,), -float("inf"), tl.float32)
    total = tl.zeros((TILE_M,), tl.float32)
    sums = tl.zeros((TILE_M, WIDTH), tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * TILE_M, TILE_N):
        columns = start + tl.arange(0, TILE_N)
        k = tl.load(K + head + columns[None, :] * WIDTH + width[:, None])
        scores = tl.dot(q, k) * scale
        scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        new = tl.maximum(best, tl.max(scores, 1))
        weights = tl.exp2(scores - new[:, None])
        shrink = tl.exp2(best - new)
        total = total * shrink + tl.sum(weights, 1)
        v = tl.load(V + head + columns[:, None] * WIDTH + width[None, :])
        sums = tl.dot(weights.to(tl.float16), v, sums * shrink[:, None])
        best = new
    tl.store(O + head + rows[:, None] * WIDTH + width[None, :], (sums / total[:, None]).to(tl.float16))


@triton.jit
def scans(x, y, z, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    values = tl.load(x + lanes)
    tl.store(y + lanes, tl.cumsum(values, 0) + tl.sort(values) + tl.flip(values))
    tl.store(y + BLOCK + lanes, tl.histogram(values, BLOCK))
    best = tl.argmax(tl.load(z + lanes), 0)
    tl.store(y + 2 * BLOCK, best)


@triton.jit
def atomics(counts, sums, lock, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + lanes % 7, 1, mask=lanes < n)
    tl.atomic_max(counts + 8 + lanes % 3, lanes, mask=lanes < n)
    tl.atomic_add(sums + lanes % 5, lanes.to(tl.float32), mask=lanes < n, sem="relaxed")
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(sums + 16, tl.load(sums + 16) + 1.0)
    tl.atomic_xchg(lock, 0)
    tl.debug_barrier()


@triton.jit
def gelu_dropout(x, y, n, p, seed, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + lanes, mask=lanes < n).to(tl.float32)
    v = 0.5 * v * (1 + tl.erf(v * 0.70710678))
    keep = tl.rand(seed, lanes) > p
    tl.store(y + lanes, tl.where(keep, v / (1 - p), 0.0), mask=lanes < n)
