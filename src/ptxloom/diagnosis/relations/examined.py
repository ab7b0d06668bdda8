"""Every stored element that is not from a product, compared with the sources of the others, or with the declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.origins.typed import width
from ptxloom.diagnosis.relations.blame import Accused, of_missing, of_strangers, of_twice, of_unstored
from ptxloom.diagnosis.relations.leaves import Values, once
from ptxloom.diagnosis.relations.links import fitted
from ptxloom.diagnosis.relations.names import ranges
from ptxloom.diagnosis.relations.patterns import deviation, edge_of, usual, whole_axes
from ptxloom.diagnosis.relations.reductions import Reductions
from ptxloom.diagnosis.relations.rows import broken
from ptxloom.diagnosis.relations.source import Result, Source
from ptxloom.diagnosis.relations.stated import stated
from ptxloom.diagnosis.relations.statistics import parts_of
from ptxloom.diagnosis.relations.unjoined import of_broken
from ptxloom.diagnosis.relations.unsaid import unsaid
from ptxloom.isa.limits import LANES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from ptxloom.comparison.expression import Expectation
    from ptxloom.diagnosis.model import Diagnosis
    from ptxloom.diagnosis.origins.tiles import Truth
    from ptxloom.diagnosis.relations.leaves import Leaves
    from ptxloom.diagnosis.relations.links import Links
    from ptxloom.diagnosis.relations.patterns import Deviation
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_MOST_TIMES: Final = 1 << 16
_LIKELY: Final = 0.6  # of the CTAs
_MOST_WHYS: Final = 3  # reasons that are listed
_ODD: Final = 0.9  # of elements with the same path
_MOST_WRONG: Final = 0.4  # of the results, if it is not declared what is computed


class Related(NamedTuple):
    """A result that is computed from other arrays, element by element.

    Attributes:
        array: Its number.
        judged: (elements,) which of them were judged.
        found: What is wrong.
        why: Why not all were judged; empty if they were.
    """

    array: int
    judged: Truth
    found: tuple[Diagnosis, ...]
    why: str = ""


def related(
    record: ProvenanceRecord, nodes: NDArray[Any], expected: Expectation | None, asked: frozenset[int]
) -> Iterator[Related]:
    """Judge for every stored array whether its elements are computed alike.

    Args:
        record: The run.
        nodes: The sources of its values.
        expected: The declaration.
        asked: The arrays that other laws have judged: they are left out.
    """
    shapes = {array.name: array.shape for array in record.arrays}
    said = stated(expected, shapes) if expected is not None else {}
    values = Values(nodes)
    for array in record.arrays:
        contents = record.contents(array.number)
        if array.number in asked or not (contents.stored_at >= 0).any():
            continue
        own = said if expected is not None and expected.name == array.name else {}
        found = _of_result(Result(contents, nodes, record), values, own)
        if found is not None:
            yield found


def _of_result(result: Result, values: Values, said: Mapping[str, Links]) -> Related | None:
    contents = result.contents
    leaves = values.leaves(contents)
    if leaves is None or not len(leaves.result):
        return None
    judged = leaves.whole & (contents.stored_at.ravel() >= 0)
    whys: list[str] = []
    found = list(_unstored(result, leaves, whys, said=bool(said)))
    own = (leaves.array == contents.array.number) & (leaves.element == leaves.result)
    leaves = leaves.chosen(~own)  # what stood there before
    read, unread = _sources(leaves, result, said, whys)
    several = _differing(read, whys)
    misplaced = any(one.cause == "stored-twice" for one in found)  # so that what is read seems wrong where it is not
    found += [one for one in _of_differing(several, result, whys) if not misplaced]
    in_place = any(source.array is contents.array for source in read) or contents.array in unread
    uncounted = any(not source.counted for source in read) and not said
    if not found and uncounted:
        found += _of_statistics(result, values)
    if not said and not found and not in_place:
        found += unsaid(read, unread, leaves, result)
    if not found and unread and not uncounted:
        found += _of_statistics(result, values)
    if sum(bool(source.links.free) and differing.is_clean for source, differing in several) > 1:
        whys.append("which of the summed elements belong together was not judged")
    here = {source.array.name for source in read} | {array.name for array in unread}
    whys += [f"they use nothing of {name}" for name in said if name not in here]
    if whys and not found:
        judged[:] = False
    return Related(contents.array.number, judged, tuple(found), "; ".join(whys[:_MOST_WHYS]))


def _of_statistics(result: Result, values: Values) -> list[Diagnosis]:
    """The first error in the sums and maxima that normalise a result."""
    reductions = Reductions(result.nodes, result.record.program)
    parts = parts_of(result.contents, values, reductions)
    return [] if parts is None else [of_broken(one, result, values, reductions) for one in broken(parts, result)][:1]


def _unstored(result: Result, leaves: Leaves, whys: list[str], *, said: bool) -> Iterator[Diagnosis]:
    """Elements of a result that are never stored: wrong if all should be, or others are stored twice instead."""
    contents = result.contents
    empty = np.flatnonzero(contents.stored_at.ravel() < 0)
    if not len(empty):
        return
    in_place = (leaves.array == contents.array.number).any()  # as where it is added to memory
    if said or (contents.stored_twice.any() and not in_place):
        yield of_unstored(result)
    else:
        whys.append(f"{contents.array.name} is never stored at {ranges(empty)}")


def _sources(
    leaves: Leaves, result: Result, said: Mapping[str, Links], whys: list[str]
) -> tuple[list[Source], list[TracedArray]]:
    """The arrays that correspond to a result, and those whose correspondence is unknown."""
    read: list[Source] = []
    unread: list[TracedArray] = []
    numbers: list[int] = np.unique(leaves.array).tolist()
    for number in numbers:
        array = result.record.arrays[number]
        source = _source(array, leaves, result, said)
        if isinstance(source, str):
            whys.append(source)
            unread.append(array)
        else:
            read.append(source)
    if any(source.links.again for source in read):
        whys.append("which elements are summed, apart from those used again, was not judged")
    return read, unread


def _of_differing(several: list[tuple[Source, Deviation]], result: Result, whys: list[str]) -> Iterator[Diagnosis]:
    """The errors of arrays that a result uses inconsistently."""
    in_place = any(source.array is result.array for source, _ in several)
    for source, differing in several:
        if differing.is_clean:
            whys += _unnatural(source)
            continue
        accused = Accused(source.array, source.leaves, source.ways, source.links, differing, result)
        told = source.counted and not in_place and _is_small(differing, source) and _has_odd_way(accused)
        if source.links.stated or told:
            yield from _diagnoses(accused)
        whys.append(f"they are not computed from {source.array.name} in the same way")


def _differing(sources: list[Source], whys: list[str]) -> list[tuple[Source, Deviation]]:
    """How each array differs from its pattern; where one array ends, the others may be incomplete."""
    edges = [edge_of(np.unique(one.leaves.result), one.links, one.pattern) for one in sources]
    found: list[tuple[Source, Deviation]] = []
    for source in sources:
        others = [edge for one, edge in zip(sources, edges, strict=True) if one is not source]
        left_out = np.unique(np.concatenate([np.zeros(0, np.int64), *others]))
        differing = deviation(source.leaves, source.links, source.pattern, left_out, counted=source.counted)
        if differing is None:
            whys.append(f"each uses too many elements of {source.array.name}")
        else:
            found.append((source, differing))
    return found


def _are_first_of_words(ways: Leaves, array: TracedArray, record: ProvenanceRecord) -> bool:
    """Whether kernels compute with words of several elements, of which provenance records only the first."""
    for number in np.unique(ways.path[ways.site >= 0]).tolist():
        loads = record.path(number)[:1]
        per = width(record.program.ops[loads[0]]) // array.dtype.itemsize if loads else 0
        if per > 1 and not (ways.element[(ways.path == number) & (ways.site >= 0)] % per).any():
            return True
    return False


def _source(array: TracedArray, leaves: Leaves, result: Result, said: Mapping[str, Links]) -> Source | str:
    """An array with its correspondence to a result; if there is none, the reason in words."""
    ways = leaves.chosen(leaves.array == array.number)
    each = once(ways)
    if _are_first_of_words(ways, array, result.record):
        return f"several elements of {array.name} come in one word: which of them are computed with is not known"
    if said:
        if array.name not in said:
            return f"{array.name} is not in the declared expression, or not once"
        links = said[array.name]
        pattern = whole_axes(links)
        times = int(np.bincount(np.minimum(each.times, _MOST_TIMES)).argmax())
        counted = bool(links.free) and not links.again
        return Source(array, each, ways, links, pattern._replace(times=pattern.times * times), counted)
    links = fitted(each.result, each.element, array.shape, result.array.shape)
    if links is None:
        return f"how elements of {array.name} correspond to them is unknown"
    pattern, counted = usual(each, links), True
    if pattern is None:  # functions such as tanhf branch by their values
        each, counted = each._replace(times=np.ones_like(each.times)), False
        pattern = usual(each, links)
    if pattern is None:
        return f"they are not computed from {array.name} in the same way"
    return Source(array, each, ways, links, pattern, counted)


def _unnatural(source: Source) -> list[str]:
    """What stays unjudged if all results share a pattern that is not the simplest one."""
    if source.links.stated:
        return []
    offsets = source.pattern.offsets
    counts = [len(np.unique(one)) for one in offsets]
    plain = (
        len(np.unique(source.pattern.times)) == 1
        and all(
            (counts[axis] == extent if axis in source.links.free else not offsets[axis].any())
            for axis, extent in enumerate(source.links.shape)
        )
        and all(_is_straight(number, source.links) for number in range(len(source.links.by)))
    )
    if plain and offsets.shape[1] == np.prod([counts[axis] for axis in source.links.free] or [1]):
        if (source.leaves.site < 0).all():
            return []
        which = "those of its place" if not source.links.free else "all along its axes"
        return [f"each is computed from {source.array.name} in the same way, {which}: no law says what it should be"]
    shown = ", ".join(str(tuple(map(int, one))) for one in offsets.T[:5])
    more = f" and {offsets.shape[1] - 5} more" if offsets.shape[1] > 5 else ""
    where = f"each is computed from {source.array.name} in the same way, at {shown}{more}"
    return [f"{where}: no law says whether that is intended"]


def _is_straight(number: int, links: Links) -> bool:
    """Whether an axis of an array corresponds to an axis of the result of the same extent, or to none."""
    link = links.by[number]
    return link.axis < 0 or (link.scale == 1 and links.result[link.axis] == links.shape[number])


def _is_small(differing: Deviation, source: Source) -> bool:
    """Whether only few results differ."""
    leaves = source.leaves
    results = np.unique(np.concatenate((leaves.result[differing.extra | differing.again], differing.missing)))
    return len(results) <= _MOST_WRONG * differing.results


def _is_of_threads(accused: Accused) -> bool:
    """Whether the same results are wrong in every CTA, so that data do not decide."""
    results = np.unique(accused.leaves.result)
    bad = np.unique(accused.leaves.result[accused.differing.again])
    size = -(-len(results) // int(np.prod(accused.result.record.raw.grid)) // LANES) * LANES
    places = np.bincount(bad % size, minlength=size)
    most = np.bincount(results % size, minlength=size)
    return size < len(results) and bool((places[places > 0] >= _LIKELY * most[places > 0]).all())


def _has_odd_way(accused: Accused) -> bool:
    """Whether wrong elements have a path of their own: those clamped or mirrored at an edge do not."""
    wrong = accused.differing.extra | accused.differing.again
    if accused.differing.pattern.offsets.shape[1] < 2 or not wrong.any():
        return True
    if not accused.differing.extra.any() and not _is_of_threads(accused):
        return False
    key = int(accused.array.nbytes) + 1
    ways, leaves = accused.ways, accused.leaves
    bad = np.isin(ways.result * key + ways.element, (leaves.result * key + leaves.element)[wrong])
    numbers, which = np.unique(ways.path, return_inverse=True)
    shares = np.bincount(which, weights=bad, minlength=len(numbers)) / np.bincount(which, minlength=len(numbers))
    return bool(shares.max() > _ODD)


def _diagnoses(accused: Accused) -> list[Diagnosis]:
    """The errors in the elements of one array: those that do not belong, or those that are missing."""
    if accused.differing.extra.any() or (accused.differing.again.any() and len(accused.differing.missing)):
        return [of_strangers(accused)]
    return [of_missing(accused)[0] if len(accused.differing.missing) else of_twice(accused)]
