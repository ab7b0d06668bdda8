"""`pl.diagnose`: the laws asked of a run, and what is broken brought back to the lines that break it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ptxloom.diagnosis.copies import Copy, wrong_copies
from ptxloom.diagnosis.coverage import Coverage
from ptxloom.diagnosis.culprits import culprit
from ptxloom.diagnosis.evidence import gather
from ptxloom.diagnosis.expectation import expectation
from ptxloom.diagnosis.factors import Unstored, with_factor
from ptxloom.diagnosis.laws import Suspect, suspects
from ptxloom.diagnosis.model import Diagnosis, Picture
from ptxloom.diagnosis.permutations import Named
from ptxloom.diagnosis.readings import readings_of
from ptxloom.diagnosis.tiles import whole
from ptxloom.diagnosis.totals import Total, every_k_once, nibbles_unshifted, other_arrays, stored_twice, tail_not_masked
from ptxloom.diagnostics import must_be
from ptxloom.machine.results.provenance import ProvenanceRecord
from ptxloom.syntax.origins import Origins

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ptxloom.diagnosis.evidence import SiteEvidence
    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.readings import Reading
    from ptxloom.diagnosis.stacks import Stack
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import TracedArray
    from ptxloom.syntax.origins import SourceLine

_MOST_DETAILS = 3
_PLAIN_STEPS = 3
_UNKNOWN = Named("unknown", "no single change explains it", 9)
_MOST_UNEXPLAINED = 0.5  # of elements: where more break a law for no reason that is found, the law may not apply
_SAYS_MORE = frozenset({"leading-dimension", "order-exchanged", "pitch-mismatch", "swizzle-mismatch"})  # than "twice"


def diagnose(
    record: ProvenanceRecord, expected: str | None = None, *, names: Mapping[int, str] | None = None
) -> tuple[Diagnosis, ...]:
    """Why a result is wrong, as far as where its elements came from can tell.

    Args:
        record: `LaunchResult.provenance` of a launch with `provenance=True`.
        expected: What the kernel computes, such as `C = A @ B.T`; left out, the laws that need no reference are asked.
        names: What arrays are called in `expected` and in what is said, by the places of their parameters; by default
            as the parameters are.

    Returns:
        A diagnosis for each cause, those first that are certain; none if no law is broken.

    Raises:
        UsageError: `expected` is said in another way, or `record` is not of a launch with provenance.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry k() { ret; }"), "k")
        >>> diagnose(k.launch(grid=1, block=32, provenance=True).provenance)
        ()
    """
    must_be(ProvenanceRecord, "record", record, "the `provenance` of a launch with `provenance=True`")
    said = expectation(expected) if expected is not None else None
    if names:
        renamed = (
            replace(a, name=names.get(-1 if a.parameter is None else a.parameter, a.name)) for a in record.arrays
        )
        record = replace(record, arrays=tuple(renamed))
    sites = gather(record)
    found: list[Diagnosis] = []
    used = frozenset(stack.array for site in sites for stack in (site.a, site.b) if stack is not None)
    run = _Run(record, record.arrays, said, used)
    results: list[Unstored] = []
    for group in _groups(sites):
        if any(site.made for site in group):
            continue
        verdict = _of_group(group, run, whole_chains=_whole_chains(group, sites))
        found += verdict.found
        if verdict.reading is not None and not verdict.found:
            result = Unstored.of(group, verdict.reading, run.arrays)
            run, results = run.knowing(result), [*results, result]
    for group in _groups(sites):
        if any(site.made for site in group):
            found += _of_made(group, results, run, whole_chains=_whole_chains(group, sites))
    if not sites:
        found += [_of_copy(copy, record) for copy in wrong_copies(record, said)]
    return tuple(sorted(found, key=_rank))


def _rank(one: Diagnosis) -> tuple[bool, bool, bool, int]:
    return one.cause == "unknown", not one.certain, bool(one.others), one.line


class _Run(NamedTuple):
    """What is judged.

    Attributes:
        record: Where everything came from.
        arrays: The record's, and after them matrices that no memory holds.
        said: What is computed.
        used: The arrays that are multiplied.
    """

    record: ProvenanceRecord
    arrays: tuple[TracedArray, ...]
    said: Expectation | None
    used: frozenset[int]

    def knowing(self, result: Unstored) -> _Run:
        """The same, with one matrix more."""
        return self._replace(arrays=(*self.arrays, result.array))


class _Verdict(NamedTuple):
    """What is wrong with the products of the same arrays.

    Attributes:
        found: What is.
        reading: How their arrays were read; None if they were not.
        explained: Whether a plain change mends it, or nothing is to be mended.
    """

    found: list[Diagnosis]
    reading: Reading | None = None
    explained: bool = True


def _of_made(
    group: tuple[SiteEvidence, ...], results: Sequence[Unstored], run: _Run, *, whole_chains: bool
) -> list[Diagnosis]:
    """What is wrong with products of which a factor comes from no array: it may be made of what others give."""
    for result in results:
        made = tuple(with_factor(site, result) for site in group)
        if all(one.a is not None and one.b is not None for one in made):
            verdict = _of_group(made, run, whole_chains=False)  # what is masked is never multiplied
            if verdict.reading is not None and verdict.explained:
                return verdict.found
    return _of_group(group, run, whole_chains=whole_chains).found


def _of_group(group: tuple[SiteEvidence, ...], run: _Run, *, whole_chains: bool) -> _Verdict:
    """What is wrong with the products of the same arrays."""
    record = run.record
    exchanged = list(other_arrays(group, record, run.used, run.said)) or list(nibbles_unshifted(group, record))
    if exchanged:
        return _Verdict([_of_total(one, run) for one in exchanged])
    judged = [
        (*_judged(group, reading, record, whole_chains), reading)
        for reading in readings_of(group, run.arrays, run.said)
    ]
    if not judged:
        return _Verdict([])
    broken, totals, reading = min(judged, key=_complexity)
    found = [*_merged(broken, run), *(_of_total(one, run) for one in totals)]
    explained = bool(totals) or not broken or any(map(_is_explained, broken))
    if run.said is None and not explained and _share(found) > _MOST_UNEXPLAINED:
        return _Verdict([])  # no product of plain matrices, as far as anybody can tell
    return _Verdict(found, reading, explained)


def _is_explained(suspect: Suspect) -> bool:
    """Whether a plain change has been found, and leaves nothing open."""
    return any(one.proved and one.named.steps <= _PLAIN_STEPS for one in suspect.explained)


def _share(found: Sequence[Diagnosis]) -> float:
    """The part of the elements that are wrong."""
    return max((one.wrong / max(one.total, 1) for one in found), default=0.0)


def _judged(
    group: tuple[SiteEvidence, ...], reading: Reading, record: ProvenanceRecord, whole_chains: bool
) -> tuple[list[Suspect], list[Total]]:
    """The operands and the laws of the whole that are wrong under a reading."""
    coverage = Coverage(group, reading)
    broken = [suspect for site in group for suspect in suspects(site, reading, coverage)]
    if broken and (tails := list(tail_not_masked(group, reading, coverage))):
        return [], tails
    totals = list(stored_twice(group, broken, coverage, record))
    if totals:
        telling = [s for s in broken if s.tile.role == "d" and _first(s).cause in _SAYS_MORE]
        broken = [s for s in broken if s.tile.role != "d"] + telling
        totals = [] if telling and not totals[0].certain else totals
    if not broken and not totals:
        totals = list(every_k_once(group, reading, coverage, whole_chains=whole_chains))
    return broken, totals


def _complexity(judged: tuple[list[Suspect], list[Total], Reading]) -> tuple[int, int]:
    """How much is to be believed under a reading: the steps of the worst operand, and how many are wrong."""
    broken, totals, _ = judged
    steps = [_first(s).steps + (not s.sure) for s in broken]
    return max(steps, default=0) + 2 * len(totals), len(steps) + len(totals)


def _whole_chains(group: tuple[SiteEvidence, ...], sites: tuple[SiteEvidence, ...]) -> bool:
    """Whether all that adds to the group's results belongs to it."""
    own = np.unique(np.concatenate([site.chain for site in group]))
    others = [site.chain for site in sites if site not in group]
    return not others or not np.isin(np.concatenate(others), own).any()


def _groups(sites: Iterable[SiteEvidence]) -> Iterable[tuple[SiteEvidence, ...]]:
    """Instructions that multiply the same arrays in the same form."""
    groups: defaultdict[tuple[Any, ...], list[SiteEvidence]] = defaultdict(list)
    for site in sites:
        arrays = tuple((stack.role, stack.array, stack.unit_bits) for stack in site.stacks)
        groups[site.form.shape, arrays].append(site)
    return map(tuple, groups.values())


def _merged(broken: Sequence[Suspect], run: _Run) -> list[Diagnosis]:
    """One diagnosis for what one change explains."""
    by_cause: defaultdict[tuple[str, str], list[Suspect]] = defaultdict(list)
    for suspect in broken:
        by_cause[suspect.tile.role, _first(suspect).cause].append(suspect)
    return [_diagnosis(group, run) for group in by_cause.values()]


def _first(suspect: Suspect) -> Named:
    if suspect.explained:
        return suspect.explained[0].named
    return _UNKNOWN


def _diagnosis(group: Sequence[Suspect], run: _Run) -> Diagnosis:
    record = run.record
    first = group[0]
    named, role = _first(first), first.tile.role
    wrong = [~whole(s.tile, s.wanted) & s.tile.known for s in group]
    paths = np.concatenate([_stack(s).path[s.events][bad] for s, bad in zip(group, wrong, strict=True)])
    products = [record.program.ops[s.evidence.site] for s in group]
    found = culprit(named, role, paths, products, record, ops=record.program.ops)
    others = {e.named.cause for s in group for e in s.explained} - {named.cause}
    proved = all(e.proved for s in group for e in s.explained)
    certain = bool(first.explained) and proved and not others and all(s.sure for s in group)
    return Diagnosis(
        first.law,
        role,
        run.arrays[_stack(first).array].name,
        found.cause,
        _details(group),
        certain,
        tuple(sorted(others)),
        found.op.line,
        found.op.text,
        _origin(found.op, record),
        tuple(dict.fromkeys(op.line for op in found.concerned)),
        sum(int(np.count_nonzero(bad)) for bad in wrong),
        sum(int(np.count_nonzero(s.tile.known)) for s in group),
        found.repair,
        _picture(first, record),
    )


def _details(group: Sequence[Suspect]) -> str:
    """What exactly, of each of several instructions."""
    details = list(dict.fromkeys(_first(suspect).detail for suspect in group))
    return "; or ".join(details[:_MOST_DETAILS])


def _of_copy(copy: Copy, record: ProvenanceRecord) -> Diagnosis:
    named = copy.explained[0].named if copy.explained else _UNKNOWN
    others = tuple(sorted({one.named.cause for one in copy.explained} - {named.cause}))
    last = [op for number in np.unique(copy.paths).tolist() for op in _last(number, record)]
    found = culprit(named, "copy", copy.paths, last, record, ops=record.program.ops)
    certain = copy.stated and bool(copy.explained) and not others
    bad = ~whole(copy.tile, copy.wanted) & copy.tile.known
    return Diagnosis(
        "copy",
        copy.array.name,
        "",
        found.cause,
        named.detail,
        certain,
        others,
        found.op.line,
        found.op.text,
        _origin(found.op, record),
        tuple(dict.fromkeys(op.line for op in found.concerned)),
        int(np.count_nonzero(bad)),
        bad.size,
        found.repair,
    )


def _last(path: int, record: ProvenanceRecord) -> list[Op]:
    """The instruction that ends a way."""
    sites = record.path(path)
    return [record.program.ops[sites[-1]]] if sites else []


def _of_total(total: Total, run: _Run) -> Diagnosis:
    record = run.record
    products = [record.program.ops[site] for site in total.sites]
    found = culprit(total.named, total.role, total.paths, products, record, ops=record.program.ops)
    return Diagnosis(
        total.law,
        total.role,
        run.arrays[total.array].name if total.array >= 0 else "",
        found.cause,
        total.named.detail,
        total.certain,
        (),
        found.op.line,
        found.op.text,
        _origin(found.op, record),
        tuple(dict.fromkeys(op.line for op in found.concerned)),
        total.wrong,
        total.total,
    )


def _origin(op: Op, record: ProvenanceRecord) -> SourceLine | None:
    """The line of the compiled program that an instruction comes from."""
    return Origins(record.program.module).at(op.node.start)


def _stack(suspect: Suspect) -> Stack:
    return next(stack for stack in suspect.evidence.stacks if stack.role == suspect.tile.role)


def _picture(suspect: Suspect, record: ProvenanceRecord) -> Picture:
    """The first product that is wrong."""
    tile = suspect.tile
    at = int(np.argmax((~whole(tile, suspect.wanted)).any(axis=(1, 2))))
    event = record.products[int(suspect.evidence.numbers[suspect.events[at]])]
    held = np.stack((tile.rows[at], tile.columns[at]), axis=-1)
    held[~tile.known[at]] = -1
    wanted = held
    if suspect.explained:
        mended = suspect.explained[0].repaired
        wanted = np.stack((mended.rows[at], mended.columns[at]), axis=-1)
    return Picture(event.cta, event.warp, held, wanted)
