"""Which scale, or zero point, belongs to an element: that of its block; the shapes of arrays give the blocks' extents.

An array of scales has an element for each block of a matrix: for some rows and some columns, or for all of one of them.
Its shape gives the number of blocks along each axis; for a flat array, the layout is taken that most elements agree
with.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.origins.tiles import Integers, Truth

_LIKELY: Final = 0.5  # of the elements, that must be of their own block where an array may be read in several ways
_CAUSE: Final = "block-mismatch"


class Grid(NamedTuple):
    """How an array of scales covers a matrix.

    Attributes:
        down: The number of blocks along the rows.
        across: Likewise along the columns.
        by_rows: Whether the scales of one row of blocks are contiguous.
        extents: Rows and columns of the matrix.
    """

    down: int
    across: int
    by_rows: bool
    extents: tuple[int, int]

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows and columns of a block."""
        return -(-self.extents[0] // self.down), -(-self.extents[1] // self.across)

    def block(self, rows: Integers, columns: Integers) -> tuple[Integers, Integers]:
        """The row and the column of blocks of elements."""
        down, across = self.sizes
        return rows // down, columns // across

    def number(self, down: Integers, across: Integers) -> Integers:
        """The element of the array by row and column of blocks."""
        return down * self.across + across if self.by_rows else across * self.down + down

    def split(self, number: Integers) -> tuple[Integers, Integers]:
        """Row and column of blocks by the element of the array."""
        if self.by_rows:
            down, across = np.divmod(number, self.across)
        else:
            across, down = np.divmod(number, self.down)
        return down, across


class Matrix(NamedTuple):
    """A matrix whose elements have scales.

    Attributes:
        extents: Its rows and columns.
        words: The names of its axes, such as k and n.
    """

    extents: tuple[int, int]
    words: tuple[str, str]


class Scales(NamedTuple):
    """An array of scales.

    Attributes:
        shape: Its own.
        size: How many there are.
        per: The number of scales packed in a word.
    """

    shape: tuple[int, ...]
    size: int
    per: int = 1


class Asked(NamedTuple):
    """The verdict on scales.

    Attributes:
        right: Whether each scale is that of its block.
        named: The error, if it has a name.
        wrong: (elements,) which are wrong.
        wanted: (elements,) which scale belongs to each, if it is known.
    """

    right: bool
    named: Named | None
    wrong: Truth
    wanted: Integers | None = None


def asked(held: Integers, place: tuple[Integers, Integers], matrix: Matrix, scales: Scales) -> Asked:
    """Check that each element of a matrix uses the scale of its block.

    Args:
        held: (elements,) the scale that each uses.
        place: (elements,) its row, and its column.
        matrix: The matrix.
        scales: The array of scales.
    """
    rows, columns = place
    grids = list(_grids(scales.shape, scales.size, matrix.extents))
    shares = [np.count_nonzero(one.number(*one.block(rows, columns)) == held) / max(len(held), 1) for one in grids]
    nothing = np.zeros(len(held), np.bool_)
    if not grids:
        return Asked(right=False, named=None, wrong=nothing)
    best = int(np.argmax(shares))
    if not len(held) or shares[best] == 1:
        return Asked(right=True, named=None, wrong=nothing)
    for grid in grids if scales.per > 1 and len(scales.shape) > 1 else ():
        wanted = grid.number(*grid.block(rows, columns))
        if _is_elsewhere_in_words(held, wanted, scales.per):
            named = Named(_CAUSE, "each comes from the right word, but from another place in it")
            return Asked(right=False, named=named, wrong=wanted != held, wanted=wanted)
    names = [_named(grid, held, rows, columns, matrix.words) for grid in grids]
    ways = [number for number, one in enumerate(names) if one is not None]
    if not ways:
        return Asked(right=False, named=None, wrong=nothing)
    if names[best] is None:
        best = ways[0]
    said = len(grids) == 1 or (len(scales.shape) > 1 and len({grid[:3] for grid in grids}) == 1)
    said = said or (len(ways) == 1 and _is_plain(names[best], held, scales))
    named = names[best]
    if not (said or max(shares) >= _LIKELY):
        return Asked(right=False, named=None, wrong=nothing)
    wanted = grids[best].number(*grids[best].block(rows, columns))
    return Asked(right=False, named=named, wrong=wanted != held, wanted=wanted)


def _is_elsewhere_in_words(held: Integers, wanted: Integers, per: int) -> bool:
    """Whether each scale comes from the right word, but not from its place there, nor from one of another order.

    In an order of their own, which may be intended, each place would always correspond to the same other place.
    """
    if (held // per != wanted // per).any():
        return False
    pairs = np.unique(np.stack((held % per, wanted % per)), axis=1)
    return pairs.shape[1] > max(len(np.unique(pairs[0])), len(np.unique(pairs[1])))


def _is_plain(named: Named | None, held: Integers, scales: Scales) -> bool:
    """Whether an error that has a name in one layout alone is likely to be one.

    Some blocks have no element with their scale, or row and column are exchanged, or all is right along one of the two
    axes that the array has.
    """
    if named is None:
        return False
    one_axis = len(scales.shape) > 1 and named.cause == _CAUSE and named.steps == 1
    return one_axis or named.cause == "order-exchanged" or len(np.unique(held)) < scales.size


def _grids(shape: Sequence[int], size: int, extents: tuple[int, int]) -> Iterator[Grid]:
    """The ways in which an array of scales may cover a matrix."""
    if not size or not all(extents):
        return
    if len(shape) == 2 and prod(shape) == size and min(shape) > 1:
        for by_rows in (True, False):
            down, across = (shape[0], shape[1]) if by_rows else (shape[1], shape[0])
            if _fit(down, across, extents):
                yield Grid(down, across, by_rows, extents)
        return
    for down in range(1, min(size, extents[0]) + 1):
        if size % down or not _fit(down, size // down, extents):
            continue
        for by_rows in (True, False) if 1 < down < size else (True,):
            yield Grid(down, size // down, by_rows, extents)


def _fit(down: int, across: int, extents: tuple[int, int]) -> bool:
    """Whether a number of blocks covers a matrix, all of one extent except the last."""
    return all(
        0 < count <= extent and -(-extent // -(-extent // count)) == count
        for count, extent in zip((down, across), extents, strict=True)
    )


def _named(grid: Grid, held: Integers, rows: Integers, columns: Integers, words: tuple[str, str]) -> Named | None:
    """Name the error of wrong scales: another block along an axis, or another order of the blocks."""
    wanted = grid.block(rows, columns)
    turned = Grid(grid.across, grid.down, grid.by_rows, (grid.extents[1], grid.extents[0]))
    if min(grid[:2]) > 1 and (turned.number(*turned.block(columns, rows)) == held).all():
        return Named("order-exchanged", "the row and the column of the block are exchanged")
    found = grid.split(held)
    parts: list[str] = []
    for axis, (word, lines) in enumerate(zip(words, (rows, columns), strict=True)):
        if (found[axis] == wanted[axis]).all():
            continue
        text = _along(lines, found[axis], grid.sizes[axis], (grid.down, grid.across)[axis], word)
        if text is None:
            slow, fast = wanted if grid.by_rows else wanted[::-1]
            return pitched(held, (slow, fast), grid.across if grid.by_rows else grid.down)
        parts.append(text)
    return Named(_CAUSE, "; ".join(parts), len(parts)) if parts else None


def _along(lines: Integers, held: Integers, size: int, count: int, word: str) -> str | None:
    """The rule by which an axis selects blocks, in words; None if it depends on more than the line, or is complex."""
    different, first = np.unique(lines, return_index=True)
    by_line = np.full(int(different[-1]) + 1, -1, np.int64)
    by_line[different] = held[first]
    taken = by_line[different]
    if (by_line[lines] != held).any():
        return None
    rule = _rule(different, taken, (size, count), word)
    return rule and f"{rule} (blocks of {size} {word})"


def _rule(lines: Integers, taken: Integers, blocks: tuple[int, int], word: str) -> str | None:
    """The rule by which lines take blocks, given the lines of a block and the number of blocks.

    None if there is no simple rule.
    """
    size, count = blocks
    if len(np.unique(taken)) == 1:
        return f"block {int(taken[0])} of {count} along {word} is used for all"
    apart: list[int] = np.unique((taken - lines // size) % count).tolist()
    if len(apart) == 1:
        return f"the block that is {apart[0] - count * (2 * apart[0] > count):+d} along {word} is used"
    steps = np.diff(taken) % count
    turns = np.flatnonzero(steps)
    early = -(int(turns[0]) + 1) % size if len(turns) else 0
    if early and (taken == (lines + early) // size % count).all():
        return f"blocks begin {early} {word} too early"
    width = int(lines[turns[0] + 1]) if len(turns) else 0
    if width and (taken == lines // width % count).all():
        return f"blocks are taken to have {width} {word}"
    if (np.diff(taken) >= 0).all() or _repeats(lines, taken, size):
        return f"some {word} go with the block of others"
    return None


def _repeats(lines: Integers, taken: Integers, size: int) -> bool:
    """Whether each line uses the block of a line of the same group of 2, 4, ... lines, or of its tile.

    Or of a line whose number lacks one bit: of the upper half of a fragment's rows.
    """
    for bits in range(1, 8):
        group = 1 << bits
        others = (lines // group * group, lines % group, lines & ~(group >> 1))
        if any((taken == other // size).all() for other in others):
            return True
    return False


def pitched(held: Integers, wanted: tuple[Integers, Integers], pitch: int, what: str = "") -> Named | None:
    """Name the wrong pitch of rows of blocks, in scales; None if no pitch explains the error.

    Args:
        held: (elements,) the scale that each uses.
        wanted: (elements,) the slow and the fast number of its block.
        pitch: The pitch of rows of blocks.
        what: What is counted, if not scales.
    """
    slow, fast = wanted
    some = slow > 0
    if not some.any() or (held != fast)[~some].any():
        return None
    other, rest = np.divmod(held - fast, np.maximum(slow, 1))
    if rest[some].any() or len(np.unique(other[some])) > 1 or other[some][0] == pitch:
        return None
    apart = f"{int(other[some][0])} {what}".strip()
    return Named("leading-dimension", f"its rows are taken to be {apart} apart; they are {pitch}")
