"""Components in sRGB: three of four, and the first of one or two, as on an H100.

A look-up decodes them by a table, and combines what comes out exactly, except what is cut when it is aligned: to eight
bits of the widest of a slice. The sum is rounded once to the precision of f16, halves up.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i32, i64, leading_zeros, u32, u64
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.texture import Image, Lookup
from ptxloom.machine.runtime.textures.floats import HALF_BITS, rounded, to_single

VALUE_BITS = 16  # of the table's numbers, behind the point
KEPT_BITS = 8
WIDE = 1 << 31


def is_encoded(image: Image, channel: u32) -> bool:
    """Whether a component is in sRGB."""
    return image.srgb != 0 and (channel == 0 or (image.channels > 2 and channel < 3))


def decoded(w: Warp, bits: u32) -> u32:
    """A component by itself, as an f32."""
    return to_single(u64(w.launch.srgb[bits & 255] & (WIDE - 1)), i32(-VALUE_BITS))


def combined_encoded(w: Warp, t: Lookup, channel: u32) -> u32:
    """The combination of a component's texels, as an f32."""
    total: i64 = 0
    assert t.groups <= 4
    for group in range(t.groups):
        total = total + group_sum(w, t, group, channel)
    return rounded(total, i32(-VALUE_BITS - 8), HALF_BITS)


def group_sum(w: Warp, t: Lookup, group: u32, channel: u32) -> i64:
    """The sum of four texels of a slice, in units of 2^-24."""
    widest: u32 = 0
    for tap in range(4 * group, 4 * group + 4):
        row = w.launch.srgb[t.texels[4 * tap + channel] & 255]
        if t.weights[tap] != 0 and row != 0:
            widest = max(widest, 32 - leading_zeros(row & (WIDE - 1)) + (row >> 31))
    cut = u64(max(widest, u32(KEPT_BITS)) - KEPT_BITS)
    total: i64 = 0
    for tap in range(4 * group, 4 * group + 4):
        value = u64(w.launch.srgb[t.texels[4 * tap + channel] & 255] & (WIDE - 1))
        total = total + i64(u64(t.weights[tap]) * (value >> cut << cut))
    return total
