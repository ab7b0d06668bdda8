"""Tensors and boxes drawn for copies by tensor maps: every layout, steps, edges that the box crosses, corners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.descriptors import DATA_TYPES, Box, Im2col, TensorMap, encode_im2col, encode_tiled
from ptxloom.descriptors.tensor_types import INTERLEAVES, swizzle_bytes
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

ROOM: Final = 8192
"""Bytes of shared memory."""
TENSOR: Final = 16384
"""Bytes of global memory for a tensor."""
LAYOUTS: Final = ("none", "32B", "64B", "128B", "interleaved16B", "interleaved32B")
"""The layout of a box in shared memory: by its swizzle, or the slices of an interleaved tensor."""
_ROWS: Final = (16, 32, 48, 64, 96, 128, 256)
"""Bytes of a row of a box."""
_ARCHITECTURE: Final = 90


def fits(kind: str, layout: str, rank: int) -> bool:
    """Whether such maps exist on sm_90: slices take a dimension of their own."""
    return not DATA_TYPES[kind].is_narrow and (rank > 2 or not layout.startswith("interleaved"))


def tile(chance: Random, kind: str, layout: str, rank: int, *, stores: bool) -> Box:
    """A box of a tiled map."""
    while True:
        form = _form(chance, kind, layout)
        size, inner = _inner(chance, kind, form)
        unit, per = _unit(form), max(16 // size, 1)
        dims = (
            chance.choice((inner, inner + 1, 2 * inner, 3 * per, 5 * per + chance.randrange(per), 1)),
            *(chance.choice((1, 2, 3, 5, 8, 11)) for _ in range(rank - 1)),
        )
        box = [inner, *(chance.choice((1, 2, 3, 4, 7, 8)) for _ in range(rank - 1))]
        sliced = form["interleave"] != "none"
        if sliced:
            box[rank - 2] = 1
        steps = tuple(chance.choice((1, 1, 1, 2, 3)) for _ in range(rank))
        strides = _strides(chance, dims, size, unit)
        made = _tiled(kind, unit * chance.randrange(16), (dims, strides, box, steps), form)
        low = 0 if stores else -1
        first = chance.choice((0, low, 2 * low, 1, 5) if sliced else (0, 0, low * per, per, 2 * per))
        at = (first, *(chance.choice((0, 0, low, 3 * low, 1, 2, extent - 1, extent)) for extent in dims[1:]))
        near = chance.choice((0, 128, 512, 1024))
        if made is not None and (found := Box(made, at, near)).shared_bytes + near <= ROOM:
            return found


def columns(chance: Random, kind: str, layout: str, rank: int, *, stores: bool) -> Box:
    """Columns of im2col."""
    while True:
        form = _form(chance, kind, layout)
        size, inner = _inner(chance, kind, form)
        own = DATA_TYPES[kind].element_bytes
        unit, per = _unit(form), max(16 // own, 1)
        space = [chance.choice((1, 2, 3, 4, 6, 7)) for _ in range(rank - 2)]
        sliced = form["interleave"] != "none"
        last = chance.choice((1, 2, 3))
        if sliced:
            dims, inner = (*space, chance.choice((1, 2, 3)), last), unit // own
        else:
            dims = (chance.choice((inner, inner + 1, 2 * inner, per)), *space, last)
        lower = tuple(chance.choice((0, 0, 1) if stores else (0, 0, -1, -2, 1)) for _ in space)
        upper = tuple(chance.choice((0, 0, -1) if stores else (0, 0, -1, 1, -2)) for _ in space)
        if any(extent + high - low <= 0 for extent, low, high in zip(space, lower, upper, strict=True)):
            continue
        corners = Im2col(lower, upper, inner, chance.choice((1, 4, 7, 16, 32, 33)))
        steps = tuple(chance.choice((1, 1, 1, 2)) for _ in range(rank))
        strides = _strides(chance, dims, size, unit)
        made = _columns(kind, unit * chance.randrange(16), (dims, strides, steps), corners, form)
        starts = [
            min(chance.choice((low, low, max(low, 0), extent, low + 1)), extent + high - 1)
            for extent, low, high in zip(space, lower, upper, strict=True)
        ]
        offsets = tuple(chance.choice((0, 0, 1, 2)) for _ in space)
        first = chance.choice((0, 0, per) if stores else (0, 0, per, -per))
        at = (
            (*starts, chance.choice((0, dims[-2] - 1)), chance.choice((0, dims[-1] - 1)))
            if sliced
            else (first, *starts, chance.choice((0, 0, dims[-1] - 1)))
        )
        near = chance.choice((0, 128, 1024))
        if made is not None and (found := Box(made, at, near, () if stores else offsets)).shared_bytes + near <= ROOM:
            return found


def _form(chance: Random, kind: str, layout: str) -> dict[str, Any]:
    """The modes of a layout, and the fill of elements outside."""
    interleave = layout.removeprefix("interleaved") if layout.startswith("interleaved") else "none"
    swizzle = layout if interleave == "none" else "32B" if interleave == "32B" else chance.choice(("none", "32B"))
    fill = chance.choice(("none", "nan")) if DATA_TYPES[kind].is_float else "none"
    return {"interleave": interleave, "swizzle": swizzle, "oob_fill": fill, "architecture": _ARCHITECTURE}


def _inner(chance: Random, kind: str, form: dict[str, Any]) -> tuple[int, int]:
    """The bytes of an element of dimension 0, and the number of elements in a row of the box."""
    slice_bytes = INTERLEAVES[form["interleave"]]
    if slice_bytes:
        return slice_bytes, chance.choice((16, 32))
    size = DATA_TYPES[kind].element_bytes
    most = min(swizzle_bytes(form["swizzle"]) or 256, 256 * size)
    return size, chance.choice([row for row in _ROWS if row <= most]) // size


def _unit(form: dict[str, Any]) -> int:
    return 32 if form["interleave"] == "32B" else 16


def _strides(chance: Random, dims: Sequence[int], size: int, unit: int) -> tuple[int, ...]:
    """Strides of rows that do not overlap, sometimes with gaps."""
    strides: list[int] = []
    below = size * dims[0]
    for extent in dims[1:]:
        strides.append(-(-below // unit) * unit + unit * chance.choice((0, 0, 0, 1, 3)))
        below = strides[-1] * extent
    return tuple(strides)


def _tiled(kind: str, start: int, sizes: tuple[Any, ...], form: dict[str, Any]) -> TensorMap | None:
    """A map that the driver accepts, of a tensor that fits in memory; None otherwise."""
    dims, strides, box, steps = sizes
    try:
        made = encode_tiled(kind, start, dims, strides, box, steps, **form)
    except UsageError:
        return None
    return made if _end(made) <= TENSOR else None


def _columns(kind: str, start: int, sizes: tuple[Any, ...], corners: Im2col, form: dict[str, Any]) -> TensorMap | None:
    dims, strides, steps = sizes
    lower, upper = corners.pixel_box_lower_corner, corners.pixel_box_upper_corner
    channels, pixels = corners.channels_per_pixel, corners.pixels_per_column
    try:
        made = encode_im2col(kind, start, dims, strides, lower, upper, channels, pixels, steps, **form)
    except UsageError:
        return None
    return made if _end(made) <= TENSOR else None


def _end(made: TensorMap) -> int:
    """The bytes from the start of a tensor's memory to its end."""
    whole = made.global_dim[-1] * made.global_strides[-1] if made.global_strides else 0
    return made.global_address + max(whole, made.global_dim[0] * made.element_bytes)
