"""Hopper: tensor copies into rings of stages, wgmma, warpgroups with work of their own; in CUDA and in Triton."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kernels.case import Arguments, Array, KernelCase, kernel
from kernels.tiles import Tiles, array_of

if TYPE_CHECKING:
    from collections.abc import Callable

Rng = np.random.Generator
F16, F32, F64 = np.float16, np.float32, np.float64
I8, I32, U8, U16, U32 = np.int8, np.int32, np.uint8, np.uint16, np.uint32
ONLY = ("sm_90a",)
HEAD = 64  # elements of a query, a key and a value
LOG2_E = 1.4426950408889634


def _halves(rng: Rng, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=F32).astype(F16)


def _brain(rng: Rng, *shape: int) -> Array:
    """The upper halves of float32, as words."""
    return np.ascontiguousarray(rng.standard_normal(shape, dtype=F32).view(U16)[..., 1::2])


def _narrow(rng: Rng, *shape: int) -> Array:
    """Finite e4m3 and e5m2, as bytes."""
    return (rng.integers(0, 0x7C, shape, dtype=U8) | rng.integers(0, 2, shape, dtype=U8) << 7).astype(U8)


def _bytes(rng: Rng, *shape: int) -> Array:
    return rng.integers(0, 256, shape, dtype=U8)


def _floats(rng: Rng, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=F32)


def _widened(words: Array) -> Array:
    return (words.astype(U32) << 16).view(F32)


def _rows_times_rows(a: Array, b: Array, like: Array) -> tuple[Array, ...]:
    return ((a.astype(F64) @ b.astype(F64).T).astype(like.dtype).reshape(like.shape),)


def _product(a: Any, b: Any, c: Any, *_: object) -> tuple[Array, ...]:
    return _rows_times_rows(array_of(a), array_of(b), array_of(c))


def _brain_product(a: Tiles, b: Tiles, c: Array, *_: object) -> tuple[Array, ...]:
    return _rows_times_rows(_widened(a.array), _widened(b.array), c)


def _byte_product(a: Any, b: Any, c: Any, *_: object) -> tuple[Array, ...]:
    return _rows_times_rows(array_of(a).view(I8), array_of(b).view(I8), array_of(c))


def _gemm(name: str, make: Callable[..., Array], out: Any, row: int, **judged: Any) -> KernelCase:
    """A product of 256 x 128 in two CTAs of a cluster, five times `row` elements of each operand long."""
    k = 5 * row

    def arguments(rng: Rng) -> Arguments:
        a, b = Tiles(make(rng, 256, k), (128, row)), Tiles(make(rng, 128, k), (64, row))
        return a, b, np.zeros((256, 128), out), 128, k

    rest = {"kernel": name, "shared_bytes": 131_072, "architectures": ONLY, **judged}
    return kernel("hopper", (2, 1), 384, (2,), **rest)(arguments)


gemm_bf16 = _gemm("gemm_bf16", _brain, F32, 64, reference=_brain_product, reference_tolerance=1e-5)
gemm_tf32 = _gemm("gemm_tf32", _floats, F32, 32, reference=_product, reference_tolerance=2e-3)
gemm_fp8 = _gemm("gemm_fp8", _narrow, F32, 128)
gemm_int8 = _gemm("gemm_int8", _bytes, I32, 128, reference=_byte_product)


@kernel(
    "hopper",
    (2, 1),
    384,
    (2,),
    shared_bytes=163_840,
    architectures=ONLY,
    reference=_product,
    reference_tolerance=1e-3,
    exercises="stmatrix into a swizzled tile, and a tensor copy out of it",
)
def gemm_f16(rng: Rng) -> Arguments:
    a, b = Tiles(_halves(rng, 256, 320), (128, 64)), Tiles(_halves(rng, 128, 320), (64, 64))
    return a, b, Tiles(np.zeros((256, 128), F16), (64, 64)), 320


@kernel(
    "dsl_hopper_gemm",
    (2, 1),
    128,
    (2,),
    kernel="hopper_gemm",
    shared_bytes=99_328,
    architectures=ONLY,
    reference=_product,
    reference_tolerance=1e-3,
    exercises="the CuTe DSL",
)
def dsl_gemm(rng: Rng) -> Arguments:
    a, b = (Tiles(_halves(rng, rows, 320), (128, 64)) for rows in (256, 128))
    return a, b, np.zeros((256, 128), F16), np.void(b"\0")


def _attended(q: Any, k: Any, v: Any, out: Array, *rest: Any) -> tuple[Array, ...]:
    """Softmax of the scores, in powers of two, times the values; two heads."""
    length, scale = (rest[0], rest[1]) if isinstance(rest[0], int) else (rest[1], rest[0])
    q, k, v = (array_of(each).reshape(-1, length, HEAD).astype(F64) for each in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) * scale
    weights = np.exp2(scores - scores.max(axis=2, keepdims=True))
    return ((weights / weights.sum(axis=2, keepdims=True) @ v).astype(out.dtype).reshape(out.shape),)


@kernel(
    "hopper_attention",
    (3, 2),
    128,
    (3,),
    shared_bytes=40_960,
    architectures=ONLY,
    reference=_attended,
    reference_tolerance=2e-3,
    exercises="the weights as an operand in registers, values transposed",
)
def attention(rng: Rng) -> Arguments:
    q, k, v = (Tiles(_halves(rng, 2 * 192, HEAD), (64, 64)) for _ in range(3))
    return q, k, v, np.zeros((2 * 192, HEAD), F32), 192, LOG2_E / 8


def _triton(
    name: str,
    arguments: Callable[[Rng], Arguments],
    grid: int | tuple[int, ...],
    warps: int,
    outputs: tuple[int, ...] = (2,),
    **rest: Any,
) -> KernelCase:
    source = f"triton_hopper_{name}"
    return kernel(source, grid, 32 * warps, outputs, kernel=name, architectures=ONLY, **rest)(arguments)


def _pointers(make: Callable[..., Array], out: Any, k: int) -> Callable[[Rng], Arguments]:
    def arguments(rng: Rng) -> Arguments:
        return make(rng, 128, k), make(rng, 128, k), np.zeros((128, 128), out), 128, 128, k, 0, 0

    return arguments


def _described(rng: Rng) -> Arguments:
    """Maps with the shapes and strides that Triton passes beside them."""
    a, b = Tiles(_halves(rng, 128, 320), (128, 64)), Tiles(_halves(rng, 128, 320), (64, 64))
    c = Tiles(np.zeros((128, 128), F16), (128, 64))
    each = [(tiles, *tiles.array.shape, tiles.array.shape[1], 1) for tiles in (a, b, c)]
    return *each[0], *each[1], *each[2], 320, 0, 0


def _host_product(*arguments: Any) -> tuple[Array, ...]:
    return _product(arguments[0], arguments[5], arguments[10])


def _makes_maps(scratch_bytes: int, programs: int) -> Callable[[Rng], Arguments]:
    """Arguments of a product whose kernel writes tensor maps into scratch memory."""

    def arguments(rng: Rng) -> Arguments:
        scratch = np.zeros(scratch_bytes * programs, U8)
        a, b, c = _halves(rng, 128, 192), _halves(rng, 128, 192), np.zeros((128, 128), F16)
        return a, b, c, 128, 128, 192, scratch, 0

    return arguments


def _queries(scratch_bytes: int) -> Callable[[Rng], Arguments]:
    def arguments(rng: Rng) -> Arguments:
        scratch = np.zeros(scratch_bytes * 4, U8) if scratch_bytes else 0
        q, k, v = (_halves(rng, 2 * 128, HEAD) for _ in range(3))
        return q, k, v, np.zeros((2 * 128, HEAD), F16), LOG2_E / 8, 128, scratch, 0

    return arguments


_PRODUCT: dict[str, Any] = {"reference": _product, "reference_tolerance": 1e-3}
_ATTENDED: dict[str, Any] = {"outputs": (3,), "reference": _attended, "reference_tolerance": 2e-3}

CASES: tuple[KernelCase, ...] = (
    gemm_bf16,
    gemm_tf32,
    gemm_fp8,
    gemm_int8,
    gemm_f16,
    attention,
    dsl_gemm,
    _triton("pointers", _pointers(_halves, F32, 160), (2, 2), 4, shared_bytes=24_576, **_PRODUCT),
    _triton(
        "pointers_tf32",
        _pointers(_floats, F32, 160),
        (2, 2),
        4,
        shared_bytes=49_152,
        reference=_product,
        reference_tolerance=2e-3,
    ),
    _triton("pointers_fp8", _pointers(_narrow, F32, 320), (2, 2), 4, shared_bytes=24_576),
    _triton("pointers_int8", _pointers(_bytes, I32, 320), (2, 2), 4, shared_bytes=24_576, reference=_byte_product),
    _triton(
        "host_descriptors",
        _described,
        (1, 2),
        8,
        shared_bytes=98_336,
        outputs=(10,),
        reference=_host_product,
        reference_tolerance=1e-3,
    ),
    _triton("device_descriptors", _makes_maps(384, 4), (2, 2), 4, shared_bytes=49_176, **_PRODUCT),
    _triton("persistent", _makes_maps(384, 3), 3, 4, shared_bytes=57_368, **_PRODUCT),
    _triton("specialised", _makes_maps(512, 3), 3, 12, shared_bytes=65_944, **_PRODUCT),
    _triton("attention", _queries(0), (2, 2), 4, shared_bytes=57_344, **_ATTENDED),
    _triton("attention_descriptors", _queries(512), (2, 2), 4, shared_bytes=57_400, **_ATTENDED),
)
