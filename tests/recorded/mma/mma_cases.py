"""Inputs for recorded `mma` results, made from a seed: the recorder and the replay both call `inputs`.

Registers are `(warps, registers, 32)` arrays: `uint32`, or `uint64` for `.f64`. The values are made in register
space, lane by lane, so that no fragment layout is needed: row and column of an element only matter to the sums.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm

Registers = NDArray[np.uint32] | NDArray[np.uint64]
FLOATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 23),
    "f32": (8, 23),
    "f64": (11, 52),
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
FLOAT_CASES = ("normal", "bits", "spread", "near", "cancel", "specials", "tiny", "huge")
INTEGER_CASES = ("bits", "extreme")
WARPS = 64


def zero_cases(form: MatrixForm) -> tuple[str, ...]:
    """Recorded apart from the others: sums of zeros, for the sign of the result."""
    return ("zeros",) if form.a_type in FLOATS else ()


def floor_cases(form: MatrixForm) -> tuple[str, ...]:
    """Recorded apart from the others: products, and C, near the bottom of what D can hold."""
    return ("floor",) if form.a_type in FLOATS and form.a_type != "f64" else ()


@dataclass(frozen=True, slots=True)
class Inputs:
    """Operands of one case; `e` is the metadata of sparse forms."""

    a: Registers
    b: Registers
    c: Registers
    e: NDArray[np.uint32]


def cases(form: MatrixForm) -> tuple[str, ...]:
    """The kinds of input that a form gets."""
    return FLOAT_CASES if form.a_type in FLOATS else INTEGER_CASES


def inputs(form: MatrixForm, case: str, warps: int = WARPS) -> Inputs:
    """The operands of `warps` warps, the same for the same form and case on every machine."""
    rng = np.random.Generator(np.random.PCG64(crc32(f"{form.spelling} {case}".encode())))
    _, a, b, c = form.vector_lengths
    shapes = ((warps, a, 32), (warps, b, 32), (warps, c, 32))
    kinds = (form.a_type, form.b_type, form.c_type)
    operands = [
        operand(rng, case, kind, shape, "abc"[i]) for i, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))
    ]
    return Inputs(operands[0], operands[1], operands[2], _metadata(rng, form, warps))


def operand(rng: np.random.Generator, case: str, kind: str, shape: tuple[int, int, int], name: str) -> Registers:
    """Registers `(warps, registers, 32)` full of elements of a kind; `name` says which operand they are."""
    bits = element_type(kind).packed_bits
    register_bits = 64 if kind == "f64" else 32
    count = (*shape, register_bits // bits)
    elements = _floats(rng, case, kind, count, name) if kind in FLOATS else _integers(rng, case, kind, count)
    shifts = np.arange(count[-1], dtype=np.uint64) * np.uint64(bits)
    packed = np.bitwise_or.reduce(elements << shifts, axis=-1)
    return packed if register_bits == 64 else packed.astype(np.uint32)


def _integers(rng: np.random.Generator, case: str, kind: str, count: tuple[int, ...]) -> NDArray[np.uint64]:
    bits = element_type(kind).packed_bits
    top = (1 << bits) - 1
    if case == "bits":
        return rng.integers(0, top, count, np.uint64, endpoint=True)
    ends = np.array([1 << (bits - 1), top >> 1, top, 0, top >> 1, 1 << (bits - 1)], np.uint64)
    if kind != "s32":
        return ends[rng.integers(0, 6, count)]
    near = rng.integers(0, 1 << 14, count, np.uint64)
    return np.where(rng.integers(0, 2, count) == 1, np.uint64(0x7FFFFFFF) - near, np.uint64(0x80000000) + near)


def _floats(rng: np.random.Generator, case: str, kind: str, count: tuple[int, ...], name: str) -> NDArray[np.uint64]:
    if case == "floor":
        return _floor(rng, kind, count, name)
    exponent_bits, mantissa_bits = FLOATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    sign = rng.integers(0, 2, count, np.uint64)
    mantissa = rng.integers(0, (1 << mantissa_bits) - 1, count, np.uint64, endpoint=True)
    largest = (1 << exponent_bits) - 1 - (kind != "e4m3")
    exponent = _exponents(rng, case, (largest, bias), count, name)
    if kind == "e4m3" and case != "specials":
        mantissa = np.where((exponent == 15) & (mantissa == 7), np.uint64(6), mantissa)
    if case == "zeros":
        mantissa = mantissa % np.uint64(4) // np.uint64(3) if name == "c" else np.zeros_like(mantissa)
    if case == "cancel":
        mantissa &= np.uint64((1 << mantissa_bits) - 1 - ((1 << mantissa_bits) - 1 >> 2))
    if case == "near" and name == "c":
        mantissa |= np.uint64((1 << mantissa_bits) - 1) * rng.integers(0, 2, count, np.uint64)
    word = (sign << np.uint64(exponent_bits + mantissa_bits)) | (exponent << np.uint64(mantissa_bits)) | mantissa
    return _sprinkle(rng, kind, word, count) if case == "specials" else word


def _exponents(
    rng: np.random.Generator, case: str, limits: tuple[int, int], count: tuple[int, ...], name: str
) -> NDArray[np.uint64]:
    largest, bias = limits
    wide = 2 if name == "c" else 1
    half = 14 if largest > 16 else 4
    low, high = {
        "zeros": (0, 0),
        "normal": (bias - 3, bias + 2),
        "specials": (bias - 3, bias + 2),
        "bits": (0, largest),
        "spread": (bias - half * wide, bias + half * wide),
        "near": (bias - 7 * wide, bias + 6 * wide),
        "cancel": (bias - 1, bias),
        "tiny": (0, 3) if largest < 100 or name != "c" else (0, 60),
        "huge": (largest - 2, largest),
    }[case]
    if case == "tiny" and largest > 100 and name != "c":
        low, high = largest // 4 - 14, largest // 4 + 14
    exponent = rng.integers(max(low, 0), min(high, largest), count, np.int64, endpoint=True)
    if case == "near" and name == "c":
        exponent = bias + rng.choice(np.array([-26, -25, -24, -13, -12, 2, 10, 13, 14, 15, 24, 25, 26, 27, 28]), count)
    if case == "huge" and name != "c" and largest > 100:
        exponent = exponent // 2 + bias // 2 + rng.integers(0, 3, count)
    return np.clip(exponent, 0, largest).astype(np.uint64)


def _floor(rng: np.random.Generator, kind: str, count: tuple[int, ...], name: str) -> NDArray[np.uint64]:
    """Few bits far down, so that what is cut off decides how a sum is rounded; every fourth warp another way."""
    exponent_bits, mantissa_bits = FLOATS[kind]
    way = (np.arange(count[0]) % 4).reshape(-1, 1, 1, 1)
    if name == "c":
        low, high = (0, 0, 0, 0), (0, 1, 2, 3)
    elif exponent_bits == 8:
        low, high = (43, 49, 0 if name == "a" else 97, 52), (63, 61, 0 if name == "a" else 127, 54)
    elif exponent_bits == 5:
        low, high = (1, 1, 0 if name == "a" else 1, 2), (6, 3, 0 if name == "a" else 14, 3)
    else:
        low, high = (0, 0, 0, 0), (1, 3, 0 if name == "a" else 6, 7)
    exponent = rng.integers(np.choose(way, low), np.choose(way, high), count, np.int64, endpoint=True).astype(np.uint64)
    mantissa = rng.integers(0, 1 << mantissa_bits, count, np.uint64)
    single = np.uint64(1) << rng.integers(0, mantissa_bits, count, np.uint64)
    how = rng.integers(0, 4, count)
    mantissa = np.where(how < 2, np.uint64(0), np.where(how == 2, single, mantissa))
    word = exponent << np.uint64(mantissa_bits) | mantissa
    least = rng.random(count) < (0.25 if exponent_bits < 8 else 0.05)
    word = np.where(least, np.uint64(1), word)
    zero = rng.random(count) < (0.75 if name == "c" else 0.15)
    if mantissa_bits > 3 and name != "c":  # few sums that are even, or ties, and far less beside them
        odd = np.arange(count[-1] if count[-1] > 1 else count[-2]) % 2 == 1
        odd = odd if count[-1] > 1 else odd.reshape(-1, 1)
        tiny = np.uint64(1) if exponent_bits == 5 else exponent - np.uint64(6) << np.uint64(mantissa_bits)
        word = np.where(way == 3, np.where(odd, tiny, exponent << np.uint64(mantissa_bits)), word)
        zero |= (way == 3) & (rng.random(count) < 0.5)
    sign = rng.integers(0, 2, count, np.uint64) << np.uint64(exponent_bits + mantissa_bits)
    return np.where(zero, np.uint64(0), word) | sign


def _sprinkle(
    rng: np.random.Generator, kind: str, word: NDArray[np.uint64], count: tuple[int, ...]
) -> NDArray[np.uint64]:
    """Put zeros, infinities, NaNs with payloads, subnormals and extremes here and there."""
    exponent_bits, mantissa_bits = FLOATS[kind]
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    magnitudes = [0, 0, 0, 1, (1 << mantissa_bits) - 1, 1 << mantissa_bits, infinity - 1, infinity, infinity]
    magnitudes += [infinity | 1, infinity | 1 << (mantissa_bits - 1), infinity | ((1 << mantissa_bits) - 1)]
    chosen = np.array(magnitudes, np.uint64)[rng.integers(0, len(magnitudes), count)]
    chosen |= rng.integers(0, 2, count, np.uint64) << np.uint64(exponent_bits + mantissa_bits)
    # A warp's rate of specials grows with its number, so that some outputs see one special and some see many.
    rate = (np.arange(count[0]) % 16 + 1) / 96
    return np.where(rng.random(count) < rate.reshape(-1, 1, 1, 1), chosen, word)


def _metadata(rng: np.random.Generator, form: MatrixForm, warps: int) -> NDArray[np.uint32]:
    if form.a_type == "tf32":
        choices = [0b0100, 0b1110]
    elif form.sparse == "sp":
        choices = [first | second << 2 for first in range(4) for second in range(4) if first != second]
    else:
        choices = [first | second << 2 for first in range(4) for second in range(first + 1, 4)]
    nibbles = np.array(choices, np.uint32)[rng.integers(0, len(choices), (warps, 32, 8))]
    return np.bitwise_or.reduce(nibbles << (np.arange(8, dtype=np.uint32) * 4), axis=-1).astype(np.uint32)


def result_name(form: MatrixForm, selector: int, case: str) -> str:
    """The name under which a result is stored."""
    return f"{form.spelling} {selector} {case}"
