"""The place of a look-up: coordinates become fixed-point numbers, these become indices (PTX ISA 9.7.10.2).

An H200 takes a normalised coordinate as a multiple of 2^-21 (2^-22 where the dimension has more than 8,192 texels),
rounded down; times the size, rounded to 1/256 for filters, that is where it goes. NaN is 0.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i64, u32, u64
from ptxloom.machine.runtime.structs.texture import BORDER, MIRROR, WRAP, Image, Lookup

FRACTION_BITS = 8
FEW_TEXELS = 8192
HUGE = 127 + 24  # floats of this exponent on are even numbers


def fixed(bits: u32, fraction: u32) -> i64:
    """A float as a multiple of 2^-fraction, rounded down; what is huge as 2^24, with its sign."""
    exponent = bits >> 23 & 255
    mantissa = u64(bits & 0x7FFFFF | 0x800000)
    if exponent == 0 or (exponent == 255 and bits & 0x7FFFFF != 0):
        return 0
    if exponent >= HUGE:
        exponent = HUGE
        mantissa = 0x800000
    scaled = exponent + fraction
    value: i64 = 0
    lost: i64 = 0
    if scaled >= 150:
        value = i64(mantissa << u64(scaled - 150))
    else:
        shift = u64(min(150 - scaled, 40))
        value = i64(mantissa >> shift)
        lost = i64(u64(value) << shift != mantissa)
    return -value - lost if bits >> 31 != 0 else value


def fixed_toward_zero(bits: u32, fraction: u32) -> i64:
    """The same, rounded toward zero."""
    magnitude = fixed(bits & 0x7FFFFFFF, fraction)
    return -magnitude if bits >> 31 != 0 else magnitude


def position(normalized: i64, size: i64, fine: u32) -> i64:
    """Where a normalised coordinate, a multiple of 2^-fine, lies: in 1/256 of a texel, rounded."""
    return (normalized * size + (i64(1) << i64(fine - FRACTION_BITS - 1))) >> i64(fine - FRACTION_BITS)


def fine_bits(size: i64) -> u32:
    """How finely normalised coordinates are taken."""
    return 21 if size <= FEW_TEXELS else 22


def locate(t: Lookup, dimension: u32, bits: u32, size: i64, image: Image, is_between: u32) -> None:
    """Note the first texel in a dimension, and the fraction of the second one if there is to be one."""
    fine = fine_bits(size)
    at: i64 = 0
    if is_between != 0:
        if image.is_normalized != 0:
            at = position(fixed(bits, fine), size, fine)
        else:
            at = (fixed(bits, FRACTION_BITS + 1) + 1) >> 1
        settle_texel(t, dimension, at)
        return
    at = fixed(bits, fine) * size >> i64(fine) if image.is_normalized != 0 else fixed(bits, 0)
    t.index[dimension] = at
    t.fraction[dimension] = 0


def settle_texel(t: Lookup, dimension: u32, at: i64) -> None:
    """The same of a position in 1/256: texels have their middle at a half."""
    at = at - 128
    t.index[dimension] = at >> 8
    t.fraction[dimension] = u32(u64(at & 255))


def wrapped(at: i64, size: i64, mode: u32) -> i64:
    """The texel meant by an index in a dimension; -1 for the border."""
    if mode == WRAP:
        left = at % size
        return left + size if left < 0 else left
    if mode == MIRROR:
        left = at % (2 * size)
        if left < 0:
            left = left + 2 * size
        return 2 * size - 1 - left if left >= size else left
    if mode == BORDER and (at < 0 or at >= size):
        return -1
    return max(i64(0), min(at, size - 1))
