"""Hazards of all workers put together: one for each kind and pair of places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.machine.results.hazard import Hazards

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.results.hazard import Hazard, Party


def joined(hazards: Iterable[Hazard]) -> Hazards:
    """Hazards in the order of the text; those of one kind at one pair of places made one, their counts added.

    Of two lines that race across warps, a missing order within a warp too is not worth a second finding.
    """
    found: dict[tuple[str, int, int], Hazard] = {}
    for hazard in hazards:
        key = (hazard.rule, hazard.span.start, -1 if hazard.other is None else hazard.other.span.start)
        seen = found.get(key)
        if seen is not None:
            first = min(seen, hazard, key=lambda h: _rank(h.party))
            hazard = replace(first, count=seen.count + hazard.count)  # noqa: PLW2901 - the two made one
        found[key] = hazard
    if not found:
        return Hazards()
    races = {key[1:] for key, h in found.items() if h.tool == "racecheck" and h.kind != "warp-order"}
    told = (h for key, h in found.items() if h.kind != "warp-order" or key[1:] not in races)
    return Hazards(sorted(told, key=lambda h: (h.span.start, h.rule, h.other is None or h.other.span.start)))


def _rank(party: Party) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Blocks in the order of z, y, x; then warps, then lanes."""
    return party.block[::-1], party.warp, party.lanes
