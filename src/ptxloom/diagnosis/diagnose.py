"""`pl.diagnose`: checks the laws for a run, and traces each violation back to the lines that cause it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ptxloom.diagnosis.arrays.coverage import Coverage
from ptxloom.diagnosis.arrays.images import image_of
from ptxloom.diagnosis.arrays.left_open import k_left_open
from ptxloom.diagnosis.arrays.readings import blocked_readings_of, readings_of
from ptxloom.diagnosis.census import Asked, Judged, census, unread
from ptxloom.diagnosis.copies import copied
from ptxloom.diagnosis.described.block_scales import block_scales_of
from ptxloom.diagnosis.described.causes import described
from ptxloom.diagnosis.described.echoes import without_echoes
from ptxloom.diagnosis.described.uncopied import not_copied
from ptxloom.diagnosis.examination import Examination
from ptxloom.diagnosis.expectation import understood
from ptxloom.diagnosis.factors import Unstored, with_factor
from ptxloom.diagnosis.findings import Run, first_of, is_right_turned, merged, of_copy, of_total
from ptxloom.diagnosis.laws import PLACE, Suspect, suspects
from ptxloom.diagnosis.origins.bases import Bases
from ptxloom.diagnosis.origins.evidence import gather, with_nibbles
from ptxloom.diagnosis.origins.typed import typed
from ptxloom.diagnosis.own_orders import is_packed, own_axes, own_order
from ptxloom.diagnosis.relations.blame import of_unstored
from ptxloom.diagnosis.relations.examined import related
from ptxloom.diagnosis.relations.source import Result
from ptxloom.diagnosis.scales import scales_of
from ptxloom.diagnosis.staged import with_tiles
from ptxloom.diagnosis.strided import strided
from ptxloom.diagnosis.sums.examined import sums_of
from ptxloom.diagnosis.totals import (
    Total,
    every_k_once,
    nibbles_unshifted,
    other_arrays,
    stored_over,
    stored_twice,
    tail_not_masked,
)
from ptxloom.diagnostics import must_be
from ptxloom.machine.results.provenance import ProvenanceRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.copies import Copied
    from ptxloom.diagnosis.model import Diagnosis
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.sums.examined import Summed

_PLAIN_STEPS = 3
_MOST_UNEXPLAINED = 0.5  # of elements: where more break a law for no reason that is found, the law may not apply
_SEEN = frozenset({"stored-twice"})  # in memory, whichever reading of the factors holds
_TURNED = 9  # steps, as of what no change explains
_SAYS_MORE = frozenset({"leading-dimension", "order-exchanged", "pitch-mismatch", "swizzle-mismatch"})  # than "twice"


def diagnose(
    record: ProvenanceRecord, expected: str | None = None, *, names: Mapping[int, str] | None = None
) -> tuple[Diagnosis, ...]:
    """Explain why a result is wrong, as far as the origins of its elements show it.

    Args:
        record: `LaunchResult.provenance` of a launch with `provenance=True`.
        expected: What the kernel computes, such as `C = A @ B.T`; by default, only the laws that need no reference are
            checked.
        names: The names of arrays in `expected` and in reports, by the places of their parameters; by default the
            parameters' names.

    Returns:
        A diagnosis for each cause, certain ones first; empty if no law that could be checked is broken; `examine`
        reports which could.

    Raises:
        UsageError: `expected` has another form, or `record` is not of a launch with provenance.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry k() { ret; }"), "k")
        >>> diagnose(k.launch(grid=1, block=32, provenance=True).provenance)
        ()
    """
    return examine(record, expected, names=names).found


def examine(
    record: ProvenanceRecord, expected: str | None = None, *, names: Mapping[int, str] | None = None
) -> Examination:
    """The diagnoses of `diagnose`, and their coverage: how much was judged, what was not, and why.

    Args:
        record: As in `diagnose`.
        expected: Likewise.
        names: Likewise.

    Returns:
        The diagnoses, with counts of what was judged, and what was not.

    Raises:
        UsageError: As in `diagnose`.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry k() { ret; }"), "k")
        >>> examine(k.launch(grid=1, block=32, provenance=True).provenance).verdict
        'unjudged'
    """
    must_be(ProvenanceRecord, "record", record, "the `provenance` of a launch with `provenance=True`")
    said, whole = understood(expected)
    if names:
        renamed = (
            replace(a, name=names.get(-1 if a.parameter is None else a.parameter, a.name)) for a in record.arrays
        )
        record = replace(record, arrays=tuple(renamed))
    record = typed(record)
    bases = Bases(record)
    sites, places = gather(record, bases)
    used = frozenset(stack.array for site in sites for stack in (site.a, site.b) if stack is not None)
    run = Run(record, record.arrays, said, used, bases.nodes)
    found, asked = _of_products(sites, run)
    overwritten = None if said is None and found and found[0].certain else stored_over(sites, _used(asked), record)
    if overwritten is not None:
        found = [one for one in found if one.certain and one.operand != "d"] + [of_total(overwritten, run)]
    copies = () if sites else tuple(copied(record, said))
    found += [of_copy(one.wrong, record) for one in copies if one.wrong is not None]
    right = [(one.group, one.reading) for one in asked if one.reading is not None and not one.condemned]
    summed = tuple(sums_of(record, bases, said, right))
    found += [one for several in summed for one in several.found]
    held = _asked_of(sites, copies, summed)
    others = tuple(related(record, bases.nodes, whole, held))
    found += [one for several in others for one in several.found]
    if not found and said is not None and said.is_product:
        found += _never_stored(sites, said.result, record, bases)
    judged = Judged(asked, copies, {one.array: one for one in summed}, {one.array: one for one in others})
    counted = census(record, judged, places, bases.nodes)
    terms = sum(one.terms for one in summed)
    return Examination(tuple(sorted(found, key=_rank)), counted.products, counted.elements, counted.unjudged, terms)


def _never_stored(
    sites: Sequence[SiteEvidence], name: str, record: ProvenanceRecord, bases: Bases
) -> Iterable[Diagnosis]:
    """Places of a product, declared to be a whole array, where nothing is stored."""
    stored = {site.d.array for site in sites if site.d is not None}
    for contents in map(record.contents, sorted(stored)):
        if contents.array.name == name and (contents.stored_at < 0).any():
            yield of_unstored(Result(contents, bases.nodes, record))


def _asked_of(sites: Sequence[SiteEvidence], copies: Sequence[Copied], summed: Sequence[Summed]) -> frozenset[int]:
    """The arrays for which laws were checked: of products, of copies, of sums."""
    own = {site.d.array for site in sites if site.d is not None}
    own |= {one.contents.array.number for one in copies if one.judged}
    return frozenset(own | {one.array for one in summed if one.found or one.judged.any()})


def _rank(one: Diagnosis) -> tuple[bool, bool, bool, bool, int]:
    return one.cause == "unknown", not one.certain, one.alternative, bool(one.others), one.line


def _of_products(sites: tuple[SiteEvidence, ...], run: Run) -> tuple[list[Diagnosis], list[Asked]]:
    """The errors of all products, and the products for which laws were checked: first those with known factors."""
    found: list[Diagnosis] = []
    asked: list[Asked] = []
    results: list[Unstored] = []
    for group in _groups(sites):
        if any(site.made for site in group):
            continue
        verdict = _of_group(group, run, whole_chains=_whole_chains(group, sites))
        found += verdict.found
        asked.append(verdict.asked)
        if verdict.reading is not None and not verdict.found and _are_arrays(verdict.reading, run):
            result = Unstored.of(group, verdict.reading, run.arrays)
            run, results = run.knowing(result), [*results, result]
    for group in _groups(sites):
        if any(site.made for site in group):
            verdict = _of_made(group, results, run, whole_chains=_whole_chains(group, sites))
            found += verdict.found
            asked.append(verdict.asked)
    return without_echoes(found), asked


def _used(asked: Sequence[Asked]) -> NDArray[np.int64]:
    """The products of whose results factors are made."""
    sites = [site for one in asked for site in one.group]
    made = [site.made[role].product.ravel() for site in sites for role in "ab" if role in site.made]
    return np.unique(np.concatenate(made)) if made else np.zeros(0, np.int64)


def _are_arrays(reading: Reading, run: Run) -> bool:
    """Whether all matrices of a reading are in arrays."""
    return all(plane.array < len(run.arrays) for plane in reading.planes.values())


class _Verdict(NamedTuple):
    """The errors of the products of the same arrays.

    Attributes:
        found: The errors.
        asked: What the laws were checked for.
        explained: Whether a simple change mends them, or there are none.
    """

    found: list[Diagnosis]
    asked: Asked
    explained: bool = True

    @property
    def reading(self) -> Reading | None:
        """How their arrays were read; None if they were not."""
        return self.asked.reading


def _of_made(group: tuple[SiteEvidence, ...], results: Sequence[Unstored], run: Run, *, whole_chains: bool) -> _Verdict:
    """The errors of products with a factor that comes from no array, but perhaps from results of other products."""
    for result in results:
        made = tuple(with_factor(site, result) for site in group)
        if all(one.a is not None and one.b is not None for one in made):
            verdict = _of_group(made, run, whole_chains=False)  # what is masked is never multiplied
            if verdict.reading is not None and verdict.explained:
                return verdict
    return _of_group(group, run, whole_chains=whole_chains)


def _of_group(group: tuple[SiteEvidence, ...], run: Run, *, whole_chains: bool) -> _Verdict:
    """The errors of the products of the same arrays."""
    record = run.record
    image = image_of(group, run.arrays)
    exchanged = list(other_arrays(group, record, run.used, run.said))
    totals = exchanged or list(nibbles_unshifted(group, record)) or strided(image)
    if totals:
        return _Verdict([of_total(one, run) for one in totals], Asked(group, None, condemned=True))
    if image is not None:
        group, run = image.group, run._replace(arrays=(*run.arrays, image.array))
    group, readings = _readings(group, run) if image is None else (group, (image.reading,))
    judged = [_judged(group, reading, record, whole_chains=whole_chains) for reading in readings]
    if run.said is None and image is None and not any(one.is_clean for one in judged):
        blocked = blocked_readings_of(group, run.arrays)
        judged += [_judged(group, reading, record, whole_chains=whole_chains) for reading in blocked]
    if not judged:
        return _Verdict([], Asked(group, None, unread(group, run.arrays)))
    broken, totals, left_open, reading = min(judged, key=_complexity)
    if run.said is None and image is None and {suspect.tile.role for suspect in broken} >= set("abd"):
        why = "no operand obeys the laws under the likeliest reading of its arrays"
        return _Verdict([], Asked(group, None, f"{why}: the reading was rejected"))
    why = own_order(group, broken, reading, record)
    if run.said is None and why:
        return _Verdict([], Asked(group, None, why))
    if not broken and not totals:
        scaled, blocks = scales_of(group, reading, record, run.nodes), block_scales_of(group, reading, record)
        totals = [*scaled.found, *blocks.found]
        whys = (left_open, own_axes(reading, record), scaled.left_open, blocks.left_open)
        left_open = "; ".join(filter(None, whys))
    found = [*merged(broken, run), *(of_total(one, run) for one in totals)]
    if reading.reshaped or any(one.cause == "unknown" for one in found):
        found = [replace(one, certain=one.certain and one.cause in _SEEN) for one in found]
    own = {role for role, plane in reading.planes.items() if plane.digits or is_packed(plane, record)}
    found = [replace(one, certain=one.certain and one.operand not in own) for one in found]
    explained = bool(totals) or not broken or any(map(_is_explained, broken))
    if run.said is None and not explained and _share(found) > _MOST_UNEXPLAINED:
        most = max(found, key=_share_of)
        why = f"{_share_of(most):.0%} of the elements of {most.array or 'an operand'} break the law `{most.law}` under "
        return _Verdict([], Asked(group, None, f"{why}the likeliest reading of its arrays, so it was rejected"))
    return _Verdict(found, Asked(group, reading, left_open, condemned=bool(found)), explained)


def _readings(group: tuple[SiteEvidence, ...], run: Run) -> tuple[tuple[SiteEvidence, ...], tuple[Reading, ...]]:
    """The products with their readings; the products' elements are reinterpreted if there is no reading otherwise."""
    readings = readings_of(group, run.arrays, run.said)
    halved = None if readings else with_nibbles(group)
    return (group, readings) if halved is None else (halved, readings_of(halved, run.arrays, run.said))


def _is_explained(suspect: Suspect) -> bool:
    """Whether a simple change explains the operand without ambiguity."""
    return any(one.proved and one.named.steps <= _PLAIN_STEPS for one in suspect.explained)


def _share(found: Sequence[Diagnosis]) -> float:
    """The fraction of wrong elements."""
    return max(map(_share_of, found), default=0.0)


def _share_of(one: Diagnosis) -> float:
    return one.wrong / max(one.total, 1)


class _Judged(NamedTuple):
    """The errors under a reading.

    Attributes:
        broken: The operands.
        totals: The laws of the whole.
        left_open: Why one of them was not checked; empty if all were.
        reading: The reading.
    """

    broken: list[Suspect]
    totals: list[Total]
    left_open: str
    reading: Reading

    @property
    def is_clean(self) -> bool:
        """Whether no law that could be checked is broken."""
        return not self.broken and not self.totals


def _judged(
    group: tuple[SiteEvidence, ...], reading: Reading, record: ProvenanceRecord, *, whole_chains: bool
) -> _Judged:
    """The wrong operands and the broken laws of the whole under a reading."""
    coverage = Coverage(group, reading)
    broken = described([one for site in group for one in suspects(site, reading, coverage)], record)
    broken = with_tiles(broken, record)
    explained = any(one.explained and one.explained[0].culprit is not None for one in broken)
    if broken and not explained and (tails := list(tail_not_masked(group, reading, coverage, record))):
        return _Judged([], tails, "", reading)
    totals = list(stored_twice(group, reading, broken, coverage, record))
    if totals:
        telling = [s for s in broken if s.tile.role == "d" and first_of(s).cause in _SAYS_MORE]
        broken = [s for s in broken if s.tile.role != "d" and not _is_echo(s)] + telling
        totals = [] if telling else totals
    left_open = ""
    if not broken and not totals:
        totals = list(not_copied(group, reading, record))
    if not broken and not totals:
        left_open = k_left_open(reading, coverage, record)
        if not left_open:
            totals = list(every_k_once(group, reading, coverage, record, whole_chains=whole_chains))
            if any(one.named.cause == "k-missing" for one in totals):
                totals = list(stored_twice(group, reading, broken, coverage, record, incomplete=True)) or totals
    return _Judged(broken, totals, left_open, reading)


def _is_echo(suspect: Suspect) -> bool:
    """Whether the only evidence against a factor is the places of a result that is stored over itself."""
    return suspect.law == PLACE and not suspect.explained


def _complexity(judged: _Judged) -> tuple[int, int]:
    """How implausible a reading's errors are: the steps of the worst operand, and the number of wrong ones."""
    steps = [first_of(s).steps + (not s.sure) + _TURNED * is_right_turned(s) for s in judged.broken]
    reshaped = 2 * judged.reading.reshaped  # which is as much to be believed as that a law is broken
    return max(steps, default=0) + 2 * len(judged.totals) + reshaped, len(steps) + len(judged.totals)


def _whole_chains(group: tuple[SiteEvidence, ...], sites: tuple[SiteEvidence, ...]) -> bool:
    """Whether everything added to the group's results belongs to the group."""
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
