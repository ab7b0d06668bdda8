"""The line because of which a statistic lacks elements of its row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.deadends import kept_nodes
from ptxloom.diagnosis.lines.guards import guard_of, rounded_down
from ptxloom.diagnosis.lines.loops import ends_of
from ptxloom.diagnosis.lines.terms import Line
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.relations.blame import diagnosis_of
from ptxloom.diagnosis.relations.names import ranges
from ptxloom.diagnosis.relations.rows import MISSING
from ptxloom.diagnosis.relations.statistics import joined
from ptxloom.isa.limits import LANES
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.machine.program.parts import parts_of
from ptxloom.meaning.moves import is_copy
from ptxloom.readings.effects import exchanges, loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.model import Diagnosis
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.diagnosis.relations.leaves import Values
    from ptxloom.diagnosis.relations.reductions import Reductions
    from ptxloom.diagnosis.relations.rows import Broken
    from ptxloom.diagnosis.relations.source import Result
    from ptxloom.machine.program.model import Op, Program

_MOST: Final = 1024  # values that are looked at


def of_broken(broken: Broken, result: Result, values: Values, reductions: Reductions) -> Diagnosis:
    """A diagnosis of a statistic that breaks a law."""
    record, array = result.record, broken.array
    store = f"{result.array.name}{list(result.array.index(broken.result))}"
    word = "maximum or minimum" if broken.statistic.is_extreme else "sum"
    counted = (broken.wrong, broken.total)
    last = record.program.ops[broken.statistic.site]
    lines = np.unravel_index(broken.lacking, array.shape)[broken.axis]
    one = "element" if len(array.shape) == 1 else "column" if broken.axis == len(array.shape) - 1 else "row"
    several = len(np.unique(lines)) > 1
    detail = f"{one}{'s' * several} {ranges(lines)} of {array.name} never reach{'es' * (not several)} the {word}"
    named = Named("k-missing", f"{detail} that {store} is computed from")
    op = _never_joined(broken, result, values, reductions) if broken.what == MISSING else last
    return diagnosis_of(named, ("once", "", result.array.name), Line(op, (last,)), counted, record)


def _never_joined(broken: Broken, result: Result, values: Values, reductions: Reductions) -> Op:
    """The instruction that keeps elements out of a statistic.

    It is the last instruction that combined them with others, if its result went no further; else the loop or the
    comparison that ends too early.
    """
    record, statistic = result.record, broken.statistic
    program = record.program
    lost = _lost(broken, result, values, reductions)
    if lost is not None:
        return lost
    leaves = statistic.leaves.chosen(statistic.leaves.array == broken.array.number)
    sites, counts = np.unique(leaves.site[leaves.site >= 0], return_counts=True)
    usual = program.ops[int(sites[np.argmax(counts)]) if len(sites) else statistic.site]
    paths, often = np.unique(leaves.path, return_counts=True)
    brought = [program.ops[site] for site in record.path(int(paths[np.argmax(often)]))[:1]]
    if _come_along(brought, broken.lacking, leaves.element):
        return usual
    ends = ends_of(usual, brought, program)
    lines = np.unravel_index(broken.lacking, broken.array.shape)[broken.axis]
    if ends is not None:
        is_tail = int(lines.max()) == broken.array.shape[broken.axis] - 1 and _is_stretch(lines)
        return (rounded_down(ends.test, program) or ends.test) if is_tail else ends.step
    guard = guard_of(usual, program)
    return (rounded_down(guard, program) or guard) if guard is not None else usual


def _come_along(brought: Sequence[Op], lacking: Integers, held: Integers) -> bool:
    """Whether each load of present elements also loads missing ones, at separate places of its vector."""
    parts = parts_of(brought[0]) if brought and loads(brought[0].node) else 1
    return parts > 1 and not np.isin(np.unique(lacking % parts), held % parts).any()


def _is_stretch(lines: Integers) -> bool:
    """Whether lines are consecutive."""
    found = np.unique(lines)
    return bool(found[-1] - found[0] == len(found) - 1)


def _lost(broken: Broken, result: Result, values: Values, reductions: Reductions) -> Op | None:
    """The last instruction that combined missing elements, or that dropped the partial results of whole warps."""
    program, statistic = result.record.program, broken.statistic
    kept = kept_nodes(result.contents.origins.ravel(), result.nodes)
    used = np.zeros(len(kept), np.bool_)
    used[values.codes[values.codes > 0]] = True
    kind = reductions.kind[statistic.root[0]]
    ends = np.flatnonzero(~kept & ~used & (reductions.kind == kind))
    if not len(ends):
        return None
    sites: list[int] = np.unique(values.sites[ends]).tolist()
    for site in reversed(sites):
        own = ends[values.sites[ends] == site]
        found = joined(own[:: -(-len(own) // _MOST)], values, reductions)
        if found is None:
            continue
        mine = (found.leaves.array == broken.array.number) & np.isin(found.leaves.element, broken.lacking)
        if not mine.any():
            continue
        op = program.ops[site]
        numbers = found.number[found.leaves.result[mine]]
        alike = np.flatnonzero(kept & (values.sites == site))
        if _joins_lanes(op, program):
            complete = bool((numbers % LANES == 0).all())
        else:
            others = joined(alike[:_MOST], values, reductions)
            complete = others is not None and bool(np.isin(numbers, others.number).all())
        taken = _taken_by(alike, values, reductions) if complete else None
        op = op if taken is None else program.ops[taken]
        ends_at = ends_of(op, [], program)
        return op if ends_at is None else ends_at.test
    return None


def _joins_lanes(op: Op, program: Program) -> bool:
    """Whether an instruction combines values of other lanes."""
    exchanged: set[str] = set()
    for one in program.ops:
        if one.function is op.function:
            moved = is_copy(one) and any(name.text in exchanged for _, name in names_read(one))
            if exchanges(one.node) or moved:
                exchanged |= {name.text for name, _ in destinations(one.node)}
    return any(name.text in exchanged for _, name in names_read(op))


def _taken_by(nodes: Integers, values: Values, reductions: Reductions) -> int | None:
    """The instruction that combines most of some values with others; None if none does."""
    inside = np.isin(values.codes, nodes) & reductions.through
    sites = values.sites[inside.any(axis=1)]
    sites = sites[~np.isin(sites, values.sites[nodes])]
    if not len(sites):
        return None
    different, counts = np.unique(sites, return_counts=True)
    return int(different[np.argmax(counts)])
