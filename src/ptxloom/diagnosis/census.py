"""What of a run was judged and what was not: every product, every element of its operands, every element stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ptxloom.diagnosis.examination import ELEMENTS, PRODUCTS, Unjudged
from ptxloom.diagnosis.laws import SHARED
from ptxloom.diagnosis.origins.evidence import unfollowed
from ptxloom.diagnosis.unread import Uses, never_read, never_summed
from ptxloom.machine.results.provenance import Kind
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.arrays.readings import Reading
    from ptxloom.diagnosis.copies import Copied
    from ptxloom.diagnosis.origins.chains import Places
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.tiles import Truth
    from ptxloom.diagnosis.relations.examined import Related
    from ptxloom.diagnosis.sums.examined import Summed
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import Contents, ProvenanceRecord, TracedArray

_FACTORS = "ab"
_STORED = {
    Kind.NONE: "they come from no array: literals or counters",
    Kind.COMPUTED: "they are computed, and not by matrix products that are followed",
    Kind.PRODUCT: "the products that they come from were not judged",
    Kind.MIXED: "their bytes do not belong together",
}
_COPIED = "they are copied from {}: no law says what belongs there (`expect` in the launch file does)"


class Asked(NamedTuple):
    """Products of the same arrays for which the laws were checked, or should have been.

    Attributes:
        group: The instructions, with the factors that were found for them.
        reading: How their arrays were read; None if they were not.
        why: What was left open, and why.
        condemned: Whether something is wrong with them, so that unchecked laws need no mention.
    """

    group: tuple[SiteEvidence, ...]
    reading: Reading | None
    why: str = ""
    condemned: bool = False


class Judged(NamedTuple):
    """What the laws were checked for.

    Attributes:
        asked: Products.
        copies: Arrays that are copies.
        summed: Arrays that hold sums of products of two elements, by their numbers.
        others: Arrays that are computed otherwise, likewise.
    """

    asked: Sequence[Asked]
    copies: Sequence[Copied]
    summed: Mapping[int, Summed]
    others: Mapping[int, Related]


class Census(NamedTuple):
    """The counts of an `Examination`."""

    products: int
    elements: int
    unjudged: tuple[Unjudged, ...]


class _Gap(NamedTuple):
    """Something at an instruction that was not judged."""

    what: str
    number: int
    op: Op | None
    array: str
    why: str


def unread(group: Sequence[SiteEvidence], arrays: Sequence[TracedArray]) -> str:
    """Why no reading of the arrays of a group was found."""
    known = {stack.role: arrays[stack.array].name for stack in group[0].stacks}
    if not known.keys() & set(_FACTORS):
        return "neither factor comes from an array, element by element"
    named = ", ".join(f"{role.upper()} from {name}" for role, name in sorted(known.items()) if role in _FACTORS)
    return f"no reading of its factors as plain matrices fits ({named})"


def census(record: ProvenanceRecord, judgement: Judged, places: Places | None, nodes: NDArray[Any]) -> Census:
    """Count what was judged, and name what was not."""
    asked, copies, summed, others = judgement
    whole = [one for one in asked if one.condemned or (one.reading is not None and not _is_open(one, asked))]
    judged = {site.site for one in whole for site in one.group}
    products = sum(count for site, count in _counts(record) if site in judged)
    gaps = [*_unfollowed(record), *_left(asked, record), *(gap for one in whole for gap in _of_operands(one, record))]
    stored = _stored_places(whole, record)
    elements = 0
    all_contents = [_contents(array, record, places) for array in record.arrays]
    gaps += _never(judgement, whole, all_contents, record, nodes)
    for array, contents in zip(record.arrays, all_contents, strict=True):
        copy = next((one for one in copies if one.contents.array is array), None)
        mask = stored.get(array.number, np.zeros(contents.stored_at.size, np.bool_))
        mask |= _copied_places(copy, contents)
        if array.number in summed:
            mask = mask & summed[array.number].mended | summed[array.number].judged
        other = others.get(array.number)
        if other is not None:
            mask = mask | other.judged
        written = contents.stored_at.ravel() >= 0
        elements += int(np.count_nonzero(written & mask))
        gaps += _of_stores(contents, written & ~mask, record, places, other.why if other is not None else "")
    return Census(products, elements, _merged(gaps, record))


def _contents(array: TracedArray, record: ProvenanceRecord, places: Places | None) -> Contents:
    return record.contents(array.number) if places is None else places.contents[array.number]


def _never(
    judgement: Judged,
    whole: Sequence[Asked],
    contents: Sequence[Contents],
    record: ProvenanceRecord,
    nodes: NDArray[Any],
) -> Iterator[_Gap]:
    """Elements that belong to what was judged but were never multiplied, or never stored."""
    right = [one for one in whole if not one.condemned and one.reading is not None]
    summed = [one for one in judgement.summed.values() if one.judged.any() and not one.found]
    copies = [one for one in judgement.copies if one.judged and one.wrong is None]
    if not right and not summed and not copies:
        return
    uses = Uses([one.group for one in judgement.asked], contents, nodes)
    found = [
        unread
        for one in right
        if one.reading is not None
        for unread in never_read(one.group, one.reading, uses, contents, record)
    ]
    found += [unread for one in summed for unread in never_summed(one.array, one.factors, uses, contents)]
    found += [unread for one in copies for unread in never_summed(one.contents.array.number, (), uses, contents)]
    for one in {(each.array, each.why): each for each in found}.values():
        why = f"{one.why}: no law says whether that is intended"
        yield _Gap(ELEMENTS, one.number, record.program.ops[one.site], record.arrays[one.array].name, why)


def _counts(record: ProvenanceRecord) -> Iterable[tuple[int, int]]:
    """How many products each instruction has made."""
    sites, counts = np.unique(record.raw.events["site"], return_counts=True)
    return zip(sites.tolist(), counts.tolist(), strict=True)


def _unfollowed(record: ProvenanceRecord) -> Iterator[_Gap]:
    """Products of forms that provenance does not follow, or that were not recorded."""
    for kind, known in enumerate(record.raw.sites):
        why = unfollowed(known.form)
        if why:
            count = int(np.count_nonzero(record.raw.kinds == kind))
            yield _Gap(PRODUCTS, count, record.program.ops[known.site], "", why)
    for limit in record.limits:
        yield _Gap(PRODUCTS, record.raw.missed, None, "", limit)


def _left(asked: Sequence[Asked], record: ProvenanceRecord) -> Iterator[_Gap]:
    """Products whose arrays could not be read, or with an unjudged operand or an unchecked law."""
    for one in asked:
        if one.condemned:
            continue
        opened = _open_roles(one, asked) if one.reading is not None else ()
        if one.reading is not None and one.group[0].form.sparse:
            opened = (*opened, "which k the metadata of a sparse A choose was not judged")
        for why in (one.why, *opened):
            for site in one.group if why else ():
                yield _Gap(PRODUCTS, len(site.numbers), record.program.ops[site.site], "", why)


def _is_open(one: Asked, asked: Sequence[Asked]) -> bool:
    """Whether an operand, or the metadata of a sparse one, was not judged."""
    return bool(_open_roles(one, asked)) or bool(one.group[0].form.sparse)


def _open_roles(one: Asked, asked: Sequence[Asked]) -> tuple[str, ...]:
    """The reasons why operands that come from no array were not judged."""
    planes = one.reading.planes if one.reading is not None else {}
    found = [
        f"{role.upper()} is computed, its elements are no array's: it was not judged"
        for role in _FACTORS
        if role not in planes
    ]
    if "d" not in planes and not any(_takes(other, one) for other in asked):
        found.append("its result ends in no array: where it goes was not judged")
    return tuple(found)


def _takes(other: Asked, one: Asked) -> bool:
    """Whether all factors of the judged products are results of other products."""
    if other.reading is None or other is one or not set(_FACTORS) <= set(other.reading.planes):
        return False
    taken = [site.made[role].product.ravel() for site in other.group for role in _FACTORS if role in site.made]
    last = np.concatenate([site.chain for site in one.group])
    return bool(taken) and bool(np.isin(last, np.concatenate(taken)).all())


def _of_operands(one: Asked, record: ProvenanceRecord) -> Iterator[_Gap]:
    """Elements of operands that should come from the judged array, but do not."""
    if one.condemned or one.reading is None:
        return
    for site in one.group:
        held = {stack.role: stack.known for stack in site.stacks if stack.role in one.reading.planes}
        for stack in site.stacks:
            count = int(np.count_nonzero(_unasked(stack.role, held))) if stack.role in held else 0
            known = stack.array < len(record.arrays)
            if not count or (stack.role == "d" and (record.contents(stack.array).stored_at >= 0).all()):
                continue
            array = record.arrays[stack.array].name if known else "what other products give"
            none = "they are not stored, or not to" if stack.role == "d" else "filled, computed or not copied; not from"
            why = f"of operand {stack.role}: {none} {array}"
            yield _Gap(ELEMENTS, count, record.program.ops[site.site], "", why)


def _unasked(role: str, held: Mapping[str, Truth]) -> Truth:
    """(events, rows, columns): which elements of an operand are unknown, although their partners are known.

    If a whole line of another operand is not from its array, the tile reaches beyond the matrix, and the contents there
    do not matter.
    """
    found = ~held[role]
    for axis, (other, along) in enumerate(SHARED[role]):
        if other in held:
            lines = np.expand_dims(held[other].any(axis=2 - along), 2 - axis)
            if lines.shape[1 + axis] == found.shape[1 + axis]:  # else a sparse A, whose k are others
                found &= lines
    return found


def _stored_places(whole: Sequence[Asked], record: ProvenanceRecord) -> dict[int, Truth]:
    """By array, which elements were stored by products that were judged."""
    found: dict[int, Truth] = {}
    for one in whole:
        for site in one.group:
            if site.d is not None:
                array = record.arrays[site.d.array]
                mask = found.setdefault(array.number, np.zeros(array.nbytes // array.dtype.itemsize, np.bool_))
                mask[site.d.offset[site.d.known]] = True
    return found


def _copied_places(copy: Copied | None, contents: Contents) -> Truth:
    """Which elements of an array were judged as copies."""
    kinds = contents.origins["kind"].ravel()
    if copy is None or not copy.judged:
        return np.zeros(kinds.shape, np.bool_)
    return np.isin(kinds, (Kind.EXACT, Kind.CONVERTED))


def _of_stores(
    contents: Contents, unasked: Truth, record: ProvenanceRecord, places: Places | None, known: str
) -> Iterator[_Gap]:
    """Elements of an array that were stored and not judged; `known` is the reason, where there is one."""
    at = np.flatnonzero(unasked)
    origins = contents.origins.ravel()[at]
    kinds = origins["kind"].copy()
    if places is not None:
        product, _ = places.roots.of(origins)
        kinds[product >= 0] = Kind.PRODUCT
    sites = contents.stored_at.ravel()[at]
    rows = np.stack((sites, kinds.astype(np.int64), origins["array"].astype(np.int64)), axis=1)
    names = {-1: "elsewhere", **{known.number: known.name for known in record.arrays}}
    alike, counts = np.unique(rows, axis=0, return_counts=True)
    for (site, kind, array), count in zip(alike.tolist(), counts.tolist(), strict=True):
        why = known or _STORED.get(Kind(kind)) or _COPIED.format(names[array])
        yield _Gap(ELEMENTS, count, record.program.ops[site], contents.array.name, why)


def _merged(gaps: Sequence[_Gap], record: ProvenanceRecord) -> tuple[Unjudged, ...]:
    """One entry for each reason and source line, in the order of the lines."""
    origins = origins_in(record.program.module)
    by_place: dict[tuple[object, ...], list[_Gap]] = {}
    for gap in gaps:
        origin = None if gap.op is None else origins.at(gap.op.node.start)
        place = origin if origin is not None or gap.op is None else gap.op.line
        by_place.setdefault((gap.what, gap.array, gap.why, str(place)), []).append(gap)
    found: list[Unjudged] = []
    for same in by_place.values():
        first = same[0]
        lines = tuple(sorted({gap.op.line for gap in same if gap.op is not None}))
        op = min((gap.op for gap in same if gap.op is not None), key=lambda op: op.line, default=None)
        found.append(
            Unjudged(
                "products" if first.what == PRODUCTS else "elements",
                sum(gap.number for gap in same),
                lines[0] if lines else 0,
                lines,
                op.text if op is not None else "",
                origins.at(op.node.start) if op is not None else None,
                first.array,
                first.why,
            )
        )
    return tuple(sorted(found, key=lambda one: one.line))
