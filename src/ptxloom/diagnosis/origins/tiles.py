"""Where the elements of operands come from, as numbers to compute with: the operand of all products of one instruction.

Axes are those of the product: rows and columns of A are m and k, of B k and n, of D (and of its place in C) m and n.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.permutations import Square
    from ptxloom.isa.products import MatrixForm

Integers: TypeAlias = NDArray[np.int64]
Truth: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Plane:
    """How an array is read as a matrix.

    Attributes:
        array: Its number.
        pitch: Elements from one line to the next; 0 if it has only one line.
        slow_rows: Whether the slow index is the operand's row; else it is its column.
        lines: The number of lines of the array; 0 if unknown.
        unit_bits: Bits of an element of the operand in the array.
        stacked: Whether the array holds several matrices of `lines` lines, each numbered from 0.
        digits: If rows or columns of the array consist of several axes: for each axis the stride in memory, the extent,
            and the stride in the matrix, in row-major order.
        is_one_of_several: Whether other axes of the array would form a matrix of the same extents.
        axes: The axes of an array of more than two that is read as one matrix: of each the stride and the extent.
    """

    array: int
    pitch: int
    slow_rows: bool
    lines: int
    unit_bits: int
    stacked: bool = False
    digits: tuple[tuple[int, int, int], ...] = ()
    is_one_of_several: bool = False
    axes: tuple[tuple[int, int], ...] = ()

    def flat(self, offset: Integers) -> Integers:
        """The matrix index, line after line, of elements at these offsets; negative ones stay."""
        if not self.digits:
            return offset
        none = np.zeros_like(offset)
        place = sum((offset // apart % extent * weight for apart, extent, weight in self.digits), none)
        return np.where(offset < 0, offset, place)

    def offset(self, flat: Integers) -> Integers:
        """The array offsets of matrix indices: the inverse of `flat`."""
        if not self.digits:
            return flat
        return sum((flat // weight % extent * apart for apart, extent, weight in self.digits), np.zeros_like(flat))

    @property
    def counted(self) -> tuple[tuple[int, int, int], ...]:
        """The axes that lines consist of, as `digits`; empty if each is one axis."""
        return self.digits or tuple((apart, extent, apart) for apart, extent in self.axes)

    def split(self, offset: Integers) -> tuple[Integers, Integers]:
        """Rows and columns of elements at these offsets."""
        slow, fast = np.divmod(self.flat(offset), self.pitch)
        if self.stacked:
            slow %= self.lines
        return (slow, fast) if self.slow_rows else (fast, slow)

    @property
    def extents(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return (self.lines, self.pitch) if self.slow_rows else (self.pitch, self.lines)


@dataclass(frozen=True, slots=True, eq=False)
class Tile:
    """One operand of the products of one instruction, each element with its place in the array.

    Attributes:
        role: "a", "b" or "d" (its place in C); "copy" for elements that no product makes.
        form: The product, or the tile of a copy.
        plane: How its array is read.
        rows: (events, rows, columns) the row of the matrix that each element comes from.
        columns: Likewise its column.
        known: Likewise whether it comes from the array at all.
    """

    role: str
    form: MatrixForm | Square
    plane: Plane
    rows: Integers
    columns: Integers
    known: Truth

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the operand."""
        return int(self.rows.shape[1]), int(self.rows.shape[2])

    @property
    def slow(self) -> Integers:
        """The slow index in the array."""
        return self.rows if self.plane.slow_rows else self.columns

    @property
    def fast(self) -> Integers:
        """The fast index in the array: next to each other in memory."""
        return self.columns if self.plane.slow_rows else self.rows

    def moved(self, slow: Integers, fast: Integers) -> Tile:
        """The same places with other origins, by slow and fast index."""
        rows, columns = (slow, fast) if self.plane.slow_rows else (fast, slow)
        return replace(self, rows=rows, columns=columns)

    def permuted(self, order: NDArray[np.intp]) -> Tile:
        """Move each element to its place in `order`, (rows x columns,) flat places: the inverse of an exchange."""

        def put(values: NDArray[Any]) -> NDArray[Any]:
            flat = values.reshape(len(values), -1)
            found = np.empty_like(flat)
            found[:, order] = flat
            return found.reshape(values.shape)

        return replace(self, rows=put(self.rows), columns=put(self.columns), known=put(self.known))

    def chosen(self, events: Truth | NDArray[np.intp]) -> Tile:
        """Only some of the events."""
        return replace(self, rows=self.rows[events], columns=self.columns[events], known=self.known[events])


@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """The rows and columns of a tile by the other operands.

    Attributes:
        rows: (events, rows); None if unknown.
        columns: (events, columns); likewise.
    """

    rows: Integers | None
    columns: Integers | None

    def chosen(self, events: Truth | NDArray[np.intp]) -> Wanted:
        """Only of some events."""
        rows, columns = (None if v is None else v[events] for v in (self.rows, self.columns))
        return Wanted(rows, columns)


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A tile as it should be: its rows (events, rows) and columns (events, columns); -1: unknown."""

    rows: Integers
    columns: Integers

    def places(self, shape: tuple[int, ...]) -> tuple[Integers, Integers]:
        """(events, rows, columns) row and column of each element."""
        return np.broadcast_to(self.rows[:, :, None], shape), np.broadcast_to(self.columns[:, None, :], shape)


NOBODY = Wanted(None, None)
"""Initialise without other operands."""


def common_rows(tile: Tile) -> Integers:
    """(events, rows): the row that most of the known elements of each row come from, -1 if none is known."""
    return _common(tile.rows, tile.known, axis=2)


def common_columns(tile: Tile) -> Integers:
    """(events, columns): the column that most of the known elements of each column come from, -1 if none is known."""
    return _common(tile.columns, tile.known, axis=1)


def whole(tile: Tile, wanted: Wanted | Target = NOBODY) -> Truth:
    """(events, rows, columns): whether each element is in its row and column; true for places without an element.

    A row or column that the others do not determine must be uniform, whatever it is.
    """
    rows = common_rows(tile) if wanted.rows is None else wanted.rows
    columns = common_columns(tile) if wanted.columns is None else wanted.columns
    right = (_unsaid(rows)[:, :, None] | (tile.rows == rows[:, :, None])) & (
        _unsaid(columns)[:, None, :] | (tile.columns == columns[:, None, :])
    )
    return right | ~tile.known


def counted(first: Integers, count: int) -> Integers:
    """(events, count): one after the other, from the first of each event."""
    return np.add.outer(first, np.arange(count, dtype=np.int64))


def all_of(right: Truth) -> Truth:
    """(events,) whether all elements of a product are right."""
    return np.logical_and.reduce(right, axis=(1, 2))


def _unsaid(values: Integers) -> Truth:
    return values < 0


def _common(values: Integers, known: Truth, axis: int) -> Integers:
    """The most frequent known value along an axis."""
    highest: Integers = np.where(known, values, -1).max(axis=axis)
    lowest: Integers = np.where(known, values, np.iinfo(np.int64).max).min(axis=axis)
    if (highest <= lowest).all():  # all alike, or unknown: what it almost always is
        return np.maximum(highest, -1)
    ordered = np.sort(np.where(known, values, -1), axis=axis)
    ordered = np.moveaxis(ordered, axis, -1)
    size = ordered.shape[-1]
    best = ordered[..., -1].copy()
    most = np.zeros(best.shape, np.int64)
    run = np.ones(best.shape, np.int64)
    for place in range(size):
        if place:
            run = np.where(ordered[..., place] == ordered[..., place - 1], run + 1, 1)
        longer = (run > most) & (ordered[..., place] >= 0)
        best = np.where(longer, ordered[..., place], best)
        most = np.where(longer, run, most)
    return best
