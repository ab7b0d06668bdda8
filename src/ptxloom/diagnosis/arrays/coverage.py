"""What all products of the same arrays cover together: which k each chain multiplies, which places are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.arrays.readings import tile_of
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Integers, Tile, Truth


def tiles_of(evidence: SiteEvidence, reading: Reading) -> dict[str, Tile]:
    """The operands of an instruction, read as matrices, by their roles."""
    return {stack.role: tile_of(stack, evidence, reading.planes[stack.role]) for stack in evidence.stacks}


class Coverage:
    """Which lines of each matrix the products of the same arrays take.

    Attributes:
        repeated: Of "a" and "b" the number of k that occur more than once in a chain.
        missing: Of each role and axis how many lines of the matrix are never taken; along k, by no product of a chain.
        twice: Of "a" and "b" which k stand more than once in some chain.
        absent: Of "a" and "b" which k stand in no chain.
        strays: Of "a" and "b" whether products of one chain take different rows of A, or columns of B.
        in_one_piece: Whether each chain takes k that follow one another.
        turned: Of "a" and "b" whether the k of a chain ever go back, or stay.
        chains: How many chains there are.
    """

    def __init__(self, sites: Sequence[SiteEvidence], reading: Reading) -> None:
        self.repeated: dict[str, int] = {}
        self.missing: dict[tuple[str, int], int] = {}
        self.twice: dict[str, Integers] = {}
        self.absent: dict[str, Integers] = {}
        self.strays: dict[str, bool] = {}
        self.in_one_piece = True
        self.turned: dict[str, bool] = {}
        numbers = np.concatenate([site.numbers for site in sites])
        tiles = [tiles_of(site, reading) for site in sites]
        chains = np.concatenate([site.chain for site in sites])
        within = _within(chains, np.concatenate([_is_stored(site) for site in sites]))
        self.chains = len(np.unique(chains))
        for role, plane in reading.planes.items():
            for axis in (0, 1):
                common = common_columns if axis else common_rows
                lines = np.concatenate([common(one[role]) for one in tiles])
                extent = plane.extents[axis]
                if (role, axis) in {("a", 1), ("b", 0)}:
                    self._by_chain(role, axis, chains[within], lines[within], extent)
                    self.turned[role] = _turns_back(numbers, chains, lines[:, 0])
                else:
                    self.strays[role] = self.strays.get(role, False) or (role != "d" and _strays(chains, lines[:, 0]))
                    self.missing[role, axis] = extent - len(np.unique(lines[(lines >= 0) & (lines < extent)]))

    def gaps(self, role: str, axis: int) -> int:
        """The number of lines left out or taken twice; k that no chain takes weigh most."""
        along = (role, axis) in {("a", 1), ("b", 0)}
        return self.missing[role, axis] + (self.repeated[role] + len(self.absent[role]) if along else 0)

    def overruns(self, role: str, extent: int) -> bool:
        """Whether chains repeat the k of a factor too often for its number of lines: its lines are not those of k."""
        return self.repeated.get(role, 0) > self.chains * extent

    def loses(self, role: str) -> Integers | None:
        """The k of a factor that never occur while others occur twice; None if there are none."""
        along = (role, 1 if role == "a" else 0)
        return self.absent[role] if self.repeated.get(role) and self.missing.get(along) else None

    def _by_chain(self, role: str, axis: int, chains: Integers, lines: Integers, extent: int) -> None:
        """Which k are repeated within chains, and which are missing in them."""
        keys = chains[:, None] * (extent + 1) + np.minimum(lines, extent)
        held = keys[lines >= 0]
        different, times = np.unique(held, return_counts=True)
        inside = different[different % (extent + 1) < extent]
        self.repeated[role] = len(held) - len(different)
        self.missing[role, axis] = len(np.unique(chains)) * extent - len(inside)
        self.twice[role] = np.unique(different[times > 1] % (extent + 1))
        self.absent[role] = np.setdiff1d(np.arange(extent), inside % (extent + 1))
        whose = inside // (extent + 1)
        broken_off = (np.diff(inside) > 1) & (np.diff(whose) == 0)
        self.in_one_piece = self.in_one_piece and not broken_off.any()


def _is_stored(site: SiteEvidence) -> Truth:
    """(events,) whether some of the result of each product is stored in an array."""
    count = len(site.numbers)
    known = np.zeros((count, 1), np.bool_) if site.d is None else site.d.known.reshape(count, -1)
    found: Truth = np.any(known, axis=1)
    return found


def _within(chains: Integers, stored: Truth) -> Truth:
    """(events,) which are of a chain that ends in an array: others, if there are such, are of tiles beyond the edge."""
    found: Truth = np.ones(len(chains), np.bool_)
    if stored.any():
        found = np.isin(chains, chains[stored])
    return found


def _strays(chains: Integers, first: Integers) -> bool:
    """Whether products of one chain differ in their first line."""
    pairs = np.unique(np.stack((chains, first), axis=1)[first >= 0], axis=0)
    return len(pairs) > len(np.unique(pairs[:, 0]))


def _turns_back(numbers: Integers, chains: Integers, first: Integers) -> bool:
    """Whether the lines of a chain ever go back, or stay."""
    order = np.lexsort((numbers, chains))
    same = chains[order][1:] == chains[order][:-1]
    return bool((np.diff(first[order])[same] <= 0).any())
