"""From operands and laws that are broken to diagnoses: each cause once, with the line to change."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ptxloom.binding.touches import touches
from ptxloom.diagnosis.culprits import Culprit, copies_of, culprit, is_divided, moves_rows, ways_of
from ptxloom.diagnosis.described.copies import by_copy
from ptxloom.diagnosis.described.in_tensor import by_address
from ptxloom.diagnosis.described.repeated import common_makers, is_described, is_held, start_makers, unmoved
from ptxloom.diagnosis.kept import was_copied, was_there
from ptxloom.diagnosis.lines.accumulators import started_anew
from ptxloom.diagnosis.lines.ctas import base_of, deciding, own_term_of, term_of, term_of_others
from ptxloom.diagnosis.lines.loops import ends_of
from ptxloom.diagnosis.lines.moved import where_used
from ptxloom.diagnosis.lines.reached import kept_from
from ptxloom.diagnosis.lines.terms import Line, at_index
from ptxloom.diagnosis.mending.addresses import of_address
from ptxloom.diagnosis.mending.swizzles import EITHER, both_swizzle, of_swizzle
from ptxloom.diagnosis.mending.vectors import of_vectors
from ptxloom.diagnosis.model import Diagnosis
from ptxloom.diagnosis.origins.bases import way
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.tiles import whole
from ptxloom.diagnosis.pictures import PLACES, Picture, about_of, of_tile
from ptxloom.diagnosis.taken import taken_out
from ptxloom.diagnosis.totals import COPY, STEP
from ptxloom.readings.effects import copies, loads, moves_matrix, stores, updates_memory
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.copies import Copy
    from ptxloom.diagnosis.expectation import Expectation
    from ptxloom.diagnosis.factors import Unstored
    from ptxloom.diagnosis.laws import Suspect
    from ptxloom.diagnosis.model import Repair
    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.diagnosis.totals import Total
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray
    from ptxloom.syntax.origins import SourceLine

_EXCHANGED = ("matrices-exchanged", "registers-exchanged")
_MOST_DETAILS = 3
_ONE_CHANGE = ("rows-shifted", "columns-shifted")  # by one distance: by several, an array may be read as none should be
_BYTE_BITS = 8
_UNKNOWN = Named("unknown", "no single change explains it", 9)


class Run(NamedTuple):
    """The input of the laws.

    Attributes:
        record: Where everything came from.
        arrays: The arrays of the record, then matrices that are never stored.
        said: What the kernel is declared to compute.
        used: The arrays that are multiplied.
        nodes: What values were computed from.
        lines: For matrices that are never stored, the array that the k of a product with them comes from, and its
            paths.
    """

    record: ProvenanceRecord
    arrays: tuple[TracedArray, ...]
    said: Expectation | None
    used: frozenset[int]
    nodes: NDArray[Any]
    lines: Mapping[int, tuple[int, Integers]] = MappingProxyType({})

    def knowing(self, result: Unstored) -> Run:
        """This run with one more matrix."""
        lines = {**self.lines, result.array.number: result.lines}
        return self._replace(arrays=(*self.arrays, result.array), lines=lines)


def merged(broken: Sequence[Suspect], run: Run) -> list[Diagnosis]:
    """Merge the operands that one change explains into one diagnosis."""
    by_cause: defaultdict[tuple[str, str], list[Suspect]] = defaultdict(list)
    for suspect in broken:
        by_cause[suspect.tile.role, first_of(suspect).cause].append(suspect)
    return [_diagnosis(group, run) for group in by_cause.values()]


def first_of(suspect: Suspect) -> Named:
    """The likeliest explanation of an operand."""
    return suspect.explained[0].named if suspect.explained else _UNKNOWN


def _diagnosis(group: Sequence[Suspect], run: Run) -> Diagnosis:
    record = run.record
    first = group[0]
    named, role = first_of(first), first.tile.role
    wrong = [~whole(s.tile, s.wanted) & s.tile.known for s in group]
    paths = np.concatenate([s.stack.path[s.events][bad] for s, bad in zip(group, wrong, strict=True)])
    products = [record.program.ops[s.evidence.site] for s in group]
    lost = _is_lost(group, role, record)
    array = first.stack.array
    if named.cause == "k-tile-mismatch" and array in run.lines:  # its k are lines of another array
        (array, paths), lost = run.lines[array], True
    said = first.explained[0].culprit if first.explained else None
    copy = None if said else by_copy(named, first, first.stack, record)
    said = said or (copy if copy and copy.repair else _of_start(named, role, products, record, lost=lost) or copy)
    said = said or by_address([first_of(one) for one in group], group, record)
    found = said or culprit(named, role, paths, products, record, ops=record.program.ops, lost=lost)
    if found.repair is None and first.explained and role in "abd":
        found = replace(found, repair=_repair(group, found, paths, record))
    found = _by_cta(found, group, wrong, role, record)
    if found.repair is None and (taken := taken_out(group, wrong, record, run.nodes)) is not None:
        found = replace(found, op=taken, concerned=(*found.concerned, taken))
    found = _at_index(found, record, array)
    others = {e.named.cause for s in group for e in s.explained} - {named.cause}
    proved = all(e.proved for s in group for e in s.explained)
    known = bool(first.explained) and named.cause != _UNKNOWN.cause
    certain = known and proved and not others and all(s.sure for s in group) and not _may_be_meant(first, found)
    certain = certain and not (named.cause in _ONE_CHANGE and len({first_of(s).detail for s in group}) > 1)
    ways = ways_of(paths, record, record.program.ops)
    either = named.cause == "swizzle-mismatch" and both_swizzle(ways, record.program)
    divided = found.cause == _EXCHANGED[0] and any(is_divided(op, products, role) for op in found.concerned)
    certain = certain and not (is_right_turned(first) or either or divided)
    return Diagnosis(
        first.law,
        role,
        run.arrays[array].name,
        found.cause,
        _details(group) + EITHER * either,
        certain,
        tuple(sorted(others)),
        found.op.line,
        found.op.text,
        source_of(found.op, record),
        tuple(dict.fromkeys(op.line for op in found.concerned)),
        sum(int(np.count_nonzero(bad)) for bad in wrong),
        sum(int(np.count_nonzero(s.tile.known)) for s in group),
        found.repair,
        _picture(first, record),
        first.alternative,
    )


def _repair(group: Sequence[Suspect], found: Culprit, paths: Integers, record: ProvenanceRecord) -> Repair | None:
    """The change of the PTX that mends an operand, if the constants or registers to change are known."""
    named, tile = first_of(group[0]), group[0].tile
    if found.cause in _EXCHANGED:
        return of_vectors(group, record)
    if found.cause == "swizzle-mismatch":
        return of_swizzle(named.swizzle, ways_of(paths, record, record.program.ops), found.concerned, record.program)
    return of_address(named, tile.role, found, tile.plane, record.program)


def _of_start(
    named: Named, role: str, products: Sequence[Op], record: ProvenanceRecord, *, lost: bool
) -> Culprit | None:
    """The source of the start address of a factor with wrong k, although the right ones were there too."""
    if named.cause != "k-tile-mismatch" or lost or role not in "ab":
        return None
    if not all(is_described(op, role, record) for op in products):
        return None
    makers = start_makers(role, products, record)
    return Culprit(named.cause, makers[0], None, (*makers, *products)) if makers else None


def _is_lost(group: Sequence[Suspect], role: str, record: ProvenanceRecord) -> bool:
    """Whether the elements that a factor should hold were never copied: then the copy is wrong, and not its reader."""
    first = group[0]
    there = was_there(first, record) if role in "ab" and first.explained else None
    if there is not None:
        return not there
    return all(s.lost is not None for s in group) and not _was_copied(first, record)


def _may_be_meant(suspect: Suspect, found: Culprit) -> bool:
    """Whether an order that explains an operand may be the undeclared order of the array itself.

    Elements of fewer bits than a byte are packed in many orders; elements straight from an array are not swizzled by
    the kernel, so another order of their chunks may also come from the array's writer.
    """
    if found.cause == "halves-exchanged":
        return suspect.tile.plane.unit_bits < _BYTE_BITS
    return found.cause == "swizzle-mismatch" and not any(map(_is_in_shared_memory, found.concerned))


def is_right_turned(suspect: Suspect) -> bool:
    """Whether a factor is complete if its square array is read the other way: the intended way is unknown."""
    plane, tile = suspect.tile.plane, suspect.tile
    if plane.pitch != plane.lines or tile.role not in "ab":
        return False
    turned = replace(tile, rows=tile.columns, columns=tile.rows)
    return bool(whole(turned).all())


def _is_in_shared_memory(op: Op) -> bool:
    """Whether an instruction certainly accesses shared memory."""
    return moves_rows(op) or any(touch.space == "shared" for touch in touches(op.node))


def _was_copied(suspect: Suspect, record: ProvenanceRecord) -> bool:
    """Whether the missing elements were copied: then their reader is wrong, not the copy."""
    plane = suspect.tile.plane
    return was_copied(plane, suspect.lost, record, slow=plane.slow_rows == (suspect.tile.role != "a"))


def _by_cta(
    found: Culprit, group: Sequence[Suspect], wrong: Sequence[Truth], role: str, record: ProvenanceRecord
) -> Culprit:
    """The term of an address with the CTA's index, if that index alone decides which products are wrong."""
    if found.repair is not None or role not in "abd":
        return found
    numbers = [s.evidence.numbers for s in group]
    bad = [
        np.isin(np.arange(len(s.evidence.numbers)), s.events[w.any(axis=(1, 2))])
        for s, w in zip(group, wrong, strict=True)
    ]
    field = deciding(np.concatenate(numbers), np.concatenate(bad), record)
    moving = (stores, updates_memory) if role == "d" else (loads, copies)
    single = [op for op in found.concerned if op.has("global") and not moves_matrix(op.node)]
    moves = [op for op in single if any(does(op.node) for does in moving)]
    term = None
    if field and moves:
        term = own_term_of(moves[0], field, record.program, shared=True) or term_of(moves[0], field, record.program)
        term = term or term_of_others(moves[0], field, record.program)
    return found if term is None else replace(found, op=term, concerned=(*found.concerned, found.op))


def _at_index(found: Culprit, record: ProvenanceRecord, array: int) -> Culprit:
    """Where the index of a wrong global address is computed, if nothing more specific is known."""
    if found.repair is not None:
        return found
    line = at_index(Line(found.op, found.concerned), record, array)
    return replace(found, op=line.op, concerned=line.concerned)


def _details(group: Sequence[Suspect]) -> str:
    """The details for each of several instructions."""
    details = list(dict.fromkeys(first_of(suspect).detail for suspect in group))
    return "; or ".join(details[:_MOST_DETAILS])


def of_copy(copy: Copy, record: ProvenanceRecord) -> Diagnosis:
    """The diagnosis of a copy that is wrong."""
    named = copy.explained[0].named if copy.explained else _UNKNOWN
    others = tuple(sorted({one.named.cause for one in copy.explained} - {named.cause}))
    last = [op for number in np.unique(copy.paths).tolist() for op in _last(number, record)]
    found = culprit(named, "copy", copy.paths, last, record, ops=record.program.ops)
    certain = copy.stated and named.cause != _UNKNOWN.cause and not others
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
        source_of(found.op, record),
        tuple(dict.fromkeys(op.line for op in found.concerned)),
        int(np.count_nonzero(bad)),
        bad.size,
        found.repair,
        _picture_of_copy(copy),
    )


def _picture_of_copy(copy: Copy) -> Picture:
    """The first of the tiles with the most wrong elements."""
    mended = copy.explained[0].repaired if copy.explained else None
    at, held, wanted = of_tile(copy.tile, copy.wanted, mended)
    first = f"({int(copy.rows[at])}, {int(copy.columns[at])})"
    return Picture(f"the tile of {copy.array.name} from {first} on: {PLACES}", held, wanted)


def _last(path: int, record: ProvenanceRecord) -> list[Op]:
    """The instruction that ends a path."""
    sites = way(record, path)
    return [record.program.ops[sites[-1]]] if sites else []


def of_total(total: Total, run: Run) -> Diagnosis:
    """The diagnosis of a law of the whole that is broken."""
    record = run.record
    products = [record.program.ops[site] for site in total.sites]
    found = culprit(total.named, total.role, total.paths, products, record, ops=record.program.ops)
    if total.lines:
        told = [record.program.ops[site] for site in total.lines]
        found = replace(found, op=told[0], concerned=tuple(dict.fromkeys((*told, *found.concerned))))
    elif total.named.cause != "k-missing" and all(is_described(op, total.role or "b", record) for op in products):
        found = _of_described(found, total, products, record)
    elif total.named.cause in ("k-twice", "k-missing"):
        found = _of_loop(found, total, products, record)
    elif total.by >= 0:
        found = replace(
            found, op=record.program.ops[total.by], concerned=(*found.concerned, record.program.ops[total.by])
        )
    elif total.role in ("a", "b") and total.array >= 0:
        found = _at_index(found, record, total.array)
        found = replace(found, op=where_used(found.op, record.program)) if total.law == "block" else found
    elif total.named.cause == "stored-twice" and total.field:
        term = own_term_of if total.alone else base_of
        base = term(found.op, total.field, record.program)
        found = found if base is None else replace(found, op=base, concerned=(*found.concerned, base))
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
        source_of(found.op, record),
        tuple(dict.fromkeys(op.line for op in found.concerned)),
        total.wrong,
        total.total,
        picture=total.picture,
    )


def _of_described(found: Culprit, total: Total, products: Sequence[Op], record: ProvenanceRecord) -> Culprit:
    """For factors read through descriptors: their copy if it failed, else what computes the descriptors."""
    copies = copies_of(total.ways, record)
    if total.named.cause == "operands-exchanged":
        held = any(is_held(a.number, products[0].site, record) for a in record.arrays if a.number != total.array)
        makers = common_makers(total.role, products, record) if held else ()
        copies = list(makers) or copies
    elif total.read_wrong and (makers := unmoved(products, record)):
        copies = list(makers)
    return replace(found, op=copies[0], concerned=(*copies, *found.concerned)) if copies else found


def _of_loop(found: Culprit, total: Total, products: Sequence[Op], record: ProvenanceRecord) -> Culprit:
    """Where k begins for each CTA, if several add to one sum; else, for missing k, where their loop ends."""
    loads = copies_of(total.ways, record)
    op = term_of(loads[0], total.field, record.program) if total.field and loads else None
    if op is None and total.named.cause == "k-missing":
        op = started_anew(products, record) or (kept_from(loads[0], record) if loads else None)
    if op is None and total.named.cause == "k-missing" and (ends := ends_of(products[0], loads, record.program)):
        between = total.certain or 2 * total.wrong >= total.total  # or of two tiles one, which a double step does, too
        op = ends.step if between else ends.test
        found = replace(found, concerned=(*found.concerned, ends.test, ends.step))
    if op is None and total.again == STEP and (ends := ends_of(products[0], loads, record.program)):
        op = ends.step
    if op is None and total.again == COPY and loads:
        op = loads[0]
    return found if op is None else replace(found, op=op, concerned=(*found.concerned, op))


def source_of(op: Op, record: ProvenanceRecord) -> SourceLine | None:
    """The line of the compiled program that an instruction comes from; for line 0, that of the next one before it."""
    origins = origins_in(record.program.module)
    for one in (op, *reversed(record.program.ops[: op.site])):
        found = origins.at(one.node.start)
        if one.function is op.function and (found is None or found.home.line):
            return found
    return origins.at(op.node.start)


def _picture(suspect: Suspect, record: ProvenanceRecord) -> Picture:
    """The first of the products with the most wrong elements."""
    mended = suspect.explained[0].repaired if suspect.explained else None
    at, held, wanted = of_tile(suspect.tile, suspect.wanted, mended)
    return Picture(about_of(int(suspect.evidence.numbers[suspect.events[at]]), record), held, wanted)
