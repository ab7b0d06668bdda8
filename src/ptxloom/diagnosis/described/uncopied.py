"""Elements of a factor in shared memory that were never copied there, though the array has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.arrays.coverage import tiles_of
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows
from ptxloom.diagnosis.tallies import elements_absent
from ptxloom.diagnosis.totals import Total

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.pictures import Picture
    from ptxloom.machine.results.provenance import ProvenanceRecord


def not_copied(group: Sequence[SiteEvidence], reading: Reading, record: ProvenanceRecord) -> Iterator[Total]:
    """The parts of each factor that descriptors cover but no copy filled, except those beyond the array."""
    for role in "ab":
        sites = [site for site in group if role in site.described and any(s.role == role for s in site.stacks)]
        wrong = total = 0
        pictures: list[Picture] = []
        ways: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = []
        for site in sites:
            stack = next(one for one in site.stacks if one.role == role)
            tiles = tiles_of(site, reading)
            tile = tiles[role]
            rows, columns = common_rows(tile), common_columns(tile)
            if role == "a" and "b" in tiles:
                columns = np.where(columns < 0, common_rows(tiles["b"]), columns)
            elif role == "b" and "a" in tiles:
                rows = np.where(rows < 0, common_columns(tiles["a"]), rows)
            (most_rows, most_columns) = tile.plane.extents
            known = (rows >= 0) & (rows < most_rows), (columns >= 0) & (columns < most_columns)
            inside = known[0][:, :, None] & known[1][:, None, :]
            absent = stack.missing & inside
            if absent.any():
                pictures.append(elements_absent((rows, columns), absent, site.numbers, record))
            wrong += int(np.count_nonzero(absent))
            total += stack.missing.size
            ways.append(stack.path[stack.known])
        if wrong and not reading.image:
            named = Named("not-copied", f"{wrong:,} elements are never copied to shared memory")
            own, paths = tuple(site.site for site in sites), np.concatenate(ways)
            facts = ("rows", named, role, reading.planes[role].array, paths, own, wrong, total, reading.stated, paths)
            yield Total(*facts, picture=pictures[0])
