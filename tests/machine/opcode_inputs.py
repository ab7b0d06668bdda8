"""The inputs of the opcode recordings: every interesting value of a type, crossed, then random bits.

The recorder and the replay both call `pool`, so only outputs are stored.
"""

from __future__ import annotations

import zlib
from functools import cache

import numpy as np

INPUTS = 4096  # values a case runs on; the first `SAMPLE` outputs are kept whole, all of them as a digest
SAMPLE = 256
CELLS = {"global": INPUTS, "shared": 256}  # 8-byte cells that atomics work on, one a thread

_INTEGERS = {
    8: (0, 1, 2, 7, 8, 0x7F, 0x80, 0x81, 0xFE, 0xFF, 0x55, 0xAA, 0x10, 0x3C, 0x40, 0xC0),
    16: (0, 1, 2, 15, 16, 0x7FFF, 0x8000, 0x8001, 0xFFFE, 0xFFFF, 0x5555, 0xAAAA, 0x0100, 0x00FF, 0x7F80, 0x1234),
    32: (
        *(0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA),
        *(0x00FF00FF, 0x7FFF8000, 0x12345678),
    ),
    64: (
        *(0, 1, 2, 63, 64, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, 0x8000000000000001, 0xFFFFFFFFFFFFFFFE),
        *(0xFFFFFFFFFFFFFFFF, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA, 0x00000000FFFFFFFF, 0xFFFFFFFF00000000),
        *(0x0000000080000000, 0x123456789ABCDEF0),
    ),
}


def _float_specials(exponent_bits: int, fraction_bits: int) -> tuple[int, ...]:
    """Sixteen bit patterns of an IEEE format: signed zeros, subnormals, extremes, infinities, NaNs and plain values."""
    width = 1 + exponent_bits + fraction_bits
    sign = 1 << (width - 1)
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    one = ((1 << (exponent_bits - 1)) - 1) << fraction_bits
    quiet = infinity | 1 << (fraction_bits - 1)
    half_ulp = 1 << (fraction_bits // 2)
    positive = (0, 1, (1 << fraction_bits) - 1, 1 << fraction_bits, one, one | half_ulp, one + (1 << fraction_bits))
    return (
        *positive,
        infinity - 1,
        infinity,
        quiet | 1,
        infinity | 1,
        sign,
        sign | 1,
        sign | one,
        sign | infinity,
        sign | (one - (1 << fraction_bits)),
    )


FLOATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52), "tf32": (8, 23)}


def width_of(kind: str) -> int:
    """Bits that vary in an operand of `kind`: `count` is a byte in a 32-bit register, `pred32` a condition in one."""
    named = {"pred": 1, "pred32": 32, "count": 8, "tf32": 32}
    if kind in named:
        return named[kind]
    return 32 if kind.endswith("x2") else int(kind.lstrip("busf"))


def _specials(kind: str) -> tuple[int, ...]:
    if kind in FLOATS:
        return _float_specials(*FLOATS[kind])
    if kind.endswith("x2"):
        halves = _specials(kind[:-2])
        return tuple(low | halves[(5 * at + 3) % len(halves)] << 16 for at, low in enumerate(halves))
    return (0, 1) * 8 if kind in {"pred", "pred32"} else _INTEGERS[width_of(kind)]


def _near(rng: np.random.Generator, kind: str, count: int) -> np.ndarray:
    """Random values of moderate size, where uniform bits would nearly always over- or underflow."""
    if kind.endswith("x2"):
        low, high = (_near(rng, kind[:-2], count) for _ in range(2))
        return low | high << np.uint64(16)
    if kind.startswith("pred"):
        return rng.integers(0, 2, count, dtype=np.uint64)
    if kind not in FLOATS:
        width = width_of(kind)
        shift = rng.integers(0, width, count, dtype=np.uint64)
        return rng.integers(0, 1 << 64, count, dtype=np.uint64) >> (np.uint64(64 - width) + shift)
    exponent_bits, fraction_bits = FLOATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = rng.integers(bias - min(bias - 1, 12), bias + min(bias, 12), count).astype(np.uint64)
    fraction = rng.integers(0, 1 << fraction_bits, count).astype(np.uint64)
    sign = rng.integers(0, 2, count).astype(np.uint64)
    return sign << np.uint64(exponent_bits + fraction_bits) | exponent << np.uint64(fraction_bits) | fraction


@cache
def pool(kind: str, position: int) -> np.ndarray:
    """What operand number `position` of type `kind` is given: (INPUTS,) uint64, zero-extended bit patterns.

    The first 256 cross the special values of operands 0 and 1 (a third operand walks through its own); a third of
    the rest is of moderate size, the rest uniform bits.
    """
    rng = np.random.default_rng(zlib.crc32(f"{kind}/{position}".encode()))
    specials = np.array(_specials(kind), np.uint64)
    at = np.arange(SAMPLE)
    index = (at % 16, at // 16, (at * 7 + at // 16) % 16, (at * 3 + at // 16) % 16)[position]
    moderate = (INPUTS - SAMPLE) // 2
    bits = 1 if kind == "pred32" else width_of(kind)
    uniform = rng.integers(0, 1 << 64, INPUTS - SAMPLE - moderate, dtype=np.uint64) >> np.uint64(64 - bits)
    mixed = np.concatenate((_near(rng, kind, moderate), uniform))
    rng.shuffle(mixed)
    # an eighth of the random part meets a special value, so that every position sees special x random pairs
    mixed[position::8] = rng.choice(specials, mixed[position::8].size)
    return np.concatenate((specials[index], mixed))
