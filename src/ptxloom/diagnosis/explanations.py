"""Which change explains a wrong operand: tried from the plainest on, each proved by undoing it.

An explanation is a change that takes the operand as it should be to the operand as it is. It holds if the operand, with
the change undone, obeys the laws in every element of every product: nothing less is an explanation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.moves import in_order, moves, rotation
from ptxloom.diagnosis.origins.permutations import Named, named_orders
from ptxloom.diagnosis.origins.tiles import Target, common_columns, common_rows, counted, whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.culprits import Culprit
    from ptxloom.diagnosis.origins.permutations import Order
    from ptxloom.diagnosis.origins.tiles import Integers, Tile, Wanted

_ROW_BITS: Final = 32  # of a key of row and column, those of the column


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """A change that explains every element of an operand.

    Attributes:
        named: The cause, in detail.
        repaired: The operand with the change undone.
        proved: Whether undoing it mends everything; otherwise it fits, as others may.
        culprit: The instruction to change, if the change names it.
    """

    named: Named
    repaired: Tile
    proved: bool = True
    culprit: Culprit | None = None


def explanations(tile: Tile, wanted: Wanted) -> tuple[Explanation, ...]:
    """The smallest changes that explain a tile: several, if they cannot be distinguished.

    Empty, if there is no such change.

    Args:
        tile: The operand as it is.
        wanted: Its rows and columns by the other operands.

    Returns:
        Explanations of the fewest steps, each proved.
    """
    rows, columns = should_be(tile, wanted)
    said = (rows >= 0)[:, :, None] & (columns >= 0)[:, None, :]
    judged = replace(tile, known=tile.known & said)
    target = Target(rows, columns)
    if whole(judged, target).all():
        return ()
    found = [
        one for one in (*_reordered(judged, target), *moves_of(judged, target)) if whole(one.repaired, target).all()
    ]
    fewest = min((one.named.steps for one in found), default=0)
    return tuple(one for one in found if one.named.steps == fewest)


def moves_of(tile: Tile, target: Target) -> Iterator[Explanation]:
    """Changes of index rather than of place."""
    for named, proved in moves(tile, target):
        yield Explanation(named, restored(tile, target), proved)


def should_be(tile: Tile, wanted: Wanted) -> tuple[Integers, Integers]:
    """The right rows and columns of the operand.

    If the other operands do not decide, consecutive from its first.
    """
    rows = _counted(tile, tile.rows, 1) if wanted.rows is None else wanted.rows
    columns = _counted(tile, tile.columns, 2) if wanted.columns is None else wanted.columns
    return rows, columns


def _counted(tile: Tile, values: Integers, axis: int) -> Integers:
    """Consecutive numbers from the first; unchanged where each line is uniform already."""
    common = common_rows(tile) if axis == 1 else common_columns(tile)
    spread = common[:, :, None] if axis == 1 else common[:, None, :]
    if ((values == spread) | ~tile.known).all():
        return common
    most = np.iinfo(np.int64).max
    first: Integers = np.where(tile.known, values, most).min(axis=(1, 2))
    return np.where((first == most)[:, None], -1, counted(first, values.shape[axis]))


def _reordered(tile: Tile, target: Target) -> Iterator[Explanation]:
    """Changes that exchange places of the operand, the same in each product."""
    order = common_order(tile, target)
    if order is None:
        yield from _elsewhere(tile, target)
        return
    known = order >= 0
    named = [(name, full) for name, full in named_orders(tile.form, tile.role) if (full == order)[known].all()]
    yield from (Explanation(name, tile.permuted(full)) for name, full in named)
    if named or not known.all() or len(set(order.tolist())) < len(order):
        return
    unnamed = _unnamed(order, *tile.shape)
    # Of which shape or operand such a layout is stays open: exchanged registers and transposed lanes are linear, too.
    yield Explanation(unnamed, tile.permuted(order), proved=unnamed.cause != "other-layout")


def common_order(tile: Tile, target: Target) -> Order | None:
    """The operand's element at each place (-1: unknown), if it is the same in each product."""
    row = _place_in(target.rows, tile.rows)
    column = _place_in(target.columns, tile.columns)
    flat = np.where((row >= 0) & (column >= 0), row * tile.shape[1] + column, -2)
    flat = np.where(tile.known, flat, -1).reshape(len(flat), -1)
    order = flat.max(axis=0)
    if (flat == -2).any() or not ((flat == order) | (flat == -1)).all():
        return None
    return order


def _place_in(lines: Integers, values: Integers) -> Integers:
    """Where in its product's list of lines each value stands, the last place of several; -1 if it does not."""
    low = min(int(lines.min(initial=0)), int(values.min(initial=0)))
    span = max(int(lines.max(initial=0)), int(values.max(initial=0))) - low + 1
    first = np.arange(len(lines), dtype=np.int64) * span - low  # so that each product's lines are numbers of its own
    keys = (lines + first[:, None]).ravel()
    by = np.argsort(keys, kind="stable")
    sought = values + first[:, None, None]
    at = np.searchsorted(keys, sought, side="right", sorter=by) - 1
    number = by[np.maximum(at, 0)]
    return np.where((at >= 0) & (keys[number] == sought), number % lines.shape[1], -1)


def _unnamed(order: Order, rows: int, columns: int) -> Named:
    """The name of an order that matches no instruction."""
    row, column = np.divmod(order.reshape(rows, columns), columns)
    if (column == np.arange(columns)).all() and (row == row[:, :1]).all():
        return _of_lines("row", row[:, 0])
    if (row == np.arange(rows)[:, None]).all() and (column == column[:1]).all():
        return _of_lines("column", column[0])
    if _is_linear(order):
        return Named("other-layout", "lanes and registers hold what they would of another shape or operand", 3)
    return Named("unknown", "its elements are in another order", 9)


def _of_lines(word: str, held: Integers) -> Named:
    """The name of an order of whole rows or columns: a rotation, if it is one."""
    turned = rotation(held)
    if turned is not None:
        distance, extent = turned
        return Named(f"{word}s-rotated", f"{word}s are rotated by {distance} within {extent}", distance=distance)
    return Named(f"{word}s-permuted", f"its {word}s are those of {in_order(held)}", 3)


def _elsewhere(tile: Tile, target: Target) -> Iterator[Explanation]:
    """The layout of another instruction that holds more than this operand; it is linear over XOR, too."""
    if not tile.known.all():
        return
    keys = (tile.rows << _ROW_BITS) + tile.columns
    flat = keys.reshape(len(keys), -1)
    turned = flat ^ flat[:, :1]
    if (turned == turned[0]).all() and len(np.unique(turned[0])) == turned.shape[1] and _is_linear(turned[0]):
        named = Named("other-layout", "lanes and registers hold what they would of another shape or operand", 6)
        yield Explanation(named, restored(tile, target), proved=False)


def restored(tile: Tile, target: Target) -> Tile:
    """The tile as it should be."""
    rows, columns = target.places(tile.rows.shape)
    return replace(tile, rows=rows, columns=columns)


def _is_linear(order: Order) -> bool:
    """Whether an element's index bits are XORs of its place's bits, as for lanes and registers of every shape."""
    size = len(order)
    if size & (size - 1):
        return False
    found = np.full(size, order[0])
    places = np.arange(size)
    bit = 1
    while bit < size:
        found ^= np.where(places & bit, order[bit] ^ order[0], 0)
        bit <<= 1
    return bool((found == order).all())
