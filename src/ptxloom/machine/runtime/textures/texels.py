"""Reads one texel, and converts components that are not filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.language import address, length, nothing, part, u8, u16, u32, u64, view
from ptxloom.machine.runtime.initcheck.slow_path import read_lane
from ptxloom.machine.runtime.memory.lane_access import fault, place
from ptxloom.machine.runtime.state import GLOBAL, NO_TEXTURE, Warp
from ptxloom.machine.runtime.structs.texture import HALF, NO_OBJECT, OTHER_OBJECT, SIGNED, SNORM, UNORM, Image, Lookup
from ptxloom.machine.runtime.textures.encoded import decoded, is_encoded
from ptxloom.machine.runtime.textures.floats import half_to_single
from ptxloom.machine.runtime.textures.integers import alone

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice


def find_image(w: Warp, handle: u64) -> Slice[Image]:
    """The object of a handle, by bisection of the table; empty if there is none."""
    images = w.launch.images
    low: u64 = 0
    high = length(images)
    while low < high:
        middle = (low + high) >> 1
        if images[middle].handle <= handle:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return nothing(Image)
    if images[low - 1].handle != handle:
        return nothing(Image)
    return part(images, low - 1, 1)


def refuse_object(w: Warp, lane: u32, handle: u64, reason: u32, site: u32) -> None:
    """Note why an object cannot be looked up."""
    if w.worker.fault[0].kind == 0:
        w.worker.fault[0].reason = reason
    fault(w, NO_TEXTURE, site, lane, handle, GLOBAL, 0, 0)


def object_of(w: Warp, lane: u32, handle: u64, kind: u32, site: u32) -> Slice[Image]:
    """The object of a kind that a lane names; nothing after noting the fault."""
    found = find_image(w, handle)
    if length(found) == 0:
        refuse_object(w, lane, handle, NO_OBJECT, site)
        return nothing(Image)
    if found[0].kind != kind:
        refuse_object(w, lane, handle, OTHER_OBJECT, site)
        return nothing(Image)
    return found


def read_texel(w: Warp, t: Lookup, lane: u32, image: Image, level: u32, at: u64, tap: u32, site: u32) -> None:
    """Read the components of a texel, `at` bytes from the start of a level."""
    where = image.starts[level] + at
    size = image.component_bytes * image.channels
    found = place(w, lane, where, GLOBAL, size, 0, site)
    if address(found) == 0:
        t.failed = 1
        return
    read_lane(w, lane, where, GLOBAL, size, site)
    for channel in range(image.channels):
        t.texels[4 * tap + channel] = read_component(
            part(found, channel * image.component_bytes, image.component_bytes)
        )


def read_component(found: Slice[u8]) -> u32:
    """The bits of a component."""
    if length(found) == 4:
        return view(u32, found)[0]
    if length(found) == 2:
        return u32(view(u16, found)[0])
    return u32(found[0])


def border_texel(t: Lookup, image: Image, tap: u32) -> None:
    """Take the border's colour."""
    for channel in range(4):
        t.texels[4 * tap + channel] = image.border[channel]


def shown(w: Warp, bits: u32, image: Image, channel: u32) -> u32:
    """A component alone, decoded where it is in sRGB."""
    if is_encoded(image, channel):
        return decoded(w, bits)
    return single(bits, image)


def single(bits: u32, image: Image) -> u32:
    """A component alone, as look-ups return it."""
    if image.component == HALF:
        return half_to_single(bits)
    if image.component == UNORM or image.component == SNORM:  # noqa: PLR1714 - native code has no sets
        return alone(bits, image)
    return extended(bits, image)


def extended(bits: u32, image: Image) -> u32:
    """An integer as one of 32 bits; a float as it is."""
    if image.component_bytes == 4 or image.component != SIGNED:
        return bits
    sign = 1 << (8 * image.component_bytes - 1)
    return (bits ^ sign) - sign
