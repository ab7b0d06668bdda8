"""Arrays whose elements are in an order of their own: each is always multiplied at one place, and each place has one.

Weights are often put in another order beforehand, so that threads load them in one piece. The order is unknown, so a
kernel that follows it looks like one that takes wrong elements. But with a mistake, elements occur twice or are
missing, which a mere reordering of the whole array does not cause.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers


def is_relaid(group: Sequence[SiteEvidence], reading: Reading, role: str) -> bool:
    """Whether a factor's array is a matrix whose elements are in another order: all occur, each at a place of its own.

    Args:
        group: Instructions that multiply the same arrays.
        reading: How these are read; the factor's own extents may be wrong.
        role: The factor, "a" or "b".
    """
    if set(reading.planes) != set("abd") or role not in "ab" or group[0].form.sparse:
        return False
    parts: list[tuple[Integers, Integers]] = []
    for site in group:
        tiles = tiles_of(site, reading)
        stack = site.a if role == "a" else site.b
        if stack is None:
            return False
        if role == "a":
            rows, columns = common_rows(tiles["d"]), common_rows(tiles["b"])
        else:
            rows, columns = common_columns(tiles["a"]), common_columns(tiles["d"])
        said = (rows >= 0)[:, :, None] & (columns >= 0)[:, None, :] & stack.known
        place = (rows[:, :, None] << 32) + columns[:, None, :]
        parts.append((stack.offset[said], np.broadcast_to(place, said.shape)[said]))
    elements, places = (np.concatenate([part[n] for part in parts]) for n in (0, 1))
    pairs = np.unique(np.stack((elements, places), axis=1), axis=0)
    plane = reading.planes[role]
    each = len(np.unique(pairs[:, 0])) == len(pairs) == len(np.unique(pairs[:, 1]))
    return each and len(pairs) == plane.pitch * plane.lines
