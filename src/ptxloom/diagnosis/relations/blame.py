"""The line that loads elements that do not belong, or fails to load those that do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ptxloom.diagnosis.findings import source_of
from ptxloom.diagnosis.lines.ctas import term_of
from ptxloom.diagnosis.lines.deadends import kept_nodes, lost
from ptxloom.diagnosis.lines.guards import guard_of, rounded_down
from ptxloom.diagnosis.lines.loops import compares_with, ends_of
from ptxloom.diagnosis.lines.reached import kept_from
from ptxloom.diagnosis.lines.terms import Line, at_index, line_of
from ptxloom.diagnosis.model import Diagnosis
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.relations.names import of_moved, ranges

if TYPE_CHECKING:
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.relations.each_way import Odd
    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.links import Links
    from ptxloom.diagnosis.relations.patterns import Deviation
    from ptxloom.diagnosis.relations.source import Result, Source
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_PLAIN_STEPS = 2
_OF_ARRAY = ("leading-dimension", "order-exchanged")  # what the address in an array makes


Whose = tuple[str, str, str]
"""The law that is broken, the operand, and the array."""


class Accused(NamedTuple):
    """A result some of whose elements are computed from the wrong elements.

    Attributes:
        array: The array of these.
        leaves: Them, each once per result.
        ways: Them, once per path.
        links: How they should correspond to the results.
        differing: How they differ.
        result: The result.
    """

    array: TracedArray
    leaves: Leaves
    ways: Leaves
    links: Links
    differing: Deviation
    result: Result


def of_unstored(result: Result) -> Diagnosis:
    """Elements of a result that are never stored."""
    contents, _, record = result
    program = record.program
    stored = contents.stored_at.ravel()
    empty = np.flatnonzero(stored < 0)
    sites, counts = np.unique(stored[stored >= 0], return_counts=True)
    store = program.ops[int(sites[np.argmax(counts)])]
    detail = f"{contents.array.name} is never stored at {ranges(empty)}"
    if contents.stored_twice.any():
        twice = np.flatnonzero(contents.stored_twice)
        term = next((found for field in "xyz" if (found := term_of(store, field, program)) is not None), None)
        named = Named("stored-twice", f"{detail}, and more than once at {ranges(twice)}")
        line = Line(term or store, (store,))
    else:
        named, line = Named("not-copied", detail), Line(_kept_from_storing(store, result), (store,))
    return diagnosis_of(named, ("place", "d", contents.array.name), line, (len(empty), stored.size), record)


def _kept_from_storing(store: Op, result: Result) -> Op:
    """What prevents stores to places: the step of a loop if they are between others, else its test or a guard.

    If the test's bound is first divided, and so rounded down, that division is returned.
    """
    program, contents = result.record.program, result.contents
    ends = ends_of(store, [], program)
    lines = [empty_lines(contents.stored_at >= 0, axis) for axis in range(contents.stored_at.ndim)]
    if ends is not None and any(
        len(one) and not _is_end(one, contents.stored_at.shape[n]) for n, one in enumerate(lines)
    ):
        return ends.step
    guard = guard_of(store, program) or store
    return rounded_down(guard, program) or guard


def _is_end(lines: Integers, extent: int) -> bool:
    """Whether lines are the last ones."""
    return bool(lines[-1] == extent - 1 and lines[-1] - lines[0] == len(lines) - 1)


def empty_lines(stored: Truth, axis: int) -> Integers:
    """The lines along an axis in which nothing is stored."""
    others = tuple(n for n in range(stored.ndim) if n != axis)
    return np.flatnonzero(~stored.any(axis=others))


def of_strangers(accused: Accused) -> Diagnosis:
    """The diagnosis of elements that results are computed from but should not be."""
    leaves, differing, record = accused.leaves, accused.differing, accused.result.record
    extra = differing.extra if differing.extra.any() else differing.again
    named = of_moved(leaves, accused.links, extra)[0] if differing.extra.any() else _in_place_of(accused)
    key = int(accused.array.nbytes) + 1
    wrong = np.isin(accused.ways.result * key + accused.ways.element, (leaves.result * key + leaves.element)[extra])
    line = line_of(accused.ways.path, wrong, record, leaves_tile=named.cause in _OF_ARRAY)
    line = at_index(line, record)
    at = int(np.argmax(extra))
    detail = f"{named.detail}: {_example(accused, at)}"
    counted = (int(np.count_nonzero(extra)), len(extra))
    sure = accused.links.stated and named.steps <= _PLAIN_STEPS
    named = replace(named, detail=detail)
    return diagnosis_of(named, ("rows", "a", accused.array.name), line, counted, record, sure=sure)


def _in_place_of(accused: Accused) -> Named:
    """Name elements that are used twice while others are missing."""
    _, member = _missing_elements(accused)
    return Named("columns-shifted", f"{member} of {accused.array.name} are missing, and others replace them", 3)


def of_places(named: Named, result: Result) -> Diagnosis:
    """A result that is stored at other places than it should be."""
    contents, _, record = result
    stored = contents.stored_at.ravel()
    sites, counts = np.unique(stored[stored >= 0], return_counts=True)
    store = record.program.ops[int(sites[np.argmax(counts)])]
    counted = (int(np.count_nonzero(stored >= 0)), stored.size)
    return diagnosis_of(named, ("place", "d", contents.array.name), Line(store, (store,)), counted, record)


def of_odd(odd: Odd, source: Source, stored: Result) -> Diagnosis:
    """The diagnosis of a load whose elements are used at other places than those of other loads."""
    array, result = source.array, stored.array
    line = line_of(source.ways.path, odd.wrong, stored.record, leaves_tile=True)
    line = at_index(line, stored.record)
    at = int(np.argmax(odd.wrong))
    held = f"{array.name}{list(array.index(int(source.ways.element[at])))}"
    detail = f"{odd.named.detail}: {result.name}{list(result.index(int(source.ways.result[at])))} takes {held}"
    counted = (int(np.count_nonzero(odd.wrong)), len(odd.wrong))
    return diagnosis_of(replace(odd.named, detail=detail), ("rows", "a", array.name), line, counted, stored.record)


def of_missing(accused: Accused) -> tuple[Diagnosis, float]:
    """The diagnosis of missing elements, and the fraction of them that was loaded and computed with."""
    differing, record = accused.differing, accused.result.record
    elements, member = _missing_elements(accused)
    kept = kept_nodes(accused.result.contents.origins.ravel(), accused.result.nodes)
    gone = lost(accused.array.number, elements, kept, accused.result.nodes, record)
    leaves = accused.ways
    usual = _most(leaves.site[leaves.site >= 0])
    loads = [record.program.ops[site] for site in record.path(_most(leaves.path))[:1]]
    op = kept_from(loads[0], record) if loads else None
    if op is not None:
        pass
    elif gone.last is None and usual >= 0:
        ends = ends_of(record.program.ops[usual], loads, record.program)
        op = None if ends is None else ends.test if _is_tail(elements, accused) else ends.step
        whole = op is not None and ends is not None and op is ends.test and _is_whole(op, accused)
        op = loads[0] if loads and (op is None or whole or _come_again(accused)) else op
        if ends is not None and op is ends.test:
            op = rounded_down(ends.test, record.program) or ends.test
    elif gone.last is not None:
        op = gone.ends_at(record)
    guard = guard_of(record.program.ops[usual], record.program) if op is None and usual >= 0 else None
    chosen = op or guard or (loads[0] if loads else record.program.ops[max(usual, 0)])
    word = f"{member} of {accused.array.name} never come{'s' * (' ' not in member.partition(' ')[2])}"
    named = Named("k-missing", f"{word} to {_result_of(accused, int(differing.missing[0]))}")
    total = len(accused.leaves.result) + len(differing.missing)
    counted = (len(differing.missing), total)
    line = Line(chosen, tuple(loads))
    return diagnosis_of(named, ("once", "", accused.result.array.name), line, counted, record), gone.share


def _come_again(accused: Accused) -> bool:
    """Whether present elements are used again in place of the missing ones, often enough that the total is right."""
    leaves, differing = accused.leaves, accused.differing
    whole = differing.pattern.offsets.shape[1] * differing.results
    return bool((leaves.times > 1).all()) and not differing.again.any() and not int(leaves.times.sum()) % whole


def _is_whole(test: Op, accused: Accused) -> bool:
    """Whether a loop runs to the end of the axis: then its loads leave elements out, not the loop."""
    links = accused.links
    extent = links.shape[links.free[-1] if links.free else len(links.shape) - 1]
    return compares_with(test, extent, accused.result.record)


def of_twice(accused: Accused) -> Diagnosis:
    """The diagnosis of elements that a result uses more than once."""
    again, record = accused.differing.again, accused.result.record
    site = _most(accused.leaves.site[again & (accused.leaves.site >= 0)])
    op = record.program.ops[max(site, 0)]
    at = int(np.argmax(again))
    detail = f"some elements of {accused.array.name} are added twice: {_example(accused, at)}"
    named = Named("k-twice", detail)
    counted = (int(np.count_nonzero(again)), len(again))
    return diagnosis_of(named, ("once", "", accused.result.array.name), Line(op, (op,)), counted, record)


def _missing_elements(accused: Accused) -> tuple[Integers, str]:
    """The elements that are missing, and in words which members these are."""
    differing, links = accused.differing, accused.links
    offsets = differing.pattern.offsets[:, differing.lacking]
    index = links.base(differing.missing) + offsets
    elements = np.ravel_multi_index(tuple(index), links.shape)
    axis = links.free[-1] if links.free else len(links.shape) - 1
    word = "element" if len(links.shape) == 1 else "column" if axis == len(links.shape) - 1 else "row"
    lines = np.unique(index[axis])
    return np.asarray(elements, np.int64), f"{word}{'s' * (len(lines) > 1)} {ranges(lines)}"


def _is_tail(elements: Integers, accused: Accused) -> bool:
    """Whether what is missing is at the end of its axis."""
    links = accused.links
    axis = links.free[-1] if links.free else len(links.shape) - 1
    lines = np.unique(np.unravel_index(elements, links.shape)[axis])
    return bool(lines[-1] == links.shape[axis] - 1 and lines[-1] - lines[0] == len(lines) - 1)


def _most(values: Integers) -> int:
    """The most frequent of some numbers; -1 of none."""
    if not len(values):
        return -1
    different, counts = np.unique(values, return_counts=True)
    return int(different[np.argmax(counts)])


def _example(accused: Accused, at: int) -> str:
    leaves = accused.leaves
    source = f"{accused.array.name}{list(accused.array.index(int(leaves.element[at])))}"
    return f"{_result_of(accused, int(leaves.result[at]))} takes {source}"


def _result_of(accused: Accused, number: int) -> str:
    array = accused.result.array
    return f"{array.name}{list(array.index(number))}"


def diagnosis_of(
    named: Named, whose: Whose, line: Line, counted: tuple[int, int], record: ProvenanceRecord, *, sure: bool = False
) -> Diagnosis:
    """The diagnosis of an error that was named, at its line."""
    op: Op = line.op
    law, operand, array = whose
    lines = tuple(dict.fromkeys(one.line for one in (op, *line.concerned)))
    return Diagnosis(
        law, operand, array, named.cause, named.detail, sure and named.cause != "unknown", (), op.line, op.text,
        source_of(op, record), lines, *counted,
    )  # fmt: skip
