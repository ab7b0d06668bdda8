"""Wrong distances of rows: pitches of tiles, leading dimensions of arrays, exchanged orders.

The writer puts an element at `row * P + column` (relative to the tile's first element), but the reader takes it from
`row * Q + column`. So for any two elements of a product `P * dr + dc = Q * dr' + dc'`, with dr and dc of the elements
read, and dr' and dc' of the right ones: two unknowns, and one equation per element.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.origins.tiles import Integers, Tile

_MOST_PADDING_BITS: Final = 256  # that people add to rows in shared memory


def pitches(tile: Tile, slow: Integers, fast: Integers) -> Iterator[tuple[Named, bool]]:
    """The two pitches that explain every element, if there are any.

    Args:
        tile: The operand as it is.
        slow: (events, rows, columns) the slow index of each element as it should be.
        fast: Likewise the fast index.
    """
    first = tile.known.reshape(len(tile.known), -1).argmax(axis=1)
    held_slow, held_fast, wanted_slow, wanted_fast = (
        _apart(values, first)[tile.known] for values in (tile.slow, tile.fast, slow, fast)
    )
    own = tile.plane.pitch
    least = int(np.abs(held_fast).max(initial=0)), int(np.abs(wanted_fast).max(initial=0))
    found = _solved(held_slow, wanted_slow, wanted_fast - held_fast, own, least)
    if found is not None and found.held != found.wanted:
        yield from _rows_apart(tile, found, _start(tile, slow, fast, found))
        return
    turned = _solved(held_slow, wanted_fast, wanted_slow - held_fast, own, (least[0], int(wanted_slow.max(initial=0))))
    if turned is not None:
        detail = f"the fast and the slow index are exchanged: element (i, j) is sought at j * {turned.wanted} + i"
        flat = tile.slow * own + tile.fast == fast * turned.wanted + slow
        straight = turned.held == own and bool(flat[tile.known].all())
        yield Named("order-exchanged", detail, 4, distance=int(not straight)), straight


class _Pitches(NamedTuple):
    """Two pitches; `open` if other pairs with the same difference fit as well."""

    held: int
    wanted: int
    open: bool


def _rows_apart(tile: Tile, found: _Pitches, start: Integers | None) -> Iterator[tuple[Named, bool]]:
    """The names of two pitches of one order; `start` is the row from which each product's is counted."""
    if start is None:
        return
    writer, reader = found.held, found.wanted
    apart = f"{abs(reader - writer)} elements {'more' if reader > writer else 'fewer'}"
    if found.open:
        tiles = Named("pitch-mismatch", f"one side has rows of {apart} than the other")
    else:
        said = f"one side has rows of {writer} elements, the other of {reader}"
        tiles = Named("pitch-mismatch", said, pitches=(reader, writer))
    said = f"rows are taken to be {reader} elements apart; they are {writer}"
    whole = Named("leading-dimension", said, pitches=(reader, writer))
    if writer != tile.plane.pitch:
        yield tiles, True
    elif start.any():
        padding = 0 < (reader - writer) * tile.plane.unit_bits <= _MOST_PADDING_BITS
        yield from ((one, True) for one in ((tiles, whole) if padding else (whole, tiles)))
    else:
        yield whole, True


def _start(tile: Tile, slow: Integers, fast: Integers, found: _Pitches) -> Integers | None:
    """(events,) the slow index at which the tile in memory starts; None if there can be none."""
    writer, reader = found.held, found.wanted
    over = writer * tile.slow + tile.fast - reader * slow - fast
    most = np.where(tile.known, over, np.iinfo(np.int64).min).max(axis=(1, 2))
    lowest = np.where(tile.known, slow, np.iinfo(np.int64).max).min(axis=(1, 2))
    some = tile.known.any(axis=(1, 2))
    start, rest = np.divmod(most[some], writer - reader)
    return start if not rest.any() and (start >= 0).all() and (start <= lowest[some]).all() else None


def _different(*columns: Integers) -> Integers:
    """The distinct rows of some columns, sorted; packed in one number each if possible, which sorts faster."""
    lows = [int(column.min(initial=0)) for column in columns]
    spans = [int(column.max(initial=0)) - low + 1 for column, low in zip(columns, lows, strict=True)]
    if prod(spans) >= 1 << 63:
        return np.unique(np.stack(columns, axis=1), axis=0)
    keys = np.zeros(len(columns[0]), np.int64)
    for column, low, span in zip(columns, lows, spans, strict=True):
        keys = keys * span + (column - low)
    rest = np.unique(keys)
    found: list[Integers] = []
    for low, span in zip(reversed(lows), reversed(spans), strict=True):
        found.append(rest % span + low)
        rest = rest // span
    return np.stack(found[::-1], axis=1)


def _apart(values: Integers, first: Integers) -> Integers:
    """Each value minus that of its product's first known element."""
    flat = values.reshape(len(values), -1)
    return (flat - np.take_along_axis(flat, first[:, None], axis=1)).reshape(values.shape)


def _solved(left: Integers, right: Integers, rest: Integers, own: int, least: tuple[int, int]) -> _Pitches | None:
    """P and Q with P * left - Q * right = rest everywhere; P is the array's own, where that can be.

    Each must exceed its minimum: rows do not overlap.
    """
    lines = _different(left, right, rest)
    lines = lines[(lines != 0).any(axis=1)]
    if not len(lines) or not lines[:, 1].any():
        return None
    a, b, c = (lines[:, n] for n in range(3))
    at = int(np.argmax(b != 0))
    tries = [own]
    across = a[at] * b - a * b[at]  # not 0: independent of the first
    if across.any():
        other = int(np.argmax(across != 0))
        top = int(c[at] * b[other] - c[other] * b[at])
        bottom = int(a[at] * b[other] - a[other] * b[at])
        if top % bottom == 0:
            tries.append(top // bottom)
    for pitch in tries:
        top = int(pitch * a[at] - c[at])
        reader = top // int(b[at])
        fits = top % int(b[at]) == 0 and (pitch * a - reader * b == c).all()
        if fits and pitch > least[0] and reader > least[1]:
            return _Pitches(pitch, reader, not across.any())
    return None
