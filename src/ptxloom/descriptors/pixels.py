"""The pixels of im2col: they walk W, H and D within the bounding box, then N; offsets are added after.

In an interleaved tensor W is dimension 0, and a slice stands for the channels; in others C is dimension 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ptxloom.descriptors.tensor_map import CORNER_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.descriptors.tensor_map import Im2col, TensorMap


@lru_cache(maxsize=16)  # called for each element of a box
def pixels(
    made: TensorMap, box: Im2col, start: tuple[int, ...], offsets: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """The coordinate of each pixel's first channel.

    Args:
        made: The tensor map.
        box: Its im2col parameters.
        start: The coordinates of the instruction.
        offsets: Its offsets, with the same number of bits as a corner.
    """
    first = 0 if made.interleave != "none" else 1
    spatial = range(first, first + made.rank - 2)
    corners = zip(spatial, box.pixel_box_lower_corner, box.pixel_box_upper_corner, strict=True)
    bounds = {place: (lower, made.global_dim[place] + upper) for place, lower, upper in corners}
    mask = (1 << CORNER_BITS[made.rank]) - 1
    moves = dict(zip(spatial, (offset & mask for offset in offsets or (0,) * len(spatial)), strict=True))
    at, found = list(start), list[tuple[int, ...]]()
    for _ in range(box.pixels_per_column):
        found.append(tuple(here + moves.get(place, 0) for place, here in enumerate(at)))
        _step(at, made.element_strides, bounds)
    return tuple(found)


def _step(at: list[int], steps: Sequence[int], bounds: dict[int, tuple[int, int]]) -> None:
    """Advance to the next pixel."""
    for place, (begin, end) in bounds.items():
        at[place] += steps[place]
        if at[place] < end:
            return
        at[place] = begin
    at[-1] += steps[-1]


def outside_corners(made: TensorMap, box: Im2col, start: Sequence[int]) -> bool:
    """Whether a copy begins at a pixel outside the bounding box, which the hardware refuses."""
    first = 0 if made.interleave != "none" else 1
    corners = zip(box.pixel_box_lower_corner, box.pixel_box_upper_corner, strict=True)
    return any(
        not lower <= start[place] < made.global_dim[place] + upper
        for place, (lower, upper) in enumerate(corners, first)
    )
