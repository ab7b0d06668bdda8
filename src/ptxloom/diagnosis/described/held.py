"""The contents of shared memory when descriptors were followed: by address, the element there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias, cast

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.operand import canonical_layout
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.descriptors.matrix import MatrixDescriptor
    from ptxloom.diagnosis.origins.evidence import SiteEvidence
    from ptxloom.diagnosis.origins.stacks import Stack
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.machine.results.provenance import ProvenanceRecord

MAJORS: Final = ("k", "mn")

_Flat: TypeAlias = tuple[int, ...]
_Two: TypeAlias = tuple[_Flat, _Flat]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Shared memory at the first product of an instruction, and the products that read it so.

    Attributes:
        events: (products,) their places among those of the instruction.
        bits: The descriptor that they share.
        first_row: The operand's row that is the first of their rows.
        lines: The columns of B there: for a pair of CTAs, this CTA's share.
        major: The coordinate along which the instruction expects elements to be contiguous.
        offset: (bytes,) the offset in the array of the element that begins at each address; -1: none does.
    """

    events: Integers
    bits: int
    first_row: int
    lines: int
    major: str
    offset: Integers


def held_at(evidence: SiteEvidence, stack: Stack, record: ProvenanceRecord) -> Iterator[Held]:
    """The moments at which shared memory was kept as an instruction's products found it.

    Args:
        evidence: The instruction.
        stack: Its factor, from shared memory.
        record: Knows descriptors and memory.
    """
    raw = record.raw
    words = record.descriptors(evidence.numbers, stack.role)
    known = raw.of(int(evidence.numbers[0]))
    factor = dict(zip("ab", known.factors, strict=True)).get(stack.role)
    if words is None or factor is None or evidence.site not in raw.moments or stack.unit_bits % 8:
        return
    events = raw.events[evidence.numbers]
    for cta in raw.kept:
        place = raw.kept.index(cta), 1 + raw.moments.index(evidence.site)
        own = np.flatnonzero(events["cta"] == cta)
        if not raw.taken[place] or not len(own):
            continue
        offset = _offsets(stack, record, place)
        _, firsts = np.unique(events["warp"][own], return_index=True)
        chosen = own[firsts]
        for bits in np.unique(words[chosen]).tolist():
            same = chosen[words[chosen] == bits]
            of_warpgroup = stack.role == "a" and known.form.warps > 1
            rows = 16 * (events["warp"][same].astype(np.int64) % 4) * of_warpgroup
            order = np.argsort(rows, kind="stable")
            yield Held(same[order], bits, int(rows.min()), 8 * factor.lines, MAJORS[factor.across], offset)


def _offsets(stack: Stack, record: ProvenanceRecord, place: tuple[int, int]) -> Integers:
    """Which element of a factor's array begins at each address."""
    origins = record.origins(record.raw.pictures[place])
    array = record.arrays[stack.array]
    bits = (origins["element"].astype(np.int64) * array.dtype.itemsize + origins["byte"]) * 8
    own = (origins["kind"] == Kind.EXACT) & (origins["array"] == stack.array) & (bits % stack.unit_bits == 0)
    return np.where(own, bits // stack.unit_bits, -1)


def addresses(descriptor: MatrixDescriptor, major: str, element_bits: int, rows: Integers, columns: int) -> Integers:
    """(rows, columns) the addresses of elements.

    Args:
        descriptor: Says where they are.
        major: The coordinate along which they are contiguous.
        element_bits: How wide they are.
        rows: Which rows.
        columns: How many columns, from the first on.
    """
    plain = plain_addresses(descriptor, major, element_bits, rows, columns)
    return np.asarray(descriptor.mode(plain, descriptor.base_offset), np.int64)


def plain_addresses(
    descriptor: MatrixDescriptor, major: str, element_bits: int, rows: Integers, columns: int
) -> Integers:
    """The same before they are swizzled."""
    extent = int(rows.max()) + 1, columns
    offsets = descriptor.leading_byte_offset, descriptor.stride_byte_offset
    layout = canonical_layout(major, descriptor.mode, element_bits, extent, offsets)
    shape, stride = cast("_Two", layout.shape), cast("_Two", layout.stride)
    (down, right), (row_steps, column_steps) = shape, stride
    apart = _along(rows, down, row_steps)[:, None] + _along(np.arange(columns), right, column_steps)[None, :]
    return descriptor.start_address + apart * element_bits // 8


def _along(places: Integers, shape: _Flat, stride: _Flat) -> Integers:
    """The offsets of the coordinates of one mode, whose parts are flat."""
    found = np.zeros(len(places), np.int64)
    for extent, step in zip(shape, stride, strict=True):
        found += places % extent * step
        places = places // extent
    return found


def read(offset: Integers, places: Integers) -> Integers:
    """The contents at some addresses; -1 for those beyond memory."""
    inside = (places >= 0) & (places < len(offset))
    return np.where(inside, offset[np.where(inside, places, 0)], -1)
