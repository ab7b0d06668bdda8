"""Where the wrong elements are: a block, every second row, a tile, a lane's elements, a tail."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.comparison.index_sets import in_words
from ptxloom.comparison.model import Pattern
from ptxloom.fragments import fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

_SHARE: Final = 0.9
"""How many elements of a place must differ for it to be named: others are right by chance."""
_TILES: Final = (8, 16, 32, 64, 128, 256)
_LANES: Final = 8  # how many may share in a pattern of lanes
_FEW_LANES: Final = 2  # beside a block or rows: four hold a row, eight a column
_SLOPES: Final = (
    ("above the diagonal", np.less),
    ("below the diagonal", np.greater),
    ("on the diagonal", np.equal),
    ("on and above the diagonal", np.less_equal),
    ("on and below the diagonal", np.greater_equal),
)


def places(wrong: Mask, grid: tuple[int, ...] = ()) -> tuple[Pattern, ...]:
    """The places that hold all elements that differ, and little else; the plainest first.

    Args:
        wrong: Which elements differ; at least one does.
        grid: The CTAs of the launch in x, y, z, if there was one.
    """
    product = _product(wrong)
    if product is not None:
        tile = _tile_of_grid(wrong, grid)
        if tile is not None:
            return (tile, *_lanes(wrong, _FEW_LANES))
        return (product, *_lanes(wrong, _FEW_LANES))
    return _lanes(wrong, _LANES) or _diagonal(wrong) or _tiled(wrong)


def _nouns(dimensions: int) -> tuple[str, ...]:
    """The noun for an index along each axis."""
    if dimensions == 1:
        return ("element",)
    return (*(f"slice of axis {axis}" for axis in range(dimensions - 2)), "row", "column")


def _product(wrong: Mask) -> Pattern | None:
    """Some numbers of each axis, in all their combinations."""
    axes = range(wrong.ndim)
    chosen: list[Mask] = [np.asarray(wrong.any(axis=tuple(a for a in axes if a != axis))) for axis in axes]
    whole = int(np.prod([int(c.sum()) for c in chosen], dtype=np.int64))
    count = int(wrong.sum())
    if count < _SHARE * whole:
        return None
    told = [in_words(c, noun) for c, noun in zip(chosen, _nouns(wrong.ndim), strict=True)]
    words = ", ".join(text for _, text in told if text)
    kinds = [kind for kind, text in told if text]
    if not words:
        share = "every element" if count == whole else f"{count:,} of all {whole:,} elements"
        return Pattern("everywhere", share)
    if "some" in kinds and count < 4:
        return None
    part = "" if count == whole else f" ({count:,} of these {whole:,} elements)"
    kind = next((k for k in ("tail", "periodic", "some") if k in kinds), "block")
    return Pattern("scattered" if kind == "some" else kind, words + part)


def _tile_of_grid(wrong: Mask, grid: tuple[int, ...]) -> Pattern | None:
    """A block that is one of those into which the launch's CTAs cut the array, if each has one."""
    if wrong.ndim != 2 or len(grid) < 2 or grid[0] * grid[1] < 2:
        return None
    rows, columns = (np.flatnonzero(wrong.any(axis=axis)) for axis in (1, 0))
    for down, across, block in ((grid[1], grid[0], "x across"), (grid[0], grid[1], "x down")):
        height, odd_rows = divmod(wrong.shape[0], down)
        width, odd_columns = divmod(wrong.shape[1], across)
        if odd_rows or odd_columns or not height or not width:
            continue
        row, column = int(rows[0]) // height, int(columns[0]) // width
        if int(rows[-1]) // height == row and int(columns[-1]) // width == column and wrong.sum() > height * width // 2:
            where = f"rows {row * height} to {(row + 1) * height - 1}, columns {column * width} to "
            x, y = (column, row) if block == "x across" else (row, column)
            whose = f"the tile of CTA ({x}, {y}, 0) if each has {height} x {width}, {block}"
            return Pattern("tiles", f"{where}{(column + 1) * width - 1}: {whose}")
    return None


@cache
def _holders() -> NDArray[Any]:
    """(16, 8): the lane that holds each element of a product's accumulators."""
    held = fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "d")
    lanes = np.zeros((held.rows, held.columns), np.intp)
    for element in held:
        lanes[element.row, element.column] = element.lane
    return lanes


def _lanes(wrong: Mask, most: int) -> tuple[Pattern, ...]:
    """The elements of a few lanes in each 16 x 8 accumulator with anything wrong."""
    lanes = _holders()
    tiles = _cut(wrong, *lanes.shape)
    if tiles is None:
        return ()
    touched = tiles[tiles.any(axis=(1, 2))]
    seen = touched.any(axis=0)
    held = np.unique(lanes[seen])
    if len(held) > most or touched.sum() < _SHARE * len(touched) * np.isin(lanes, held).sum():
        return ()
    every = "each" if len(touched) == len(tiles) else f"{len(touched):,} of the {len(tiles):,}"
    names = ", ".join(map(str, held.tolist()))
    who = f"lane {names} holds" if len(held) == 1 else f"lanes {names} hold"
    where = f"{every} 16 x 8 tile{'s' * (every != 'each')}"
    return (Pattern("lanes", f"what {who} of {where} of an mma's accumulators"),)


def _cut(wrong: Mask, height: int, width: int) -> Mask | None:
    """(tiles, height, width), if the last two axes are multiples."""
    if wrong.ndim < 2 or wrong.shape[-2] % height or wrong.shape[-1] % width or not wrong.size:
        return None
    rows, columns = wrong.shape[-2] // height, wrong.shape[-1] // width
    cut = wrong.reshape(-1, rows, height, columns, width).swapaxes(2, 3)
    whole: Mask = cut.reshape(-1, height, width)
    return whole


def _diagonal(wrong: Mask) -> tuple[Pattern, ...]:
    """One side of the diagonal of every matrix."""
    if wrong.ndim < 2:
        return ()
    row, column = np.ogrid[: wrong.shape[-2], : wrong.shape[-1]]
    count = int(wrong.sum())
    for words, compare in _SLOPES:
        side = np.broadcast_to(compare(row, column), wrong.shape)
        if not (wrong & ~side).any() and count >= _SHARE * int(side.sum()):
            return (Pattern("diagonal", f"the elements {words}"),)
    return ()


def _tiled(wrong: Mask) -> tuple[Pattern, ...]:
    """Whole tiles, whichever they are."""
    for size in reversed(_TILES):
        tiles = _cut(wrong, size, size)
        if tiles is None or len(tiles) < 2:
            continue
        counts = tiles.sum(axis=(1, 2))
        some = counts > 0
        if counts.sum() >= _SHARE * some.sum() * size * size:
            first = int(np.flatnonzero(some)[0])
            row, column = (n * size for n in divmod(first, wrong.shape[-1] // size))
            what = f"{int(some.sum()):,} of {len(tiles):,} tiles of {size} x {size}"
            return (Pattern("tiles", f"{what}, the first at row {row}, column {column}"),)
    return ()
