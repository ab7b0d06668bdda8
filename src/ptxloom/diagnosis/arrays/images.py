"""Images as the first factor of an implicit GEMM: an element of it is a pixel of the result and a tap of the weights.

No reading of an image as a plain matrix fits, since each element serves several pixels. But the result determines the
pixel, and the weights the tap: together they determine the right element. A wrong element is another pixel, or another
tap; so the image is read as the matrix of all pixels and taps, which is never stored.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.readings import Reading, tile_of
from ptxloom.diagnosis.origins.tiles import Plane, all_of, common_rows
from ptxloom.diagnosis.wrong_strides import Axis, offsets_at
from ptxloom.machine.results.provenance import TracedArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.diagnosis.origins.tiles import Integers, Truth

_STRIDES: Final = (1, 2)
_LIKELY: Final = 0.05  # of elements, that must be where they should
_UNIT: np.dtype[np.uint8] = np.dtype(np.uint8)


class Image(NamedTuple):
    """Products whose first factor is an image.

    Attributes:
        group: The products, with that factor as a matrix.
        array: Stands for the matrix.
        reading: How their arrays are read.
        stored: The products, with that factor as the image.
        steps: Where the image's elements should be.
    """

    group: tuple[SiteEvidence, ...]
    array: TracedArray
    reading: Reading
    stored: tuple[SiteEvidence, ...]
    steps: Steps


def image_of(group: Sequence[SiteEvidence], arrays: Sequence[TracedArray]) -> Image | None:
    """A group whose first factor is an image, its second weights; None if not.

    These are (channels, rows, columns, depth), or (rows, columns, depth, channels).
    """
    first = group[0]
    if first.a is None or first.b is None or first.d is None:
        return None
    image, weights, result = (arrays[stack.array] for stack in (first.a, first.b, first.d))
    shapes = image.shape[-3:], weights.shape, result.shape[-3:]
    if [len(shape) for shape in shapes] != [3, 4, 3] or image.shape[:-3] != result.shape[:-3]:
        return None
    depth, channels = shapes[0][2], shapes[2][2]
    if (channels, depth) == (weights.shape[0], weights.shape[3]):
        kernel, by_tap = weights.shape[1:], False
    elif (depth, channels) == weights.shape[2:]:
        kernel, by_tap = weights.shape[:3], True
    else:
        return None
    taps = prod(kernel)
    line, lines = (channels, taps) if by_tap else (taps, channels)
    planes = {
        "b": Plane(weights.number, line, slow_rows=by_tap, lines=lines, unit_bits=first.b.unit_bits),
        "d": Plane(
            result.number, channels, slow_rows=True, lines=prod(result.shape) // channels, unit_bits=first.d.unit_bits
        ),
    }
    steps = _fitting(shapes[0], kernel, shapes[2])
    tries = [Steps(image.shape, kernel, result.shape, *one) for one in steps]
    if not tries:
        return None
    best = max(tries, key=lambda steps: _share(group, planes, steps))
    if _share(group, planes, best) < _LIKELY:
        return None
    extents = planes["d"].lines, taps
    matrix = TracedArray(len(arrays), image.name, None, _UNIT, extents, (taps, 1), prod(extents))
    planes["a"] = Plane(matrix.number, taps, slow_rows=True, lines=extents[0], unit_bits=8)
    made = tuple(
        replace(site, a=_as_matrix(site, site.a, planes, best, matrix)) for site in group if site.a is not None
    )
    return Image(made, matrix, Reading(planes, stated=False, score=0.0, image=True), tuple(group), best)


def _fitting(image: Sequence[int], kernel: Sequence[int], result: Sequence[int]) -> list[tuple[int, int]]:
    """The strides and paddings under which the extents fit."""
    return [
        (stride, padding)
        for stride, padding in product(_STRIDES, range(max(kernel[:2])))
        if all((image[n] + 2 * padding - kernel[n]) // stride + 1 == result[n] for n in (0, 1))
    ]


class Steps:
    """The place in the image of a pixel's element at a tap: the sum of the pixel's place and the tap's.

    Attributes:
        places: (3, pixels) the image, the row and the column of each pixel's first tap; negative beyond the edge.
        taps: (3, taps) the row, the column and the channel of each tap.
        axes: The axes of both.
        pixel: (pixels,) the offset of each pixel's first tap.
        tap: (taps,) the distance of each tap from it.
    """

    def __init__(
        self, image: tuple[int, ...], kernel: tuple[int, ...], result: tuple[int, ...], stride: int, padding: int
    ) -> None:
        height, width, depth = image[-3:]
        batch, y, x = (axis.ravel() for axis in np.indices((prod(result[:-3]), *result[-3:-1])))
        down, right, channel = (axis.ravel() for axis in np.indices(kernel))
        self.places = np.stack((batch, y * stride - padding, x * stride - padding))
        self.taps = np.stack((down, right, channel))
        self.axes = (
            Axis("rows", "images", height * width * depth),
            Axis("rows", "rows", width * depth),
            Axis("rows", "pixels", depth),
            Axis("rows", "rows of taps", width * depth),
            Axis("columns", "taps", depth),
            Axis("columns", "channels", 1),
        )
        self.pixel = offsets_at(self.places, self.axes[:3])
        self.tap = offsets_at(self.taps, self.axes[3:])


def meant_places(site: SiteEvidence, planes: dict[str, Plane]) -> tuple[Integers, Integers]:
    """(events, m) and (events, k): the pixels by the result, and the taps by the weights; -1: unknown."""
    known = {stack.role: stack for stack in site.stacks}
    rows = (common_rows(tile_of(known[role], site, planes[role])) for role in "db")
    pixels, taps = rows
    return pixels, taps


def _share(group: Sequence[SiteEvidence], planes: dict[str, Plane], steps: Steps) -> float:
    """The fraction of elements in the right place."""
    right = total = 0
    for site in group:
        if site.a is None:
            continue
        pixels, taps = meant_places(site, planes)
        places = steps.pixel[pixels][:, :, None] + steps.tap[taps][:, None, :]
        right += int(np.count_nonzero((places == site.a.offset) & site.a.known))
        total += int(np.count_nonzero(site.a.known))
    return right / max(total, 1)


def _as_matrix(site: SiteEvidence, factor: Stack, planes: dict[str, Plane], steps: Steps, matrix: TracedArray) -> Stack:
    """The image's operand as places in the matrix: the intended pixel and tap, or another of either."""
    pixels, taps = meant_places(site, planes)
    shape = factor.offset.shape
    row, column = np.broadcast_to(pixels[:, :, None], shape), np.broadcast_to(taps[:, None, :], shape)
    other_row, has_row = _sought(factor.offset - steps.tap[column], steps.pixel)
    other_column, has_column = _sought(factor.offset - steps.pixel[row], steps.tap)
    whole_row = all_of(has_row | ~factor.known)[:, None, None]
    place = np.where(
        has_row & (whole_row | ~has_column), other_row * matrix.shape[1] + column, row * matrix.shape[1] + other_column
    )
    known = factor.known & (row >= 0) & (column >= 0) & (has_row | has_column)
    return replace(factor, array=matrix.number, unit_bits=8, offset=np.where(known, place, -1), known=known)


def _sought(values: Integers, places: Integers) -> tuple[Integers, Truth]:
    """Which of the places each value is, and whether it is one."""
    order = np.argsort(places, kind="stable")
    at = np.minimum(np.searchsorted(places[order], values), len(places) - 1)
    return order[at].astype(np.int64), places[order][at] == values
