"""Addends after the products of a sum: a vector belongs at m or at n, a matrix at (m, n), each once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.tallies import by_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.pictures import Picture
    from ptxloom.diagnosis.sums.joined import Joined
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_LIKELY: Final = 0.5  # the share of added elements that must be in the right place
_SOME: Final = 1 / 16  # of a vector that has as many elements as one axis, and not as the other


class Wrong(NamedTuple):
    """An addend in the wrong place, or added twice.

    Attributes:
        law: Which law is broken.
        named: The cause.
        paths: The paths of the wrong addends.
        wrongs: Their number.
        total: The number of addends.
        picture: The addends as they are, and as they should be; None if it is not drawn.
    """

    law: str
    named: Named
    paths: Integers
    wrongs: int
    total: int
    picture: Picture | None = None


class Added(NamedTuple):
    """The verdict on addends.

    Attributes:
        judged: (elements,) of the result: whether all addends of each were judged.
        broken: The errors: the array that is added, and what is wrong.
    """

    judged: Truth
    broken: tuple[tuple[TracedArray, Wrong], ...]


def added(
    terms: Terms, record: ProvenanceRecord, result: TracedArray, *, stated: bool, known: frozenset[int] = frozenset(),
    beyond: Joined | None = None,
) -> Added:  # fmt: skip
    """Check the laws for everything that is added to the elements of an array.

    Args:
        terms: The terms of their sums.
        record: Knows the arrays.
        result: The array.
        stated: Whether the user declared what is computed: then a vector is added to each row, as in NumPy.
        known: Arrays of scales that have been judged.
        beyond: Elements joined to results of products that are not sums, which are judged instead.
    """
    judged = np.ones(len(terms.whole), np.bool_)
    found: list[tuple[TracedArray, Wrong]] = []
    linear = ((terms.added, terms.addends, True), (terms.scaled, terms.scales, False))
    for places, origins, once in linear if beyond is None else ((beyond.places, beyond.origins, False),):
        numbers: list[int] = np.unique(origins["array"]).tolist()
        for number in numbers:
            if number < 0:  # a variable of the module
                judged[places[origins["array"] < 0]] = False
                continue
            if not once and number in known:
                continue
            array = record.arrays[number]
            own = np.flatnonzero(origins["array"] == number)
            if not once and math.prod(array.shape) == 1:
                continue
            joins = beyond is not None or terms.multiplied[places[own]].all()
            elements = origins["element"][own]
            joins = joins and (not once or 2 * len(np.unique(places[own])) > _different(places[own], elements))
            wanted = _wanted(array, result, places[own], elements, stated=stated) if joins else None
            if wanted is None:
                judged[places[own]] = False
                continue
            standing = _Standing(array, result, places[own], elements, wanted)
            found += [(array, one) for one in _broken(standing, origins["path"][own].astype(np.int64), once=once)]
    return Added(judged, tuple(found))


def _wanted(
    array: TracedArray, result: TracedArray, places: Integers, elements: Integers, *, stated: bool
) -> Integers | None:
    """Which element should be added to each place, by the shapes; None if neither these nor most elements decide."""
    index = np.unravel_index(places, result.shape)
    if len(result.shape) != 2 or not len(places):
        return None
    row, column = index
    rows, columns = result.shape
    tries: list[Integers] = []
    if array.shape == result.shape:
        tries.append(places)
    if array.shape == (columns, rows) and rows != columns:
        tries.append(column * rows + row)
    size = int(np.prod(array.shape))
    if size == columns:
        tries.append(column)
    if size == rows and (rows != columns or not stated):
        tries.append(row)
    if not tries:
        return None
    best = max(tries, key=lambda wanted: int(np.count_nonzero(wanted == elements)))
    share = np.count_nonzero(best == elements) / len(elements)
    other_axis = (rows != columns or stated) and any((elements == one % size).all() for one in index)
    turned = array.shape == result.shape and any((elements == column * one + row).all() for one in result.shape)
    turned = turned or (array.shape == result.shape and _pitch_of(elements, row, column) is not None)
    once_each = len(np.unique(places)) == len(places)
    open_ = rows == columns == size and not stated and share == 1 and (row == elements).all()  # which was meant?
    alone = once_each and size in {rows, columns} and rows != columns and share >= _SOME  # a vector of one axis alone
    return None if open_ or not (share >= _LIKELY or other_axis or turned or alone) else best


def _pitch_of(elements: Integers, row: Integers, column: Integers) -> int | None:
    """The pitch with which an array's rows are read, if it explains all its elements; else None."""
    below = row > 0
    if not below.any() or (elements != column)[~below].any():
        return None
    pitch, rest = np.divmod((elements - column)[below], row[below])
    return int(pitch[0]) if not rest.any() and (pitch == pitch[0]).all() and pitch[0] > 0 else None


class _Standing(NamedTuple):
    """An array that is added: the places in the result, the elements added there, and the right ones."""

    array: TracedArray
    result: TracedArray
    places: Integers
    held: Integers
    wanted: Integers


def _broken(standing: _Standing, paths: Integers, *, once: bool) -> Iterator[Wrong]:
    """The errors of one array that is added, or scales; `paths` are those of its elements."""
    wrong = standing.held != standing.wanted
    if wrong.any():
        about = f"by row and column the element of {standing.array.name} that is added, as it is | as it should be"
        place = np.unravel_index(standing.places, standing.result.shape)
        picture = by_place(about, place, (standing.held, standing.wanted))
        facts = ("place", _named(standing, wrong), paths[wrong], int(np.count_nonzero(wrong)), len(wrong))
        yield Wrong(*facts, picture)
        return
    different, times = np.unique(standing.places, return_counts=True)
    if once and (times > 1).any():
        again = np.isin(standing.places, different[times > 1])
        count = int(np.count_nonzero(times > 1))
        named = Named("added-twice", f"{count:,} elements have it added more than once")
        about = f"by row and column how often {standing.array.name} is added, as it is | as it should be"
        picture = by_place(about, np.unravel_index(different, standing.result.shape), (times, np.ones_like(times)))
        yield Wrong("once", named, paths[again], count, len(different), picture)


def _different(places: Integers, elements: Integers) -> int:
    """How many elements are added where, if one that is added to a place again counts once."""
    return len(np.unique(np.stack((places, elements), axis=1), axis=0))


def _named(standing: _Standing, wrong: Truth) -> Named:
    array, result = standing.array, standing.result
    held, wanted = standing.held[wrong], standing.wanted[wrong]
    row, column = np.unravel_index(standing.places[wrong], result.shape)
    if len(array.shape) == 1:
        other = row if (wanted == column).all() else column
        if (held == other % array.shape[0]).all():
            axes = ("row", "column") if (wanted == column).all() else ("column", "row")
            return Named("order-exchanged", f"it is taken at the {axes[0]}, not at the {axes[1]}")
    elif len(array.shape) == 2:
        down, right = (
            own - other
            for own, other in zip(*(np.unravel_index(one, array.shape) for one in (held, wanted)), strict=True)
        )
        if (held == column * result.shape[0] + row).all():
            return Named("order-exchanged", "row and column are exchanged")
        pitch = _pitch_of(standing.held, *np.unravel_index(standing.places, result.shape))
        if pitch is not None and array.shape == result.shape:
            return Named("leading-dimension", f"its rows are taken to be {pitch} apart; they are {array.shape[1]}")
        for word, apart, across in (("row", down, right), ("column", right, down)):
            if not across.any() and len(np.unique(apart)) == 1:
                return Named(f"{word}s-shifted", f"some are shifted by {int(apart[0]):+d} {word}s", 2)
    apart = np.unique(held - wanted)
    if len(apart) == 1:
        return Named("columns-shifted", f"some are shifted by {int(apart[0]):+d}", 2)
    return Named("unknown", "another element is added than the one that belongs there", 9)
