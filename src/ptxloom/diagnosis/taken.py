"""Elements of packed words: which instruction takes the wrong one of the right word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.diagnosis.lines.extractions import extracting, extraction, first_of_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord


def taken_out(
    group: Sequence[Suspect], wrong: Sequence[Truth], record: ProvenanceRecord, nodes: NDArray[Any]
) -> Op | None:
    """The instruction that extracts packed elements, if each wrong one comes from the right word; else None.

    Args:
        group: Operands of the same role that break a law for the same cause.
        wrong: For each (events, rows, columns) which elements are wrong.
        record: Knows the arrays.
        nodes: What values were computed from.
    """
    first = group[0]
    plane = first.tile.plane
    if plane.array >= len(record.arrays) or not all(s.explained for s in group):
        return None
    per = 8 * record.arrays[plane.array].dtype.itemsize // plane.unit_bits
    bad: list[Integers] = []
    good: list[Integers] = []
    for suspect, which in zip(group, wrong, strict=True):
        node, mended = suspect.stack.node, suspect.explained[0].repaired
        if per < 2 or node is None:
            return None
        held, meant = (plane.offset(one.slow * plane.pitch + one.fast) // per for one in (suspect.tile, mended))
        if (held != meant)[which].any():
            return None
        bad.append(node[suspect.events][which])
        good.append(node[suspect.events][~which & suspect.tile.known])
    wrongs = np.concatenate(bad)
    taker = extraction(wrongs, np.concatenate(good), nodes, record)
    paths = [one.stack.path[one.events][which] for one, which in zip(group, wrong, strict=True)]
    return taker or extracting(np.concatenate(paths), record) or first_of_word(wrongs, plane.array, nodes, record)
