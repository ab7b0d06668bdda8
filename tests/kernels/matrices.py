"""Tensor cores, narrow numbers, and what Triton compiles."""

from __future__ import annotations

import numpy as np

from kernels.case import Arguments, Array, KernelCase, kernel

Rng = np.random.Generator
I32, U32, F16, F32, F64 = np.int32, np.uint32, np.float16, np.float32, np.float64
SCRATCH = (0, 0)  # Triton's two scratch pointers, which none of these kernels uses


def _halves(rng: Rng, size: int) -> Array:
    return rng.standard_normal(size, dtype=F32).astype(F16)


def _brain(values: Array) -> Array:
    """The upper halves of float32, as bf16 words."""
    return np.ascontiguousarray(values.astype(F32).view(np.uint16)[1::2])


def _product(a: Array, b: Array, c: Array, n: int, k: int) -> tuple[Array, ...]:
    return ((a.reshape(-1, k).astype(F64) @ b.reshape(k, n).astype(F64)).astype(c.dtype).ravel(),)


def _widened(words: Array) -> Array:
    return (words.view(np.uint16).astype(U32) << 16).view(F32)


def _bf16(a: Array, b: Array, _: Array, steps: int) -> tuple[Array, ...]:
    left, right = (_widened(v).reshape(-1, steps * 16).astype(F64) for v in (a, b))
    return ((left @ right.T).astype(F32).ravel(),)


@kernel("tensor", 1, 32, (2,), reference=_bf16, reference_tolerance=1e-5)
def mma_bf16(rng: Rng) -> Arguments:
    a, b = (_brain(rng.standard_normal(rows * 48)).view(U32) for rows in (16, 8))
    return a, b, np.zeros(128, F32), 3


def _tf32(a: Array, b: Array, _: Array, steps: int) -> tuple[Array, ...]:
    left, right = (v.reshape(-1, steps * 8).astype(F64) for v in (a, b))
    return ((left @ right.T).astype(F32).ravel(),)


@kernel("tensor", 1, 32, (2,), reference=_tf32, reference_tolerance=2e-3)
def mma_tf32(rng: Rng) -> Arguments:
    return rng.standard_normal(16 * 24, dtype=F32), rng.standard_normal(8 * 24, dtype=F32), np.zeros(128, F32), 3


def _int8(a: Array, b: Array, _: Array, steps: int) -> tuple[Array, ...]:
    left, right = (v.view(np.int8).reshape(-1, steps * 32).astype(I32) for v in (a, b))
    return ((left @ right.T).ravel(),)


@kernel("tensor", 1, 32, (2,), reference=_int8)
def mma_int8(rng: Rng) -> Arguments:
    a, b = (rng.integers(0, 2**32, rows * 24, dtype=U32) for rows in (16, 8))
    return a, b, np.zeros(128, I32), 3


def _double(a: Array, b: Array, _: Array, steps: int) -> tuple[Array, ...]:
    left, right = (v.reshape(8, steps * 4) for v in (a, b))
    return ((left @ right.T).ravel(),)


@kernel("tensor", 1, 32, (2,), reference=_double, reference_tolerance=1e-14)
def mma_double(rng: Rng) -> Arguments:
    return rng.standard_normal(96), rng.standard_normal(96), np.zeros(64), 3


@kernel("tensor", (2, 2), 64, (2,), reference=_product, reference_tolerance=5e-3)
def hgemm_half(rng: Rng) -> Arguments:
    return _halves(rng, 64 * 48), _halves(rng, 48 * 64), np.zeros(64 * 64, F16), 64, 48


def _doubled(a: Array, b: Array, c: Array, n: int, k: int) -> tuple[Array, ...]:
    return (2 * _product(a, b, c, n, k)[0],)


@kernel("tensor", (2, 3), 32, (2,), reference=_doubled, reference_tolerance=1e-5)
def wmma_gemm(rng: Rng) -> Arguments:
    return _halves(rng, 48 * 64), _halves(rng, 64 * 32), np.zeros(48 * 32, F32), 32, 64


def _attended(q: Array, k: Array, v: Array, _: Array, *sizes: float) -> tuple[Array, ...]:
    scale, length = sizes[0], int(sizes[1])
    heads = [x.reshape(-1, length, 32).astype(F64) for x in (q, k, v)]
    scores = heads[0] @ heads[1].transpose(0, 2, 1) * scale
    scores[:, np.triu(np.ones((length, length), bool), 1)] = -np.inf
    powers = np.exp2(scores - scores.max(2, keepdims=True))
    return (((powers / powers.sum(2, keepdims=True)) @ heads[2]).astype(F16).ravel(),)


@kernel("tensor", (4, 2), 32, (3,), tolerance=1e-3, reference=_attended, reference_tolerance=4e-3)
def flash_attention(rng: Rng) -> Arguments:
    q, k, v = (_halves(rng, 2 * 64 * 32) for _ in range(3))
    return q, k, v, np.zeros(2 * 64 * 32, F16), 0.25, 64


def _half_rows(a: Array, b: Array, _: Array, k: int) -> tuple[Array, ...]:
    return ((a.reshape(16, k).astype(F64) @ b.reshape(16, k).astype(F64).T).astype(F16).ravel(),)


@kernel("tensor", 1, 32, (2,), architectures=("sm_90",), reference=_half_rows, reference_tolerance=1e-3)
def stmatrix_epilogue(rng: Rng) -> Arguments:
    return _halves(rng, 16 * 64), _halves(rng, 16 * 64), np.zeros(256, F16), 64


def _dp4a(a: Array, x: Array, _: Array, words: int) -> tuple[Array, ...]:
    return (a.view(np.int8).reshape(-1, words * 4).astype(I32) @ x.view(np.int8).astype(I32),)


@kernel("narrow", 2, 64, (2,), reference=_dp4a)
def matvec_int8(rng: Rng) -> Arguments:
    return (
        rng.integers(-(2**31), 2**31, 128 * 25, dtype=I32),
        rng.integers(-(2**31), 2**31, 25, dtype=I32),
        np.zeros(128, I32),
        25,
    )


@kernel("narrow", 2, 64, (2,))
def dot_mixed(rng: Rng) -> Arguments:
    return rng.integers(-(2**31), 2**31, 128, dtype=I32), rng.integers(0, 2**32, 128, dtype=U32), np.zeros(128, I32)


def _quantised(values: Array, _: Array, __: Array, n: int) -> tuple[Array, ...]:
    rows = values.reshape(-1, n)
    scales = np.abs(rows).max(1) / F32(127)
    return np.rint(rows / scales[:, None]).clip(-127, 127).astype(np.int8).ravel(), scales


@kernel("narrow", 4, 32, (1, 2), reference=_quantised)
def quantise(rng: Rng) -> Arguments:
    return rng.standard_normal(400, dtype=F32), np.zeros(400, np.int8), np.zeros(4, F32), 100


@kernel("narrow", 2, 64, (1, 2, 3))
def fp8_round_trip(rng: Rng) -> Arguments:
    values = (rng.standard_normal(256) * np.exp2(rng.integers(-18, 18, 256))).astype(F32)
    values[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 448.0]
    return values, np.zeros(128, np.uint16), np.zeros(128, np.uint16), np.zeros(256, F16)


@kernel("narrow", 2, 64, (1,))
def half_polynomial(rng: Rng) -> Arguments:
    return _halves(rng, 256) * F16(3), np.zeros(256, F16)


@kernel("narrow", 2, 64, (1,))
def bf16_scale(rng: Rng) -> Arguments:
    return _brain(rng.standard_normal(256)), np.zeros(256, np.uint16), 1.75


@kernel("narrow", 2, 64, (1, 2), tolerance=5e-3, exercises="atomics on halves and floats, in any order")
def half_sums(rng: Rng) -> Arguments:
    return rng.uniform(0, 1, 128).astype(F16), np.zeros(8, F16), np.zeros(1, F32)


@kernel("narrow", 2, 64, (1, 2), exercises="every rounding mode")
def rounding(rng: Rng) -> Arguments:
    values = (rng.standard_normal(128) * np.exp2(rng.integers(-8, 8, 128))).astype(F32)
    values[:4] = [0.5, 1.5, -2.5, 0.0]
    return values, np.zeros(128, I32), np.zeros(128)


def _softened(values: Array, _: Array, stride: int, n: int, *__: int) -> tuple[Array, ...]:
    rows = values.reshape(-1, stride)[:, :n].astype(F64)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    found = np.zeros((rows.shape[0], stride), F32)
    found[:, :n] = powers / powers.sum(1, keepdims=True)
    return (found.ravel(),)


@kernel(
    "triton_softmax",
    3,
    128,
    (1,),
    kernel="softmax",
    shared_bytes=1024,
    tolerance=1e-6,
    reference=_softened,
    reference_tolerance=1e-5,
)
def triton_softmax(rng: Rng) -> Arguments:
    return rng.standard_normal(3 * 256, dtype=F32), np.zeros(3 * 256, F32), 256, 201, *SCRATCH


@kernel("triton_layer_norm", 3, 128, (1,), kernel="layer_norm", shared_bytes=1024, tolerance=1e-2)
def triton_layer_norm(rng: Rng) -> Arguments:
    x, w, b = (_brain(rng.standard_normal(size)) for size in (3 * 256, 256, 256))
    return x, np.zeros(3 * 256, np.uint16), w, b, 256, 240, *SCRATCH


def _matmul(a: Array, b: Array, c: Array, _: int, n: int, k: int, *__: int) -> tuple[Array, ...]:
    return _product(a, b, c, n, k)


@kernel(
    "triton_matmul", (2, 3), 64, (2,), kernel="matmul", shared_bytes=32768, reference=_matmul, reference_tolerance=1e-5
)
def triton_matmul(rng: Rng) -> Arguments:
    return _halves(rng, 64 * 96), _halves(rng, 96 * 96), np.zeros(64 * 96, F32), 64, 96, 96, *SCRATCH


def _matmul_int8(a: Array, b: Array, c: Array, _: int, __: int, k: int, *___: int) -> tuple[Array, ...]:
    return ((a.reshape(-1, k).astype(I32) @ b.reshape(-1, k).astype(I32).T).ravel(),)


@kernel("triton_matmul_int8", (2, 2), 64, (2,), kernel="matmul_int8", shared_bytes=32768, reference=_matmul_int8)
def triton_matmul_int8(rng: Rng) -> Arguments:
    a, b = (rng.integers(-128, 128, 64 * 128, dtype=np.int8) for _ in range(2))
    return a, b, np.zeros(64 * 64, I32), 64, 64, 128, *SCRATCH


@kernel(
    "triton_attention",
    (2, 2),
    64,
    (3,),
    kernel="attention",
    shared_bytes=32768,
    tolerance=1e-3,
    reference=_attended,
    reference_tolerance=4e-3,
)
def triton_attention(rng: Rng) -> Arguments:
    q, k, v = (_halves(rng, 2 * 64 * 32) for _ in range(3))
    return q, k, v, np.zeros(2 * 64 * 32, F16), 0.25, 64, *SCRATCH


def _scanned(values: Array, out: Array, reals: Array, *_: int) -> tuple[Array, ...]:
    sums = values.cumsum(dtype=I32) + np.sort(values) + values[::-1]
    rest = np.zeros(out.size - 256, I32)
    rest[0] = reals.argmax()
    return (np.concatenate([sums, np.bincount(values, minlength=128).astype(I32), rest]).astype(I32),)


@kernel("triton_scans", 1, 128, (1,), kernel="scans", shared_bytes=8192, reference=_scanned)
def triton_scans(rng: Rng) -> Arguments:
    return rng.integers(0, 128, 128, dtype=I32), np.zeros(260, I32), rng.standard_normal(128, dtype=F32), *SCRATCH


@kernel(
    "triton_atomics",
    3,
    128,
    (0, 1, 2),
    kernel="atomics",
    shared_bytes=1024,
    exercises="a lock and integers held as floats, so that no order matters",
)
def triton_atomics(_: Rng) -> Arguments:
    return np.zeros(16, I32), np.zeros(20, F32), np.zeros(1, I32), 300, *SCRATCH


@kernel(
    "triton_gelu_dropout",
    2,
    128,
    (1,),
    kernel="gelu_dropout",
    shared_bytes=1024,
    tolerance=1e-5,
    exercises="philox and erf",
)
def triton_gelu_dropout(rng: Rng) -> Arguments:
    return _halves(rng, 512), np.zeros(512, F32), 500, 0.3, 42, *SCRATCH


CASES: tuple[KernelCase, ...] = (
    mma_bf16,
    mma_tf32,
    mma_int8,
    mma_double,
    hgemm_half,
    wmma_gemm,
    flash_attention,
    stmatrix_epilogue,
    matvec_int8,
    dot_mixed,
    quantise,
    fp8_round_trip,
    half_polynomial,
    bf16_scale,
    half_sums,
    rounding,
    triton_softmax,
    triton_layer_norm,
    triton_matmul,
    triton_matmul_int8,
    triton_attention,
    triton_scans,
    triton_atomics,
    triton_gelu_dropout,
)
