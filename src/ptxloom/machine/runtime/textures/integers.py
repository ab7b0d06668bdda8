"""How normalised integers are combined: in 16 bits, halves rounded up, then divided by the largest one.

The least integer counts as it is where it is combined; the sum is what is held at -1. An H200 widens u8 to u16; of s8
it widens the sum of the products, by a sum of shifted parts that is not always the nearest.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i8, i16, i32, i64, u8, u16, u32, u64
from ptxloom.machine.runtime.structs.texture import SIGNED, UNORM, Image, Lookup
from ptxloom.machine.runtime.textures.floats import ratio

LARGEST_UNSIGNED = 65535
LARGEST = 32767
LARGEST_SHORT = 127


def alone(bits: u32, image: Image) -> u32:
    """A component that is not combined with others, as an f32."""
    if image.component == UNORM:
        return ratio(widened(bits, image), LARGEST_UNSIGNED)
    if image.component_bytes == 1:
        return ratio(max(i64(i8(u8(bits))), i64(-LARGEST_SHORT)), LARGEST_SHORT)
    return ratio(max(i64(i16(u16(bits))), i64(-LARGEST)), LARGEST)


def combined_integers(t: Lookup, channel: u32, image: Image) -> u32:
    """The combination of a component's integers, as an f32."""
    total: i64 = 0
    for tap in range(4 * t.groups):
        total = total + i64(u64(t.weights[tap])) * widened(t.texels[4 * tap + channel], image)
    if image.component == UNORM:
        return ratio((total + 128) >> 8, LARGEST_UNSIGNED)
    if image.component_bytes == 1:
        part = total >> 4
        return ratio(max(total + ((part + (part >> 8) + 4) >> 3), i64(-LARGEST)), LARGEST)
    return ratio(max((total + 128) >> 8, i64(-LARGEST)), LARGEST)


def widened(bits: u32, image: Image) -> i64:
    """A component as a factor."""
    if image.component == UNORM:
        return i64(u64(bits * 257 if image.component_bytes == 1 else bits))
    if image.component_bytes == 1:
        return i64(i8(u8(bits)))
    return i64(i16(u16(bits)))


def combined_whole(t: Lookup, channel: u32, image: Image) -> u32:
    """The combination of integers that are read as they are: rounded once, halves up, and those of 32 bits down."""
    total: i64 = 0
    for tap in range(4 * t.groups):
        total = total + i64(u64(t.weights[tap])) * whole(t.texels[4 * tap + channel], image)
    if image.component_bytes < 4:
        total = total + 128
    return u32(u64(total >> 8))


def whole(bits: u32, image: Image) -> i64:
    """An integer with its sign."""
    if image.component != SIGNED:
        return i64(u64(bits))
    if image.component_bytes == 1:
        return i64(i8(u8(bits)))
    if image.component_bytes == 2:
        return i64(i16(u16(bits)))
    return i64(i32(bits))
