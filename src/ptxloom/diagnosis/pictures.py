"""Pictures of errors: an operand, a result or the k of a sum, next to how it should be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.origins.tiles import common_columns, common_rows, whole

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Tile, Truth, Wanted
    from ptxloom.machine.results.provenance import ProvenanceRecord

PLACES = "row,column as it is | as it should be"


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Cells as they are and as they should be.

    Attributes:
        about: The caption: the owner of the cells, and their meaning.
        held: (rows, columns, numbers) the contents of each cell, such as the row and column of the matrix that an
            element comes from; -1: nothing.
        wanted: Likewise what it should hold.
        rows: The names of rows; empty: they are numbered.
        columns: Likewise columns.
        words: The words for numbers; empty: the numbers themselves.
        axes: The meanings of rows and columns, such as m and k; empty: those of the operand.
    """

    about: str
    held: Integers
    wanted: Integers
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    axes: tuple[str, str] | None = None

    @property
    def wrong(self) -> Truth:
        """(rows, columns) which cells differ from what they should hold."""
        return (self.held != self.wanted).any(axis=-1)

    def window(self, rows: int, columns: int) -> tuple[int, int]:
        """The first row and column of the part that holds the most wrong cells; the upper left one of equal ones.

        Args:
            rows: How many it has at most.
            columns: Likewise.
        """
        sums = np.zeros((self.wrong.shape[0] + 1, self.wrong.shape[1] + 1), np.int64)
        sums[1:, 1:] = self.wrong.cumsum(axis=0).cumsum(axis=1)
        high, wide = min(rows, self.wrong.shape[0]), min(columns, self.wrong.shape[1])
        count = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
        top, left = np.unravel_index(int(np.argmax(count)), count.shape)
        return int(top), int(left)

    def says(self, cell: Integers) -> str:
        """The contents of a cell, in words."""
        numbers: list[int] = cell.tolist()
        return "-" if numbers[0] < 0 else ",".join(self.words[n] if self.words else str(n) for n in numbers)


def of_tile(tile: Tile, wanted: Wanted, mended: Tile | None) -> tuple[int, Integers, Integers]:
    """The operand with the most wrong elements: its number among the tile's, as it is, and as it should be.

    Args:
        tile: The operand in all products.
        wanted: Its rows and columns by the other operands.
        mended: The operand as an explanation makes it; None if there is no explanation.
    """
    at = int(np.argmax(np.count_nonzero(~whole(tile, wanted), axis=(1, 2))))
    held = np.stack((tile.rows[at], tile.columns[at]), axis=-1)
    if mended is not None:
        meant = np.stack((mended.rows[at], mended.columns[at]), axis=-1)
    else:
        rows, columns = common_rows(tile) if wanted.rows is None else wanted.rows, wanted.columns
        columns = common_columns(tile) if columns is None else columns
        lines = (rows[at][:, None], tile.rows[at]), (columns[at][None, :], tile.columns[at])
        parts: list[Integers] = [np.where(line < 0, own, line) for line, own in lines]
        meant = np.stack(parts, axis=-1)
    unknown = ~tile.known[at]
    held[unknown] = -1
    meant[unknown & (mended is None)] = -1
    return at, held, meant


def about_of(number: int, record: ProvenanceRecord) -> str:
    """The caption of the picture of a product's operand."""
    event = record.products[number]
    x, y, z = event.cta
    return f"CTA ({x}, {y}, {z}), warp {event.warp}: {PLACES}"


def of_runs(about: str, held: Integers, wanted: Integers, axes: tuple[str, str], name: str = "") -> Picture:
    """A picture in which equal consecutive rows are merged, and likewise columns.

    Args:
        about: As of `Picture`.
        held: (rows, columns) a number each.
        wanted: Likewise.
        axes: As of `Picture`.
        name: What the only row is called.
    """
    both = np.stack((held, wanted), axis=-1)
    rows, columns = _runs(both), _runs(both.swapaxes(0, 1))
    cells = both[np.ix_(rows[:-1], columns[:-1])]
    named = (name,) if name else _ranges(rows)
    return Picture(about, cells[..., :1], cells[..., 1:], named, _ranges(columns), axes=axes)


def _runs(lines: Integers) -> Integers:
    """The first line of each run of equal lines; last, the number of lines."""
    differs = (lines[1:] != lines[:-1]).any(axis=tuple(range(1, lines.ndim)))
    return np.concatenate(([0], np.flatnonzero(differs) + 1, [len(lines)])).astype(np.int64)


def _ranges(starts: Integers) -> tuple[str, ...]:
    """Each run as its first and last line."""
    bounds: list[int] = starts.tolist()
    return tuple(str(start) if stop == start + 1 else f"{start}-{stop - 1}" for start, stop in pairwise(bounds))
