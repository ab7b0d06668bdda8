"""Two modules held beside each other, function by function."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, Final

from ptxloom.difference.alignment import aligned
from ptxloom.difference.lines import lines_of
from ptxloom.difference.model import ELSEWHERE, Change, FunctionDifference, Hunk, ModuleDifference, Row
from ptxloom.difference.outside import module_facts, outside_names, paired_functions
from ptxloom.difference.weights import counted, sizes, weight_of
from ptxloom.survey import survey
from ptxloom.syntax.tree import Label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ptxloom.difference.lines import Line, LocalName
    from ptxloom.survey import FunctionSurvey
    from ptxloom.syntax import Module

_LOOKED_AT: Final = 16  # lines of the same shape among which one is looked for that stands elsewhere


def compare(a: Module, b: Module) -> ModuleDifference:
    """The differences of two modules, whatever the names of their registers, labels and variables.

    Comments, `.loc`, `.version`, debugging sections and the number of declared registers do not count.

    Example:
        >>> from ptxloom.syntax import parse
        >>> text = ".entry k() { .reg .b32 %r<3>; mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 1; ret; }"
        >>> compare(parse(text), parse(text.replace("%r", "%x"))).same
        True
        >>> found = compare(parse(text), parse(text.replace("%r1, 1;", "%r1, 2;")))
        >>> [str(row.change) for row in found.functions[0].hunks[0].rows]
        ['operands']
    """
    in_a = {one.function.name: one for one in survey(a).functions}
    in_b = {one.function.name: one for one in survey(b).functions}
    pairs = paired_functions(tuple(in_a.values()), tuple(in_b.values()))
    names = outside_names(a, b, pairs)
    return ModuleDifference(
        a,
        b,
        module_facts(a, b, names),
        tuple(_function(in_a[one], in_b[other], names) for one, other in pairs.items()),
        tuple(name for name in in_a if name not in pairs),
        tuple(name for name in in_b if name not in {*pairs.values()}),
    )


def _function(a: FunctionSurvey, b: FunctionSurvey, names: Mapping[str, str]) -> FunctionDifference:
    """Two functions beside each other."""
    first, second = lines_of(a.function, {}), lines_of(b.function, names)
    shapes = [line.shape for line in first], [line.shape for line in second]
    exact = [(line.shape, line.literals) for line in first], [(line.shape, line.literals) for line in second]
    alignment = aligned(*shapes, exact)
    renamed = _renaming([(first[i], second[j]) for i, j in alignment.pairs])
    rows = _with_moves(list(_rows(first, second, alignment.pairs, renamed)), renamed)
    hunks = _hunks(rows)
    counts = counted(first, second) + sizes(a, b)
    loops = None if not hunks or _shape(a) == _shape(b) else (a.loops, b.loops)
    changes = dict.fromkeys(Change, 0) | Counter(row.change for row in rows)
    return FunctionDifference(a, b, counts, _facts(a, b), loops, hunks, changes, alignment.whole)


def _shape(function: FunctionSurvey) -> list[tuple[int, int, int]]:
    return [(loop.depth, loop.blocks, loop.instructions) for loop in function.loops]


def _facts(a: FunctionSurvey, b: FunctionSurvey) -> tuple[tuple[str, str, str], ...]:
    """Declarations and directives of the functions themselves."""
    pairs = (
        ("kind", a.function.kind, b.function.kind),
        ("linkage", a.function.linkage, b.function.linkage),
        ("parameters", _parameters(a), _parameters(b)),
        ("directives", " ".join(a.limits), " ".join(b.limits)),
    )
    return tuple(pair for pair in pairs if pair[1] != pair[2])


def _parameters(function: FunctionSurvey) -> str:
    return ", ".join(map(_without_name, function.parameters))


def _without_name(parameter: str) -> str:
    """A parameter as it is declared, except for its name."""
    head, _, name = parameter.rpartition(" ")
    return head + name[name.find("[") :] if "[" in name else head


def _renaming(pairs: Sequence[tuple[Line, Line]]) -> dict[LocalName, LocalName]:
    """What names of the first function are called in the second: one for one, by most lines."""
    votes: Counter[tuple[LocalName, LocalName]] = Counter()
    for one, other in pairs:
        votes.update(zip(one.names, other.names, strict=True))
    found: dict[LocalName, LocalName] = {}
    taken: set[LocalName] = set()
    for (name, meant), _ in votes.most_common():
        if name not in found and meant not in taken:
            found[name] = meant
            taken.add(meant)
    return found


def _agree(one: Line, other: Line, renamed: Mapping[LocalName, LocalName]) -> bool:
    """Whether two lines of the same shape are equal."""
    return one.literals == other.literals and all(
        renamed.get(name) == meant for name, meant in zip(one.names, other.names, strict=True)
    )


def _rows(
    a: Sequence[Line],
    b: Sequence[Line],
    pairs: Sequence[tuple[int, int]],
    renamed: Mapping[LocalName, LocalName],
) -> Iterator[Row]:
    """All lines of both in their places: between two that belong together, those of the first come first."""
    i = j = 0
    for i_next, j_next in (*pairs, (len(a), len(b))):
        yield from (Row(Change.REMOVED, line, None) for line in a[i:i_next])
        yield from (Row(Change.ADDED, None, line) for line in b[j:j_next])
        if i_next < len(a) and j_next < len(b):
            one, other = a[i_next], b[j_next]
            yield Row(Change.SAME if _agree(one, other, renamed) else Change.OPERANDS, one, other)
        i, j = i_next + 1, j_next + 1


def _with_moves(rows: list[Row], renamed: Mapping[LocalName, LocalName]) -> list[Row]:
    """The rows, those marked whose line the other function has elsewhere."""
    added: defaultdict[tuple[object, ...], list[tuple[int, Line]]] = defaultdict(list)
    for number, row in enumerate(rows):
        if row.change is Change.ADDED and row.b is not None:
            added[row.b.shape, row.b.literals].append((number, row.b))
    for number, row in enumerate(rows):
        if row.change is not Change.REMOVED or row.a is None:
            continue
        waiting = added[row.a.shape, row.a.literals]
        there = next((at for at in waiting[:_LOOKED_AT] if _may_be(row.a, at[1], renamed)), None)
        if there is not None:
            waiting.remove(there)
            rows[number] = Row(Change.MOVED, row.a, None)
            rows[there[0]] = Row(Change.MOVED, None, there[1])
    return rows


def _may_be(one: Line, other: Line, renamed: Mapping[LocalName, LocalName]) -> bool:
    """Whether a line stands elsewhere in the other function, as far as its names are known there."""
    return all(renamed.get(name, meant) == meant for name, meant in zip(one.names, other.names, strict=True))


def _hunks(rows: Sequence[Row]) -> tuple[Hunk, ...]:
    """Neighbouring rows that differ, the weightiest first."""
    found: list[Hunk] = []
    label = ""
    same: Callable[[Row], bool] = lambda row: row.change is Change.SAME  # noqa: E731 - names what is grouped by
    for is_same, group in groupby(rows, same):
        inside = tuple(group)
        if not is_same:
            found.append(Hunk(inside, min(map(_weight, inside)), label))
        for row in inside:
            if row.a is not None and isinstance(row.a.node, Label):
                label = row.a.node.name
    return tuple(sorted(found, key=lambda hunk: hunk.weight))


def _weight(row: Row) -> int:
    line = row.a if row.a is not None else row.b
    return ELSEWHERE if row.change is Change.MOVED or line is None else weight_of(line)
