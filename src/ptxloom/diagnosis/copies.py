"""Copies and transpositions without a product: which element of another array each element of the result is.

The intention is declared (`Y = X.T`), or inferred from most elements: a copy, or a transposition. Then the result is
judged tile by tile, like the operands of products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.explanations import explanations
from ptxloom.diagnosis.origins.permutations import COPIED, SQUARES
from ptxloom.diagnosis.origins.tiles import Plane, Tile, Wanted, all_of, counted, whole
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.explanations import Explanation
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord, TracedArray

_MOST_ELSEWHERE: Final = 0.5  # of a copy: elements that are not of its source
_UNEXPLAINED: Final = 99  # steps
_UNLIKELY: Final = 5
_PLAIN: Final = frozenset(
    {
        "transposed",
        "matrices-exchanged",
        "swizzle-mismatch",
        "pitch-mismatch",
        "rows-rotated",
        "columns-rotated",
        "halves-exchanged",
        "order-exchanged",
        "tile-exchanged",
    }
)  # fmt: skip - what a kernel does only by mistake, whatever it is meant to do


class Copy(NamedTuple):
    """A result that is a copy, and wrong.

    Attributes:
        tile: The tiles that are wrong.
        wanted: What they should be.
        explained: The explanations there are.
        array: The array that is stored.
        paths: The paths of the wrong elements.
        rows: (tiles,) the row of the array in which each tile begins.
        columns: Likewise the column.
        stated: Whether the user declared what the kernel computes.
    """

    tile: Tile
    wanted: Wanted
    explained: tuple[Explanation, ...]
    array: TracedArray
    paths: Integers
    rows: Integers
    columns: Integers
    stated: bool


class Copied(NamedTuple):
    """A result that comes from another array, element by element.

    Attributes:
        contents: The array that is stored, and where its elements come from.
        judged: Whether it could be judged: it is, or should be, a copy or a transposition.
        wrong: What is wrong with it.
    """

    contents: Contents
    judged: bool
    wrong: Copy | None


def copied(record: ProvenanceRecord, expected: Expectation | None) -> Iterator[Copied]:
    """The arrays that are, or should be, copies of others."""
    for array in record.arrays:
        contents = record.contents(array.number)
        if len(array.shape) != 2 or not (contents.stored_at >= 0).any():
            continue
        source = _source(contents, record, expected)
        if source is not None:
            yield _judged(contents, source, expected)


def _source(contents: Contents, record: ProvenanceRecord, expected: Expectation | None) -> TracedArray | None:
    """The array that a result is a copy of: of the same size, and the origin of most elements."""
    origins = contents.origins
    copied = np.isin(origins["kind"], (Kind.EXACT, Kind.CONVERTED)) & (origins["array"] != contents.array.number)
    if np.count_nonzero(copied) < (1 - _MOST_ELSEWHERE) * copied.size or not copied.size:
        return None
    numbers = np.unique(origins["array"][copied])
    source = record.arrays[int(numbers[0])]
    alike = sorted(source.shape) == sorted(contents.array.shape)
    if len(numbers) > 1 or not alike:
        return None
    if expected is None:
        return source
    return source if expected.axes.keys() == {source.name, contents.array.name} else None


def _judged(contents: Contents, source: TracedArray, expected: Expectation | None) -> Copied:
    """The result read as a copy or as a transposition, whichever has fewer wrong elements."""
    tries: list[tuple[int, int, Copy]] = []
    for turned in (False, True):
        if expected is not None and turned != (expected.axes[source.name] == ("j", "i")):
            continue
        if contents.array.shape != (source.shape[::-1] if turned else source.shape):
            continue
        for size in SQUARES:
            if any(extent % size for extent in contents.array.shape):
                continue
            copy = _tiled(contents, source, size, turned=turned, stated=expected is not None)
            if copy is None:
                return Copied(contents, judged=True, wrong=None)
            named = copy.explained[0].named if copy.explained else None
            steps = _UNEXPLAINED if named is None else named.steps
            if not turned and named is not None and named.cause == "order-exchanged":
                steps += _UNLIKELY  # who transposes tiles means to transpose
            tries.append((steps, size, copy))
    if tries:
        copy = min(tries, key=lambda one: one[:2])[2]
        if copy.stated or (copy.explained and copy.explained[0].named.cause in _PLAIN):
            return Copied(contents, judged=True, wrong=copy)
    return Copied(contents, judged=False, wrong=None)


def _tiled(contents: Contents, source: TracedArray, size: int, *, turned: bool, stated: bool) -> Copy | None:
    """The result in square tiles; None if it is right."""
    origins = contents.origins
    known = np.isin(origins["kind"], (Kind.EXACT, Kind.CONVERTED)) & (origins["array"] == source.number)
    row, column = np.divmod(origins["element"].astype(np.int64), source.shape[1])
    held = (column, row) if turned else (row, column)
    down, right = (extent // size for extent in contents.array.shape)

    def cut(values: Integers) -> Integers:
        return values.reshape(down, size, right, size).transpose(0, 2, 1, 3).reshape(-1, size, size)

    bits = 8 * source.dtype.itemsize
    plane = Plane(source.number, source.shape[1], not turned, source.shape[0], bits)
    tile = Tile("copy", COPIED[size], plane, cut(held[0]), cut(held[1]), cut(known.astype(np.int64)) > 0)
    first_row, first_column = (np.repeat(np.arange(down), right), np.tile(np.arange(right), down))
    first_row, first_column = first_row * size, first_column * size
    wanted = Wanted(counted(first_row, size), counted(first_column, size))
    if whole(tile, wanted).all():
        return None
    paths = cut(origins["path"].astype(np.int64))
    explained = explanations(tile, wanted)
    wrong = ~all_of(whole(tile, wanted))
    if not explained and not wrong.all():
        tile, wanted, paths = tile.chosen(wrong), wanted.chosen(wrong), paths[wrong]
        first_row, first_column = first_row[wrong], first_column[wrong]
        explained = explanations(tile, wanted)
    bad = ~whole(tile, wanted) & tile.known
    return Copy(tile, wanted, explained, contents.array, paths[bad], first_row, first_column, stated)
