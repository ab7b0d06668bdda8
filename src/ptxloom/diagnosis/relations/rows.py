"""The law of statistics: each combines all elements of the line that it normalises, and all of these share it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.arrays.left_open import numbers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.relations.source import Result
    from ptxloom.diagnosis.relations.statistics import Parts, Statistic
    from ptxloom.machine.results.provenance import TracedArray

_MOST: Final = 4096  # contents of a statistic that are looked at
_LIKELY: Final = 0.9  # of the lines, that are alike
_SOME: Final = 0.3  # of a line, whose windows are alike
_STEPS: Final = (2, 4, 8, 16)  # which lanes go together if a step between them is missing
MISSING, APART = "missing", "apart"


class Broken(NamedTuple):
    """A law that a statistic breaks.

    Attributes:
        what: `MISSING`: all of a line lack the same; `APART`: not all of a line have the same.
        statistic: Which.
        array: The array that it joins elements of.
        axis: The axis along which it does.
        result: A stored element that is computed from it.
        lacking: The elements of its line that are missing there.
        wrong: The number of stored elements concerned.
        total: The number checked.
    """

    what: str
    statistic: Statistic
    array: TracedArray
    axis: int
    result: int
    lacking: Integers
    wrong: int
    total: int


@dataclass(frozen=True, slots=True, eq=False)
class _Lines:
    """A statistic along one axis of an array.

    Attributes:
        statistic: Which.
        array: The array.
        axis: The axis.
        lines: (contents,) the line of each: the flat number of its element at 0 of the axis; -1: it has none.
        places: Of each content the places along the axis.
        times: Of each content how often each.
    """

    statistic: Statistic
    array: TracedArray
    axis: int
    lines: Integers
    places: tuple[Integers, ...]
    times: tuple[Integers, ...]

    @property
    def line_of(self) -> Integers:
        """(uses,) the line of each use."""
        return self.lines[self.statistic.content]


class _Own(NamedTuple):
    """The element of an array that each stored element is computed from beside statistics, if it is one.

    Attributes:
        line: (elements,) its line; -1: there is no such element, or several.
        place: (elements,) its place along the axis.
    """

    line: Integers
    place: Integers


def broken(parts: Parts, result: Result) -> Iterator[Broken]:
    """The laws that the statistics of a result break, for each array whose elements they join."""
    found = [one for statistic in parts.statistics for one in _lines_of(statistic, result)]
    for lines in found:
        own = _own(parts, lines, result)
        others = [one for one in found if one is not lines and (one.array, one.axis) == (lines.array, lines.axis)]
        incomplete = _incomplete(lines, own, others, numbers_of(result.record))
        if incomplete is not None:
            yield incomplete


def _lines_of(statistic: Statistic, result: Result) -> Iterator[_Lines]:
    leaves = statistic.leaves
    count = len(statistic.root)
    for array in result.record.arrays:
        own = leaves.chosen(leaves.array == array.number)
        if not len(own.result) or count > _MOST:
            continue
        index = np.stack(np.unravel_index(own.element, array.shape))
        starts = np.searchsorted(own.result, np.arange(count + 1))
        first = np.minimum(starts[:-1], len(own.result) - 1)
        varies = [bool((one != one[first][own.result]).any()) for one in index]
        if sum(varies) != 1:
            continue
        axis = varies.index(True)
        stride = int(np.prod(array.shape[axis + 1 :]))
        line = own.element - index[axis] * stride
        lines = np.where(np.diff(starts) > 0, line[first], -1)
        pieces = [slice(*pair) for pair in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)]
        order = tuple(np.argsort(index[axis][one], kind="stable") for one in pieces)
        places = tuple(index[axis][one][by] for one, by in zip(pieces, order, strict=True))
        times = tuple(own.times[one][by] for one, by in zip(pieces, order, strict=True))
        yield _Lines(statistic, array, axis, lines, places, times)


def _own(parts: Parts, lines: _Lines, result: Result) -> _Own:
    direct = parts.direct.chosen(parts.direct.array == lines.array.number)
    pairs = np.unique(np.stack((direct.result, direct.element)), axis=1)
    size = result.contents.stored_at.size
    count = np.bincount(pairs[0], minlength=size)
    line, place = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    stride = int(np.prod(lines.array.shape[lines.axis + 1 :]))
    index: Integers = pairs[1] // stride % lines.array.shape[lines.axis]
    line[pairs[0]], place[pairs[0]] = pairs[1] - index * stride, index
    line[count != 1] = -1
    return _Own(line, place)


class _Line(NamedTuple):
    """What is known of one line.

    Attributes:
        number: The line.
        uses: The uses of a statistic by elements of that line.
        contents: Their distinct contents.
        whole: The places that it should combine: all that any of its elements use.
    """

    number: int
    uses: Integers
    contents: Integers
    whole: Integers


def _incomplete(lines: _Lines, own: _Own, others: Sequence[_Lines], given: frozenset[int]) -> Broken | None:
    """A statistic that lacks elements of its line, which are normalised by it, or joined by another statistic."""
    each = [*_each_line(lines, own, others)]
    if not each:
        return None
    if any(len(one.contents) > 1 for one in each):
        return _apart(lines, own, each, given)
    lacking = [np.setdiff1d(one.whole, lines.places[int(one.contents[0])]) for one in each]
    first = next((n for n, one in enumerate(lacking) if len(one)), None)
    if first is None:
        return None
    alike = sum(np.array_equal(one, lacking[first]) for one in lacking)
    held = lines.places[int(each[first].contents[0])]
    is_start = held[0] == 0 and held[-1] == len(held) - 1
    if alike < _LIKELY * len(each) or (is_start and len(held) in given):
        return None
    wrong = sum(len(each[n].uses) for n, one in enumerate(lacking) if len(one))
    return _broken(MISSING, lines, each[first], lacking[first], (wrong, sum(len(one.uses) for one in each)))


def _broken(
    what: str, lines: _Lines, one: _Line, places: Integers, counted: tuple[int, int], *, use: int = 0
) -> Broken:
    stride = int(np.prod(lines.array.shape[lines.axis + 1 :]))
    result = int(lines.statistic.result[one.uses[use]])
    return Broken(what, lines.statistic, lines.array, lines.axis, result, one.number + places * stride, *counted)


def _each_line(lines: _Lines, own: _Own, others: Sequence[_Lines]) -> Iterator[_Line]:
    statistic = lines.statistic
    line = lines.line_of
    order = np.argsort(line, kind="stable")
    numbers, starts = np.unique(line[order], return_index=True)
    for number, uses in zip(numbers.tolist(), np.split(order, starts[1:]), strict=True):
        if number < 0:
            continue
        results = statistic.result[uses]
        direct = results[own.line[results] == number]
        contents = np.unique(statistic.content[uses])
        joining: list[int] = contents.tolist()
        held: Integers = np.unique(np.concatenate([lines.places[one] for one in joining]))
        more: list[Integers] = [held, own.place[direct]]
        for other in others:
            same = np.isin(other.statistic.result, results) & (other.line_of == number)
            theirs: list[int] = np.unique(other.statistic.content[same]).tolist()
            more += [
                one for one in map(other.places.__getitem__, theirs) if np.isin(held, one).all()
            ]  # two halves are each whole
        whole = np.unique(np.concatenate(more))
        yield _Line(number, uses, contents, whole)


def _apart(lines: _Lines, own: _Own, each: Sequence[_Line], given: frozenset[int]) -> Broken | None:
    """A statistic that varies within a line in a way that no group, window or prefix explains."""
    if len(each) < 2 or lines.statistic.is_extreme or not _are_alike(lines, own, each):
        return None
    first = each[0]
    odd = _odd(lines, own, first, given)
    if not odd or 2 * sum(odd) < len(odd):
        return None
    use = odd.index(True)
    lacking = np.setdiff1d(first.whole, lines.places[int(lines.statistic.content[first.uses[use]])])
    if not len(lacking):
        return None
    total = sum(len(one.uses) for one in each)
    return _broken(APART, lines, first, lacking, (sum(odd) * len(each), total), use=use)


def _are_alike(lines: _Lines, own: _Own, each: Sequence[_Line]) -> bool:
    """Whether the statistic varies in the same way along all lines, so that data do not decide what it combines."""
    statistic = lines.statistic
    found: list[bytes] = []
    for one in each:
        results = statistic.result[one.uses]
        place = own.place[results]
        if (own.line[results] != one.number).any() or len(np.unique(place)) < len(place):
            return False
        contents: list[int] = statistic.content[one.uses[np.argsort(place)]].tolist()
        found.append(b"".join(lines.places[n].tobytes() + lines.times[n].tobytes() for n in contents))
    return found.count(found[0]) >= _LIKELY * len(found)


def _odd(lines: _Lines, own: _Own, one: _Line, given: frozenset[int]) -> list[bool]:
    """The uses in a line that match no group, window or prefix of it; empty if all do."""
    used: list[int] = lines.statistic.content[one.uses].tolist()
    place: list[int] = own.place[lines.statistic.result[one.uses]].tolist()
    contents: list[int] = one.contents.tolist()
    several = [lines.places[n] for n in contents]
    if sum(map(len, several)) == len(np.unique(np.concatenate(several))):  # groups
        extent = lines.array.shape[lines.axis]
        return [] if _are_classes(several, given) else [_has_gaps(lines.places[n], extent) for n in used]
    pairs = [*zip(used, place, strict=True)]
    windows = Counter((lines.places[n] - at).tobytes() + lines.times[n].tobytes() for n, at in pairs)
    if max(windows.values()) > _SOME * len(used):
        return []
    return [_is_uneven(lines.places[n], lines.times[n], at) for n, at in pairs]


def _has_gaps(places: Integers, extent: int) -> bool:
    """Whether a statistic is of no stretch of its line, nor of one that goes on at the other end."""
    turned = int(places[0]) == 0 and int(places[-1]) == extent - 1
    return int(np.count_nonzero(np.diff(places) != 1)) > turned


def _is_uneven(places: Integers, times: Integers, own: int) -> bool:
    """Whether a statistic has some of its elements more often than others, beside the one that it normalises."""
    return len(np.unique(times[places != own])) > 1


def _are_classes(several: Sequence[Integers], given: frozenset[int]) -> bool:
    """Whether lines are of interleaved columns, as those of channels are: not where a step between lanes is missing."""
    steps = len(several)
    classes = all(len(np.unique(one % steps)) == 1 for one in several)
    return classes and (steps not in _STEPS or steps in given)
