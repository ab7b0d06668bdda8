"""What all products of the same arrays come to together: which k each chain multiplies, which places are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.readings import tile_of
from ptxloom.diagnosis.tiles import common_columns, common_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.evidence import SiteEvidence
    from ptxloom.diagnosis.readings import Reading
    from ptxloom.diagnosis.tiles import Integers, Tile


def tiles_of(evidence: SiteEvidence, reading: Reading) -> dict[str, Tile]:
    """The operands of an instruction, read as matrices, by their roles."""
    return {stack.role: tile_of(stack, evidence, reading.planes[stack.role]) for stack in evidence.stacks}


class Coverage:
    """Which lines of each matrix the products of the same arrays take.

    Attributes:
        repeated: Of "a" and "b" how many k stand more than once in one chain.
        missing: Of each role and axis how many lines of the matrix are never taken; along k, by no product of a chain.
    """

    def __init__(self, sites: Sequence[SiteEvidence], reading: Reading) -> None:
        self.repeated: dict[str, int] = {}
        self.missing: dict[tuple[str, int], int] = {}
        tiles = [tiles_of(site, reading) for site in sites]
        chains = np.concatenate([site.chain for site in sites])
        for role, plane in reading.planes.items():
            for axis in (0, 1):
                common = common_columns if axis else common_rows
                lines = np.concatenate([common(one[role]) for one in tiles])
                extent = plane.extents[axis]
                if (role, axis) in {("a", 1), ("b", 0)}:
                    self.repeated[role], self.missing[role, axis] = _by_chain(chains, lines, extent)
                else:
                    self.missing[role, axis] = extent - len(np.unique(lines[(lines >= 0) & (lines < extent)]))

    def gaps(self, role: str, axis: int) -> int:
        """How many lines are left out, or taken twice."""
        along = (role, axis) in {("a", 1), ("b", 0)}
        return self.missing[role, axis] + (self.repeated[role] if along else 0)


def _by_chain(chains: Integers, lines: Integers, extent: int) -> tuple[int, int]:
    """How many k are repeated within chains, and how many are missing in them."""
    keys = chains[:, None] * (extent + 1) + np.minimum(lines, extent)
    held = keys[lines >= 0]
    different = np.unique(held)
    inside = different[different % (extent + 1) < extent]
    return len(held) - len(different), len(np.unique(chains)) * extent - len(inside)
