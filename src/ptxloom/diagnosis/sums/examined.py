"""Checks the laws for every stored sum of products, and traces errors back to a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.binding.touches import touches
from ptxloom.diagnosis.arrays.left_open import words_of
from ptxloom.diagnosis.culprits import copies_of, culprit
from ptxloom.diagnosis.findings import source_of
from ptxloom.diagnosis.kept import holds
from ptxloom.diagnosis.lines.ctas import own_term_of, term_of
from ptxloom.diagnosis.lines.deadends import thrown_away
from ptxloom.diagnosis.lines.extractions import first_of_word
from ptxloom.diagnosis.lines.loops import ends_of
from ptxloom.diagnosis.lines.moved import shared_index, where_used
from ptxloom.diagnosis.lines.reached import kept_from
from ptxloom.diagnosis.lines.terms import Line, at_index, line_of
from ptxloom.diagnosis.model import Diagnosis
from ptxloom.diagnosis.sums.addends import added
from ptxloom.diagnosis.sums.convolutions import convolved, padded
from ptxloom.diagnosis.sums.einsum import axes_of
from ptxloom.diagnosis.sums.joined import joined
from ptxloom.diagnosis.sums.laws import ROLES, Broken, broken, ends_early
from ptxloom.diagnosis.sums.matrices import matrices_of
from ptxloom.diagnosis.sums.orders import has_own_order, meant
from ptxloom.diagnosis.sums.scaled import scaled
from ptxloom.diagnosis.sums.slices import scaled_slices
from ptxloom.diagnosis.sums.slid import of_convolution
from ptxloom.diagnosis.sums.terms import Unfolding
from ptxloom.machine.results.provenance import Kind
from ptxloom.readings.effects import updates_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.origins.bases import Bases
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.sums.addends import Wrong
    from ptxloom.diagnosis.sums.einsum import Axes
    from ptxloom.diagnosis.sums.matrices import Matrices
    from ptxloom.diagnosis.sums.slices import Groups
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord, TracedArray

_PLAIN_STEPS: Final = 2
_WITHIN: Final = "transposed"  # mistakes within a tile, whose copy is right
_MOST: Final = 0.5  # of the terms that are wrong


class Summed(NamedTuple):
    """An array whose elements are sums.

    Attributes:
        array: Its number.
        judged: (elements,) which of them were judged.
        terms: The number of products of two elements that were judged.
        found: What is wrong.
        mended: (elements,) for those that hold matrix products, whether all that is added to them was judged.
        factors: The numbers of the arrays whose elements are multiplied, if they were judged.
    """

    array: int
    judged: Truth
    terms: int
    found: tuple[Diagnosis, ...]
    mended: Truth
    factors: tuple[int, ...] = ()


def sums_of(
    record: ProvenanceRecord, bases: Bases, expected: Expectation | None, groups: Groups = ()
) -> Iterator[Summed]:
    """Check the laws for every array that holds sums.

    Args:
        record: Knows the arrays.
        bases: What values were computed from.
        expected: What the kernel is declared to compute.
        groups: The matrix products that break no law, with how their arrays were read.

    Yields:
        The verdict on each array.
    """
    if len(bases.nodes) < 2:
        return
    unfolding = Unfolding(record, bases)
    for array in record.arrays:
        contents = record.contents(array.number)
        if not (contents.origins["kind"] == Kind.COMPUTED).any():
            continue
        terms = unfolding.terms(contents)
        if terms is not None:
            yield _summed(terms, contents, bases.nodes, record, expected, groups=groups)


def _summed(
    terms: Terms, contents: Contents, nodes: NDArray[Any], record: ProvenanceRecord, expected: Expectation | None, *,
    groups: Groups,
) -> Summed:  # fmt: skip
    array = contents.array
    found: list[Diagnosis] = []
    judged, count = np.zeros(len(terms.whole), np.bool_), 0
    sided = _sided(terms)
    factors: tuple[int, ...] = ()
    inside = scaled_slices(terms.slices, array.number, groups, record)
    if sided is not None:
        arrays = [record.arrays[int(sided.factors["array"][0, n])] for n in (0, 1)]
        read = _read(sided, [*arrays, array], expected, record, complete=bool((contents.stored_at >= 0).all()))
        slid = None if read is not None and not read.wrong else convolved(sided, [*arrays, array])
        if slid is not None and (read is None or not slid.wrong):
            found += [of_convolution(one, slid, sided, [*arrays, array], record) for one in slid.wrong]
            judged[np.unique(sided.result)], count = bool(slid.wrong) or slid.way.is_plain, len(sided.result)
            factors = tuple(one.number for one in arrays)
            terms = padded(terms, slid)
        elif read is not None:
            sum_ = _Sum(read.matrices, read.axes, contents, nodes)
            found += [_diagnosis(one, sum_, record) for one in read.wrong]
            early = ends_early(sum_.terms, sum_.axes, words_of(record))
            judged[np.unique(sided.result)] = bool(read.wrong) or not (early or read.matrices.is_open)
            count = len(sided.result)
            factors = tuple(one.number for one in arrays)
            inside = inside if read.wrong else scaled(sum_.terms, sum_.axes, record, nodes)
    judged &= not inside.left_open
    judged &= ~_may_be_torn(contents, record)
    stated = expected is not None and expected.is_product
    origins = contents.origins.ravel()
    folded = ~terms.whole & (origins["kind"] == Kind.COMPUTED)
    beyond = joined(folded, origins, nodes) if sided is None and folded.any() else None
    beside = added(terms, record, array, stated=stated, known=inside.known, beyond=beyond)
    if beyond is not None:
        beside = beside._replace(judged=beside.judged & (beyond.whole | terms.whole))
    index = _index_of_blocks([one for _, one in inside.broken], record)
    found = [_of_added(one, source, record, index) for source, one in (*inside.broken, *beside.broken)] + found
    return Summed(array.number, judged & terms.whole & beside.judged, count, tuple(found), beside.judged, factors)


def _may_be_torn(contents: Contents, record: ProvenanceRecord) -> Truth:
    """(elements,) which are stored more than once, and not by atomic operations, where there are several CTAs.

    Sums that continue there are right in the order in which the CTAs ran, but perhaps in no other.
    """
    sites = contents.stored_at.ravel()
    storing: list[int] = np.unique(sites[sites >= 0]).tolist()
    plain = [site for site in storing if not updates_memory(record.program.ops[site].node)]
    several = int(np.prod(record.raw.grid)) > 1
    return contents.stored_twice.ravel() & np.isin(sites, plain) & several


class _Read(NamedTuple):
    """A sum under a reading of its arrays."""

    matrices: Matrices
    axes: Axes
    wrong: tuple[Broken, ...]


def _read(
    sided: Terms, arrays: list[TracedArray], expected: Expectation | None, record: ProvenanceRecord, *, complete: bool
) -> _Read | None:
    """The first reading without errors; else that with the fewest, if it is credible."""
    told = words_of(record)
    found: list[_Read] = []
    structures = any(sided.is_structure(array.number) for array in arrays[:2])
    for matrices in matrices_of(sided, arrays):
        axes = axes_of(matrices.terms, matrices.arrays, expected)
        if axes is None:
            continue
        wrong = broken(matrices.terms, axes, told, complete=complete)
        if not wrong:
            return _Read(matrices, axes, wrong)
        if not axes.stated and (structures or all(has_own_order(one, matrices, axes) for one in wrong)):
            continue
        if _is_believed(wrong, axes, has_rows=len(arrays[2].shape) > 1):
            found.append(_Read(matrices, axes, wrong))
    return min(found, key=lambda one: max((part.named.steps, part.wrongs) for part in one.wrong), default=None)


def _is_believed(wrong: tuple[Broken, ...], axes: Axes, *, has_rows: bool) -> bool:
    """Whether the errors are worth reporting: simple changes, or only on one side, if the intention is not declared."""
    return axes.stated or all(
        one.named.steps <= _PLAIN_STEPS or (one.sure and one.named.cause != "unknown" and has_rows) for one in wrong
    )


def _sided(terms: Terms) -> Terms | None:
    """The terms whose factors are of the two arrays that most are of, the same one first."""
    arrays = terms.factors["array"].astype(np.int64)
    if not len(arrays):
        return None
    pairs, counts = np.unique(np.sort(arrays, axis=1), axis=0, return_counts=True)
    pair = pairs[np.argmax(counts)]
    own = (np.sort(arrays, axis=1) == pair).all(axis=1)
    whole = terms.whole.copy()
    whole[np.unique(terms.result[~own])] = False
    chosen = terms.chosen(own)
    first = int(np.bincount(chosen.factors["array"][:, 0].astype(np.int64)).argmax())
    turned = (chosen.factors["array"][:, 0] != first) & (pair[0] != pair[1])
    chosen.factors[turned] = chosen.factors[turned][:, ::-1]
    return chosen._replace(whole=whole)


class _Sum(NamedTuple):
    """A sum of products as it was read."""

    matrices: Matrices
    axes: Axes
    contents: Contents
    nodes: NDArray[Any]

    @property
    def terms(self) -> Terms:
        """Its terms."""
        return self.matrices.terms

    @property
    def arrays(self) -> list[TracedArray]:
        """The first factor's, the second's, and the result's."""
        return self.matrices.arrays


def _diagnosis(one: Broken, sum_: _Sum, record: ProvenanceRecord) -> Diagnosis:
    """The diagnosis of terms that break a law."""
    terms, axes, arrays, contents, nodes = sum_.terms, sum_.axes, sum_.arrays, sum_.contents, sum_.nodes
    ops = record.program.ops
    sites = _sites(one, terms)
    products = [ops[site] for site in sites]
    side = ROLES.find(one.role) if one.role else -1
    line = Line(products[0], tuple(products))
    if one.role == "d":
        places = np.unique(terms.result[one.wrong])
        storing: list[int] = np.unique(contents.stored_at.ravel()[places]).tolist()
        stores = [ops[site] for site in storing]
        line = Line(stores[0], tuple(dict.fromkeys((*stores, *products))))
    elif one.role:
        within = one.named.cause == _WITHIN
        leaves = not within and not _was_held(terms, arrays, side, record)
        leaves = leaves and _leaves_tile(one, terms, axes, side, grid=record.raw.grid)
        paths, wrong = terms.factors["path"][:, side], one.wrong
        if arrays[0] is arrays[1]:
            paths = np.concatenate((paths, terms.factors["path"][:, 1 - side]))
            wrong = np.concatenate((wrong, np.zeros(len(wrong), np.bool_)))
        line = line_of(paths, wrong, record, leaves_tile=leaves, within=within)
        line = _of_word(line, one, sum_, record) or _of_batch(line, one, terms, axes, record) or at_index(line, record)
        line = line._replace(concerned=tuple(dict.fromkeys((*line.concerned, *products))))
    elif one.named.cause == "k-twice" and (slice_ := _of_slices(one, sum_, record)) is not None:
        line = Line(slice_, tuple(products))
    elif one.named.cause == "k-missing":
        absent = _absent(terms, arrays, 0)
        last = thrown_away(arrays[0].number, absent, contents.origins.ravel(), nodes, record)
        loads = copies_of(terms.factors["path"][:, 0].astype(np.int64), record)
        ends = ends_of(products[0], loads, record.program) if last is None else None
        if _was_held(terms, arrays, 0, record):
            inner = ends_of(products[0], [], record.program)
            ends = inner if ends is None or inner is None or inner.test is not ends.test else None  # else unrolled
        last = ends.test if ends is not None else last
        last = (kept_from(loads[0], record) if loads else None) or last
        line = line if last is None else Line(last, (last, *products))
    known = one.named.cause != "unknown" and not one.others
    certain = one.sure and one.proved and known and axes.stated and one.named.steps <= _PLAIN_STEPS
    return Diagnosis(
        one.law, one.role, arrays[side].name if one.role else contents.array.name, one.named.cause,
        f"{one.named.detail}: {_example(one, terms, arrays)}", certain, one.others, line.op.line, line.op.text,
        source_of(line.op, record), tuple(dict.fromkeys(op.line for op in line.concerned)), one.wrongs, one.total,
    )  # fmt: skip


def _of_slices(one: Broken, sum_: _Sum, record: ProvenanceRecord) -> Op | None:
    """Where k begins for each CTA, if several add to one sum: the term of a load's address that has their index.

    None if sums are not split by a component of the CTA's index that no store's address contains.
    """
    program = record.program
    storing: list[int] = np.unique(sum_.contents.stored_at.ravel()[np.unique(sum_.terms.result[one.wrong])]).tolist()
    stores = [program.ops[site] for site in storing]
    loads = copies_of(sum_.terms.factors["path"][:, 0].astype(np.int64), record)
    if not loads or not all(updates_memory(op.node) for op in stores):
        return None
    for field, count in zip("zyx", reversed(record.raw.grid), strict=True):
        if count > 1 and all(term_of(op, field, program) is None for op in stores):
            return term_of(loads[0], field, program)
    return None


def _of_word(line: Line, one: Broken, sum_: _Sum, record: ProvenanceRecord) -> Line | None:
    """The line that extracts packed elements, if each wrong one comes from the right word."""
    side, terms, axes = ROLES.find(one.role), sum_.terms, sum_.axes
    words = sum_.matrices.words[side]
    if words is None:
        return None
    held = terms.factors["element"][one.wrong, side]
    if (words[held] != words[meant(terms.chosen(one.wrong), axes, side)]).any():
        return None
    taker = first_of_word(terms.nodes[one.wrong, side], sum_.arrays[side].number, sum_.nodes, record)
    taker = taker or next((op for op in line.concerned if op.site > line.op.site and not touches(op.node)), None)
    return None if taker is None else Line(taker, (line.op, *line.concerned))


def _of_batch(line: Line, one: Broken, terms: Terms, axes: Axes, record: ProvenanceRecord) -> Line | None:
    """The term of an address with the batch index, if elements come from another batch; None if there is none."""
    side, batches = ROLES.find(one.role), axes.letters[2][:-2]
    held = axes.indices(side, terms.factors["element"][one.wrong, side])
    wanted = axes.indices(2, terms.result[one.wrong])
    if not line.op.has("global") or not any((held[n] != wanted[n]).any() for n in batches if n in held):
        return None
    terms_of = (own_term_of(line.op, field, record.program) for field in "zyx")
    term = next((term for term in terms_of if term is not None), None)
    return None if term is None else Line(term, (line.op, *line.concerned))


def _sites(one: Broken, terms: Terms) -> list[int]:
    """The instructions that multiplied wrong elements; for repeated ones, first the one that only repeats."""
    sites, counts = np.unique(terms.site[one.wrong], return_counts=True)
    if one.law != "once":
        return [int(site) for site in sites]
    shares = counts / np.array([np.count_nonzero(terms.site == site) for site in sites])
    return [int(site) for site in sites[np.argsort(-shares, kind="stable")]]


def _absent(terms: Terms, arrays: list[TracedArray], side: int) -> Integers:
    """The elements of a factor that no sum uses."""
    return np.setdiff1d(np.arange(int(np.prod(arrays[side].shape))), terms.factors["element"][:, side])


def _was_held(terms: Terms, arrays: list[TracedArray], side: int, record: ProvenanceRecord) -> bool:
    """Whether unused elements had been copied to shared memory: then its reader is wrong."""
    if arrays[0] is arrays[1]:
        return False  # they may have been copied for the other factor
    if arrays[side] is not record.arrays[arrays[side].number]:
        return False  # which elements of the array these are was not followed
    return holds(arrays[side].number, _absent(terms, arrays, side), record)


def _example(one: Broken, terms: Terms, arrays: list[TracedArray]) -> str:
    """The first of the terms that are wrong, in words."""
    at = int(np.argmax(one.wrong))
    elements = (int(terms.factors["element"][at, 0]), int(terms.factors["element"][at, 1]), int(terms.result[at]))
    first, second, result = (
        f"{array.name}{list(array.index(element))}" for array, element in zip(arrays, elements, strict=True)
    )
    return f"{result} takes {first} times {second}"


def _leaves_tile(one: Broken, terms: Terms, axes: Axes, side: int, *, grid: tuple[int, ...]) -> bool:
    """Whether the elements read belong to results of other CTAs, which only a load from global memory can reach."""
    shape, own = axes.shapes[2], axes.letters[2]
    tiles = {
        letter: -(-extent // blocks)
        for letter, extent, blocks in zip(reversed(own), reversed(shape), grid, strict=False)
        if blocks > 1
    }
    held = axes.indices(side, terms.factors["element"][one.wrong, side])
    wanted = axes.indices(2, terms.result[one.wrong])
    other = axes.indices(1 - side, terms.factors["element"][one.wrong, 1 - side])
    for letter, values in held.items():
        meant = wanted.get(letter, other.get(letter))
        if meant is None:
            continue
        if letter in tiles and np.mean(values // tiles[letter] != meant // tiles[letter]) > _MOST:
            return True
    used = terms.factors["element"][:, side]
    return len(np.unique(used)) < int(np.prod(axes.shapes[side]))


def _index_of_blocks(wrongs: Sequence[Wrong], record: ProvenanceRecord) -> Op | None:
    """What computes the index that several arrays of scales share, if all are read with the same wrong blocks."""
    if len(wrongs) < 2 or len({one.named.detail for one in wrongs}) > 1:
        return None
    several = [copies_of(one.paths, record)[:1] for one in wrongs]
    return shared_index([op for ops in several for op in ops], record.program) if all(several) else None


def _of_added(one: Wrong, array: TracedArray, record: ProvenanceRecord, index: Op | None) -> Diagnosis:
    """The diagnosis of an addend in the wrong place; `index` is what computes that of wrong blocks, if it is known."""
    found = culprit(one.named, "c", one.paths, [record.program.ops[0]], record, ops=record.program.ops)
    line = at_index(Line(found.op, found.concerned), record)
    if one.law == "block":
        op = index or where_used(line.op, record.program)
        line = Line(op, tuple(dict.fromkeys((op, found.op, *found.concerned))))
    return Diagnosis(
        one.law, "c", array.name, one.named.cause, one.named.detail, False, (), line.op.line, line.op.text,
        source_of(line.op, record), tuple(dict.fromkeys(op.line for op in line.concerned)), one.wrongs, one.total,
        picture=one.picture,
    )  # fmt: skip
