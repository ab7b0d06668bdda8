"""Pitches of operands that pass through shared memory whole: the tile's there, or the leading dimension of the array.

If a tile is copied line by line from its array, a wrong pitch of either looks the same: the element at (i, j) is at `i
* Q + j` while rows are P apart. So neither is certain; the contents between the rows decide which is likelier.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.binding.touches import stores_to
from ptxloom.diagnosis.culprits import Culprit, ways_of
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.roots import NO_ROOT, Roots
from ptxloom.diagnosis.origins.tiles import whole
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.explanations import Explanation
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord
    from ptxloom.syntax.origins import SourceLine


def through_shared(paths: Integers, record: ProvenanceRecord) -> bool:
    """Whether any path of the elements passes through shared memory."""
    return bool(_writers(paths, record))


def with_tiles(broken: Sequence[Suspect], record: ProvenanceRecord) -> list[Suspect]:
    """The operands that break a law; if there was a tile, its pitch explains what a leading dimension does."""
    return [_with_tile(one, record) for one in broken]


def _with_tile(suspect: Suspect, record: ProvenanceRecord) -> Suspect:
    if len(suspect.explained) != 1:
        return suspect
    (only,) = suspect.explained
    if only.named.cause != "leading-dimension" or not only.named.pitches:
        return suspect
    stack = suspect.stack
    wrong = ~whole(suspect.tile, suspect.wanted) & suspect.tile.known
    writers = _writers(stack.path[suspect.events][wrong], record)
    if not writers:
        return suspect
    tile = _of_tile(only, only.named.pitches, writers if stack.role == "d" else ())
    filled = stack.role == "d" and _is_filled(stack, suspect.events[wrong.any(axis=(1, 2))], record)
    return replace(suspect, explained=(tile, only) if filled else (only, tile))


def _of_tile(whole_array: Explanation, pitches: tuple[int, int], writers: Sequence[Op]) -> Explanation:
    """The same, of the tile: its writer is wrong where results are read from it as their array has them."""
    one, other = pitches
    detail = f"one side has rows of {one} elements, the other of {other}"
    found = Named("pitch-mismatch", detail, whole_array.named.steps, pitches=(other, one) if writers else (one, other))
    culprit = Culprit(found.cause, writers[0], None, tuple(writers)) if writers else None
    return replace(whole_array, named=found, culprit=culprit)


def _is_filled(stack: Stack, events: Integers, record: ProvenanceRecord) -> bool:
    """Whether the line that stores results also stores values from no product: it reads unwritten memory.

    A wrong leading dimension would leave places between the rows unchanged.
    """
    contents = record.contents(stack.array)
    by = contents.stored_at.ravel()
    lines = {site: _line(site, record) for site in np.unique(by[by >= 0]).tolist()}
    told = {lines[site] for site in np.unique(by[stack.offset[events][stack.known[events]]]).tolist()}
    product, _ = Roots(record).of(contents.origins.ravel())
    return any(lines[site] in told for site in np.unique(by[(by >= 0) & (product == NO_ROOT)]).tolist())


def _line(site: int, record: ProvenanceRecord) -> SourceLine | None:
    """The source line of an instruction; None if the module does not record it."""
    return origins_in(record.program.module).at(record.program.ops[site].node.start)


def _writers(paths: Integers, record: ProvenanceRecord) -> list[Op]:
    """The instructions on the elements' paths that store to shared memory, those with the most elements first."""
    ways = ways_of(paths, record, record.program.ops)
    return list(dict.fromkeys(op for way in ways for op in way if stores_to(op.node, "shared")))
