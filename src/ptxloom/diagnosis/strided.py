"""Images that are read with a wrong stride, by the pixels of the result and the taps of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.arrays.images import meant_places
from ptxloom.diagnosis.totals import Total
from ptxloom.diagnosis.wrong_strides import of_strides, offsets_at

if TYPE_CHECKING:
    from ptxloom.diagnosis.arrays.images import Image
    from ptxloom.diagnosis.origins.tiles import Integers


def strided(image: Image | None) -> list[Total]:
    """The law that rows of operands are pixels, broken by one wrong stride of an image; empty if that explains nothing.

    A tap's row and column count rows and columns of the image, so a wrong length of its rows changes both; only then
    are they examined separately.
    """
    if image is None:
        return []
    steps = image.steps
    offsets: list[Integers] = []
    indices: list[Integers] = []
    paths: list[Integers] = []
    for site in image.stored:
        if site.a is None:
            continue
        shape = site.a.offset.shape
        pixels, taps = meant_places(site, image.reading.planes)
        row, column = np.broadcast_to(pixels[:, :, None], shape), np.broadcast_to(taps[:, None, :], shape)
        known = site.a.known & (row >= 0) & (column >= 0)
        offsets.append(site.a.offset[known])
        indices.append(np.concatenate((steps.places[:, row[known]], steps.taps[:, column[known]])))
        paths.append(site.a.path[known])
    held, index, path = np.concatenate(offsets), np.concatenate(indices, axis=1), np.concatenate(paths)
    batch, y, x, down, right, channel = index
    images, rows, pixels_, _, _, channels = steps.axes
    together = np.stack((batch, y + down, x + right, channel))
    named = of_strides(held, together, (images, rows, pixels_, channels)) or of_strides(held, index, steps.axes)
    if named is None:
        return []
    wrong = held != offsets_at(index, steps.axes)
    sites = tuple(site.site for site in image.stored)
    number = next(site.a.array for site in image.stored if site.a is not None)
    count = int(np.count_nonzero(wrong))
    return [Total("rows", named, "a", number, path[wrong], sites, count, len(wrong), certain=False)]
