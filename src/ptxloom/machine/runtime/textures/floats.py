"""How floats are combined: exactly, except for what is cut when texels and slices are aligned.

Found on an H200, bit by bit. Weights are of 8 bits. In a group of four texels those of weight are aligned to the
largest exponent, with 4 bits more than a mantissa has, and cut toward zero; their products are added exactly. Groups
are aligned to a unit whose exponent is a multiple of four, and cut downward. The sum is rounded once, halves away from
zero, to the precision of the texels: f32 without subnormals, or f16.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i32, i64, leading_zeros, u32, u64
from ptxloom.machine.runtime.structs.texture import Lookup

EXTRA_BITS = 4
HALF_BITS = 11
SINGLE_BITS = 24
SPECIAL = 0x7F800000
LOWEST_HALF = -24
NONE = -100000


def half_to_single(bits: u32) -> u32:
    """An f16 as an f32, with what a NaN holds."""
    sign = (bits & 0x8000) << 16
    exponent = bits >> 10 & 31
    mantissa = bits & 0x3FF
    if exponent == 31:
        return sign | SPECIAL | mantissa << 13
    if exponent != 0:
        return sign | (exponent + 112) << 23 | mantissa << 13
    if mantissa == 0:
        return sign
    shift = leading_zeros(mantissa) - 21
    return sign | (113 - shift) << 23 | (mantissa << (shift + 13)) & 0x7FFFFF


def combined_floats(t: Lookup, channel: u32, precision: u32) -> u32:
    """The combination of a component's floats, as the bits of an f32."""
    special = special_float(t, channel, precision)
    if special != 0:
        return special
    highest: i32 = NONE
    for group in range(t.groups):
        add_group(t, group, channel, precision)
        highest = max(highest, t.units[group])
    if highest == NONE:
        return sign_of_zeros(t, channel)
    total: i64 = 0
    unit = highest
    if t.groups > 1:
        unit = highest - i32((u32(highest) - (2 if precision == SINGLE_BITS else 3)) & 3)
    for group in range(t.groups):
        shift = t.units[group] - unit
        if shift >= 0:
            total = total + (t.sums[group] << i64(shift))
        elif t.units[group] != NONE:
            total = total + (t.sums[group] >> i64(min(-shift, i32(63))))
    return rounded(total, unit, precision)


def special_float(t: Lookup, channel: u32, precision: u32) -> u32:
    """The infinity or the NaN that comes of texels whose fractions are not zero, even if their weights are; else 0."""
    special: u32 = 0
    for tap in range(4 * t.groups):
        bits = t.texels[4 * tap + channel]
        if t.meant[tap] != 0 and bits & SPECIAL == SPECIAL:
            if special != 0 and special != bits:  # noqa: PLR1714 - native code has no sets
                bits = bits | 1
            special = bits
    if special & 0x7FFFFF != 0:
        return 0x7FFFE000 if precision == HALF_BITS else 0x7FFFFFFF
    return special


def sign_of_zeros(t: Lookup, channel: u32) -> u32:
    """What zeros come to: -0 if all are, but a weight that was rounded to 0 makes +0."""
    sign: u32 = 1 << 31
    for tap in range(4 * t.groups):
        if t.meant[tap] != 0:
            sign = sign & t.texels[4 * tap + channel] if t.weights[tap] != 0 else 0
    return sign


def canonical(bits: u32, is_half: bool) -> u32:
    """A float as filters return it: NaN is one number, and what is subnormal in f32 is zero."""
    if bits & SPECIAL == SPECIAL and bits & 0x7FFFFF != 0:
        return 0x7FFFE000 if is_half else 0x7FFFFFFF
    return bits & 0x80000000 if bits & SPECIAL == 0 else bits


def add_group(t: Lookup, group: u32, channel: u32, precision: u32) -> None:
    """Add up a group: its sum, and what the last bit counts."""
    highest: i32 = NONE
    for tap in range(4 * group, 4 * group + 4):
        bits = t.texels[4 * tap + channel]
        if t.weights[tap] != 0 and bits >> 23 & 255 != 0:
            highest = max(highest, i32(bits >> 23 & 255) - 126)
    t.sums[group] = 0
    t.units[group] = NONE
    if highest == NONE:
        return
    unit = highest - i32(precision) - EXTRA_BITS
    total: i64 = 0
    for tap in range(4 * group, 4 * group + 4):
        bits = t.texels[4 * tap + channel]
        exponent = i32(bits >> 23 & 255)
        if t.weights[tap] != 0 and exponent != 0:
            mantissa = u64(bits & 0x7FFFFF | 0x800000)
            shift = exponent - 150 - unit
            aligned = mantissa << u64(max(shift, i32(0))) if shift >= 0 else mantissa >> u64(min(-shift, i32(63)))
            product = i64(aligned * u64(t.weights[tap]))
            total = total - product if bits >> 31 != 0 else total + product
    t.sums[group] = total
    t.units[group] = unit - 8


def rounded(total: i64, unit: i32, precision: u32) -> u32:
    """A number of units as an f32 of a precision; halves are rounded away from zero."""
    if total == 0:
        return 0
    sign = u32(total < 0) << 31
    magnitude = u64(-total if total < 0 else total)
    cut = 64 - i32(leading_zeros(magnitude)) - i32(precision)
    if precision == HALF_BITS:
        cut = max(cut, LOWEST_HALF - unit)
    if cut > 63:
        return sign
    if cut > 0:
        magnitude = (magnitude + (u64(1) << u64(cut - 1))) >> u64(cut)
        unit = unit + cut
    return sign | to_single(magnitude, unit)


def to_single(magnitude: u64, unit: i32) -> u32:
    """`magnitude` units, at most 2^24, as an f32; what would be subnormal is zero."""
    if magnitude == 0:
        return 0
    shift = i32(leading_zeros(magnitude)) - 40
    mantissa = u32(magnitude << u64(max(shift, i32(0)))) if shift >= 0 else u32(magnitude >> 1)
    exponent = unit - shift + 150
    if exponent <= 0:
        return 0
    return SPECIAL if exponent >= 255 else u32(exponent) << 23 | mantissa & 0x7FFFFF


def ratio(value: i64, most: u64) -> u32:
    """An integer of at most 16 bits over the largest one, as the nearest f32."""
    if value == 0:
        return 0
    magnitude = u64(-value if value < 0 else value)
    quotient = (magnitude << 47) // most
    cut = 40 - leading_zeros(quotient)
    mantissa = (quotient + (u64(1) << u64(cut - 1))) >> u64(cut)
    return u32(value < 0) << 31 | to_single(mantissa, i32(u32(cut)) - 47)
