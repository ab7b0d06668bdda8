"""Queries about textures and surfaces (PTX ISA 9.7.10.5, 9.7.11.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native.language import Slice, length, u32, u64
from ptxloom.machine.runtime.state import Warp
from ptxloom.machine.runtime.structs.texture import (
    LAYERED_CUBE,
    LAYERED_ONE,
    LAYERED_TWO,
    LINEAR_MEMORY,
    ONE,
    SURFACE,
    THREE,
    Image,
)
from ptxloom.machine.runtime.textures.texels import find_image, object_of

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Ptr

WIDTH, HEIGHT, DEPTH, LAYERS, LEVELS = range(5)
QUERIES = {"width": WIDTH, "height": HEIGHT, "depth": DEPTH, "array_size": LAYERS, "num_mipmap_levels": LEVELS}
REFERENCE_FLOOR = 1 << 32  # handles of objects are below it, addresses of variables above


def ask(
    w: Warp, mask: u32, handles: Ptr[u64], values: Annotated[Slice[u32], "32"], kind: u32, asked: u32, site: u32
) -> u32:
    """Replace each lane's level by the queried attribute of its object; 1 after a fault."""
    failed: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0:
            found = object_of(w, lane, handles[lane], kind, site)
            if length(found) == 0:
                failed = 1
            else:
                values[lane] = answer(found[0], values[lane], asked)
    return failed


def answer(image: Image, level: u32, asked: u32) -> u32:
    """The attributes of an object; an array's layers are in the dimension after its own."""
    if asked == LEVELS:
        return image.level_count
    if asked == LAYERS:
        return image.layers
    if level >= image.level_count:
        return 0
    if asked == WIDTH:
        return image.widths[level]
    return height_of(image, level) if asked == HEIGHT else depth_of(image, level)


def height_of(image: Image, level: u32) -> u32:
    """The height: of a texture in one dimension 1, of a surface and of linear memory 0."""
    if image.geometry == LAYERED_ONE:
        return image.layers
    if image.geometry == LINEAR_MEMORY or (image.geometry == ONE and image.kind == SURFACE):
        return 0
    return image.heights[level]


def depth_of(image: Image, level: u32) -> u32:
    """The depth; 0 for an image without depth."""
    if image.geometry == THREE:
        return image.depths[level]
    if image.geometry == LAYERED_CUBE:
        return image.layers // 6
    return image.layers if image.geometry == LAYERED_TWO else 0


def are_references(w: Warp, mask: u32, handles: Ptr[u64], kind: u32) -> u32:
    """The lanes that name a module's variable of a kind."""
    found: u32 = 0
    for lane in range(32):
        if mask >> lane & 1 != 0 and handles[lane] >= REFERENCE_FLOOR:
            images = find_image(w, handles[lane])
            if length(images) != 0 and images[0].kind == kind:
                found = found | 1 << lane
    return found
