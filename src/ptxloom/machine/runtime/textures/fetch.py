"""Look-ups of textures, lane by lane: `tex` and `tld4` (PTX ISA 9.7.10.3, 9.7.10.4).

As on an H200, a texture of one dimension is one of two whose second coordinate is 0, which a border between texels
shows, and which a negative step of the first moves, too; linear memory takes no steps; a look-up by integers returns 0
outside; and an array's index is held within it, except for integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import Slice, i32, i64, length, nothing, u32, u64
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.texture import (
    CLAMP,
    CUBE,
    HALF,
    LAYER,
    LAYERED_CUBE,
    LAYERED_ONE,
    LAYERED_TWO,
    LEVEL,
    LINEAR_MEMORY,
    OFFSETS,
    ONE,
    ONE_WEIGHT,
    OTHER_GEOMETRY,
    SINGLE,
    SNORM,
    TEXTURE,
    THREE,
    UNORM,
    Image,
    Lookup,
)
from ptxloom.machine.runtime.textures.cubes import cube_face, locate_on_face
from ptxloom.machine.runtime.textures.encoded import combined_encoded, is_encoded
from ptxloom.machine.runtime.textures.floats import HALF_BITS, SINGLE_BITS, canonical, combined_floats, half_to_single
from ptxloom.machine.runtime.textures.integers import combined_integers, combined_whole
from ptxloom.machine.runtime.textures.positions import fixed_toward_zero, locate, wrapped
from ptxloom.machine.runtime.textures.texels import (
    border_texel,
    object_of,
    read_texel,
    refuse_object,
    shown,
)

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

# The form of an instruction: its geometry, and then what it does.
GEOMETRY = 7
INTEGERS = 8
GATHERS = 16
LEVELS = 32
COMPONENT_SHIFT = 6  # of what is gathered
MOST_LAYERS = 65535


def look_up(
    w: Warp,
    mask: u32,
    handles: Ptr[u64],
    values: Annotated[Slice[u32], "256"],
    form: u32,
    site: u32,
) -> u32:
    """Look up a texture in each lane: of `values` [number][lane] the first four become the results; 1 after a fault."""
    failed: u32 = 0
    images = nothing(Image)
    for lane in range(32):
        if mask >> lane & 1 != 0:
            if length(images) == 0 or images[0].handle != handles[lane]:
                images = object_of(w, lane, handles[lane], TEXTURE, site)
            if length(images) == 0:
                failed = 1
            elif fits(images[0], form) == 0:
                refuse_object(w, lane, handles[lane], OTHER_GEOMETRY, site)
                failed = 1
            elif look_up_lane(w, lane, images[0], values, form, site) != 0:
                failed = 1
    return failed


def fits(image: Image, form: u32) -> u32:
    """1 if a texture has the geometry of an instruction."""
    geometry = form & GEOMETRY
    if geometry == ONE and form & INTEGERS != 0:
        return u32(image.geometry == LINEAR_MEMORY)
    return u32(image.geometry == geometry)


def look_up_lane(w: Warp, lane: u32, image: Image, values: Annotated[Slice[u32], "256"], form: u32, site: u32) -> u32:
    """Look up one lane's texture; 1 after a fault."""
    t = w.worker.lookup[0]
    t.groups = 0
    t.failed = 0
    if form & GATHERS != 0:
        gather_texels(w, t, lane, image, values, form, site)
    elif form & INTEGERS != 0:
        fetch(w, t, lane, image, values, form, site)
    else:
        sample(w, t, lane, image, values, form, site)
    for channel in range(4):
        values[32 * channel + lane] = t.result[channel]
    return t.failed


def enter_level(t: Lookup, image: Image, level: u32, layer: u32, form: u32) -> None:
    """Turn to a level, and to a layer, whose index is held within the array."""
    t.width = i64(image.widths[level])
    t.height = i64(image.heights[level])
    t.depth = i64(image.depths[level])
    geometry = form & GEOMETRY
    t.plane = 0
    held = min(layer, u32(MOST_LAYERS))
    if is_array(geometry):
        t.plane = i64(min(held, image.layers - 1))
    elif geometry == LAYERED_CUBE:
        t.plane = 6 * i64(min(held, image.layers // 6 - 1))


def is_array(geometry: u32) -> bool:
    """Whether a place starts with a layer, cubes apart."""
    return geometry == LAYERED_ONE or geometry == LAYERED_TWO  # noqa: PLR1714 - native code has no sets


def sample(
    w: Warp, t: Lookup, lane: u32, image: Image, values: Annotated[Slice[u32], "256"], form: u32, site: u32
) -> None:
    """Look up a texture by floats, filtered as it says."""
    asked = fixed_toward_zero(values[32 * LEVEL + lane], 8) + i64(image.bias)
    asked = max(min(asked, i64(image.most)), i64(image.least))
    level = u32(max(min(asked, i64(image.level_count - 1) << 8), i64(0)))
    if image.between_levels != 0:
        near = level >> 8
        beyond = level & 255
        sample_level(w, t, lane, image, values, near, ONE_WEIGHT - beyond, form, site)
        if beyond != 0:
            sample_level(w, t, lane, image, values, near + 1, beyond, form, site)
    else:
        sample_level(w, t, lane, image, values, (level + 128) >> 8, ONE_WEIGHT, form, site)
    is_filtered = image.is_linear | image.between_levels
    for channel in range(4):
        t.result[channel] = 0
        if channel < image.channels:
            if is_filtered != 0:
                t.result[channel] = combined(w, t, image, channel)
            else:
                t.result[channel] = shown(w, t.texels[channel], image, channel)


def combined(w: Warp, t: Lookup, image: Image, channel: u32) -> u32:
    """What a component's texels come to."""
    if is_encoded(image, channel):
        return combined_encoded(w, t, channel)
    if image.component == SINGLE:
        return combined_floats(t, channel, SINGLE_BITS)
    if image.component == HALF:
        for tap in range(4 * t.groups):
            t.texels[4 * tap + channel] = half_to_single(t.texels[4 * tap + channel])
        return combined_floats(t, channel, HALF_BITS)
    if image.component == UNORM or image.component == SNORM:  # noqa: PLR1714 - native code has no sets
        return combined_integers(t, channel, image)
    return combined_whole(t, channel, image)


def sample_level(
    w: Warp,
    t: Lookup,
    lane: u32,
    image: Image,
    values: Annotated[Slice[u32], "256"],
    level: u32,
    weight: u32,
    form: u32,
    site: u32,
) -> None:
    """Read the texels of a level that a look-up combines."""
    geometry = form & GEOMETRY
    enter_level(t, image, level, values[32 * LAYER + lane], form)
    for dimension in range(3):
        t.index[dimension] = 0
        t.fraction[dimension] = 0
    if geometry == CUBE or geometry == LAYERED_CUBE:  # noqa: PLR1714, SIM109 - native code has no sets
        t.plane = t.plane + i64(cube_face(values[lane], values[32 + lane], values[64 + lane]))
        locate_on_face(t, values[lane], values[32 + lane], values[64 + lane], image.is_linear)
    else:
        locate(t, 0, values[lane], t.width, image, image.is_linear)
        if geometry != LAYERED_ONE:
            locate(t, 1, values[32 + lane], t.height, image, image.is_linear)
    if geometry == THREE:
        locate(t, 2, values[64 + lane], t.depth, image, image.is_linear)
    for dimension in range(3):
        t.index[dimension] = t.index[dimension] + i64(i32(values[32 * (OFFSETS + dimension) + lane]))
    if geometry == ONE and i32(values[32 * OFFSETS + lane]) < 0:
        t.index[1] = t.index[1] - 1
    drop_fraction(t, 0, t.width, image)
    drop_fraction(t, 1, t.height, image)
    drop_fraction(t, 2, t.depth, image)
    slices = 1 + u32(t.fraction[2] != 0)
    far = (t.fraction[2] * weight + (128 if t.groups != 0 or weight == ONE_WEIGHT else 127)) >> 8
    assert slices <= 2
    for depth in range(slices):
        read_group(w, t, lane, image, level, depth, far if depth != 0 else weight - far, site)


def drop_fraction(t: Lookup, dimension: u32, size: i64, image: Image) -> None:
    """Where a coordinate is held at an end, the texel there counts alone."""
    at = t.index[dimension]
    mode = image.modes[dimension]
    if mode == CLAMP and t.fraction[dimension] != 0 and (at < 0 or at >= size - 1):
        t.fraction[dimension] = 0


def read_group(w: Warp, t: Lookup, lane: u32, image: Image, level: u32, depth: u32, weight: u32, site: u32) -> None:
    """Read four texels of a slice, and share a weight among them: first along x, then along y."""
    first = 4 * t.groups
    right = (t.fraction[0] * weight + 128) >> 8
    left = weight - right
    low = (left * t.fraction[1] + 127) >> 8
    corner = (right * t.fraction[1] + 128) >> 8
    t.weights[first] = left - low
    t.weights[first + 1] = right - corner
    t.weights[first + 2] = low
    t.weights[first + 3] = corner
    for tap in range(4):
        column = tap & 1
        row = tap >> 1
        is_meant = (column == 0 or t.fraction[0] != 0) and (row == 0 or t.fraction[1] != 0)
        t.meant[first + tap] = u32(is_meant)
        if is_meant:
            read_at(
                w, t, lane, image, level, t.index[0] + i64(column), t.index[1] + i64(row), t.index[2] + i64(depth),
                first + tap, site,
            )  # fmt: skip
        else:
            for channel in range(4):
                t.texels[4 * (first + tap) + channel] = 0
    t.groups = t.groups + 1


def read_at(
    w: Warp, t: Lookup, lane: u32, image: Image, level: u32, x: i64, y: i64, z: i64, tap: u32, site: u32
) -> None:
    """Read the texel of three indices, or the border's."""
    column = wrapped(x, t.width, image.modes[0])
    row = wrapped(y, t.height, image.modes[1])
    depth = wrapped(z, t.depth, image.modes[2])
    if column < 0 or row < 0 or depth < 0:
        border_texel(t, image, tap)
        return
    read_texel(w, t, lane, image, level, texel_offset(image, level, column, row, depth + t.plane), tap, site)


def texel_offset(image: Image, level: u32, column: i64, row: i64, plane: i64) -> u64:
    """How far a texel lies from the start of its level, in bytes."""
    size = u64(image.component_bytes * image.channels)
    return u64(plane) * image.planes[level] + u64(row) * image.pitches[level] + u64(column) * size


def fetch(
    w: Warp, t: Lookup, lane: u32, image: Image, values: Annotated[Slice[u32], "256"], form: u32, site: u32
) -> None:
    """Look up a texture by integers: a texel as it is; outside 0, but the nearest one of a level that is named."""
    layer = values[32 * LAYER + lane]
    level: u32 = 0
    is_inside = form & LEVELS != 0 or not is_array(form & GEOMETRY) or layer < image.layers
    if form & LEVELS != 0:
        level = min(values[32 * LEVEL + lane], image.level_count - 1)
        is_inside = level == values[32 * LEVEL + lane]
    enter_level(t, image, level, layer, form)
    for dimension in range(3):
        moved = i64(i32(values[32 * dimension + lane]))
        if (form & GEOMETRY) != ONE:
            moved = moved + i64(i32(values[32 * (OFFSETS + dimension) + lane]))
        size = t.width if dimension == 0 else t.height if dimension == 1 else t.depth
        t.index[dimension] = max(min(moved, size - 1), i64(0))
        if form & LEVELS == 0 and t.index[dimension] != moved:
            is_inside = False
    if is_inside:
        at = texel_offset(image, level, t.index[0], t.index[1], t.index[2] + t.plane)
        read_texel(w, t, lane, image, level, at, 0, site)
    for channel in range(4):
        is_there = is_inside and channel < image.channels
        t.result[channel] = shown(w, t.texels[channel], image, channel) if is_there else 0


def gather_texels(
    w: Warp, t: Lookup, lane: u32, image: Image, values: Annotated[Slice[u32], "256"], form: u32, site: u32
) -> None:
    """Read a component of the four texels that a filter would combine: counter-clockwise from the lower left."""
    component = form >> COMPONENT_SHIFT
    enter_level(t, image, 0, values[32 * LAYER + lane], form)
    for dimension in range(2):
        size = t.width if dimension == 0 else t.height
        locate(t, dimension, values[32 * dimension + lane], size, image, 1)
        t.index[dimension] = t.index[dimension] + i64(i32(values[32 * (OFFSETS + dimension) + lane]))
    for tap in range(4):
        row = 1 - (tap >> 1)
        column = (tap ^ tap >> 1) & 1
        read_at(w, t, lane, image, 0, t.index[0] + i64(column), t.index[1] + i64(row), 0, tap, site)
    for tap in range(4):
        bits = shown(w, t.texels[4 * tap + component], image, component) if component < image.channels else 0
        is_float = image.component == SINGLE or image.component == HALF  # noqa: PLR1714 - native code has no sets
        t.result[tap] = canonical(bits, image.component == HALF) if is_float else bits
