"""The evidence of a run about its matrix products, collected by instruction.

The operands of all products that one instruction has made become one stack: (events, rows, columns) of offsets into the
array that they come from. Products that add to each other are a chain; what the last of a chain gives is stored in an
array, and so all of a chain have a place in it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.origins.chains import Places
from ptxloom.diagnosis.origins.packed import first_bits, unit_bits_of
from ptxloom.diagnosis.origins.products import products_of_sites
from ptxloom.diagnosis.origins.stacks import Made, Stack
from ptxloom.isa.types import element_type
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.bases import Bases
    from ptxloom.diagnosis.origins.products import SiteProducts
    from ptxloom.diagnosis.origins.tiles import Integers
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray

_NIBBLE: Final = 4  # bits
_BYTE_BITS: Final = 8
_LEAST_BITS: Final = 4  # of an element that is followed
_FROM_ARRAYS: Final = (Kind.EXACT, Kind.CONVERTED)


@dataclass(frozen=True, slots=True, eq=False)
class SiteEvidence:
    """All products of one instruction.

    Attributes:
        site: The instruction's number in the program.
        line: Its PTX line.
        text: The instruction.
        form: Shape and types.
        numbers: (events,) the products' numbers.
        chain: (events,) the chain that each belongs to.
        a: The first factor; None if it comes from no array.
        b: The second factor; likewise.
        d: The places in the result; None if it goes to no array.
        made: The factors, by their roles, that come from no array but may be computed from other products.
        described: The factors, by their roles, that are in shared memory, given by a descriptor.
    """

    site: int
    line: int
    text: str
    form: MatrixForm
    numbers: Integers
    chain: Integers
    a: Stack | None
    b: Stack | None
    d: Stack | None
    made: Mapping[str, Made]
    described: str = ""

    @property
    def stacks(self) -> tuple[Stack, ...]:
        """Those operands that come from arrays, or go to one."""
        return tuple(stack for stack in (self.a, self.b, self.d) if stack is not None)


def gather(record: ProvenanceRecord, bases: Bases) -> tuple[tuple[SiteEvidence, ...], Places | None]:
    """The product instructions that laws apply to, in program order; and where all results are stored.

    Those that `unfollowed` names are left out.
    """
    made = products_of_sites(record)
    judged = tuple(group for group in made if not unfollowed(group.form))
    if not judged:
        return (), None
    places = Places(record, judged)
    ordered = sorted(judged, key=lambda group: group.site)
    found = [_evidence(group, record, bases, places, {}) for group in ordered]
    finest = _finest(found)
    for number, (group, one) in enumerate(zip(ordered, found, strict=True)):
        if any(stack.role != "d" and stack.unit_bits > finest.get(stack.array, 0) > 0 for stack in one.stacks):
            found[number] = _evidence(group, record, bases, places, finest)
    return tuple(found), places


def _evidence(
    group: SiteProducts, record: ProvenanceRecord, bases: Bases, places: Places, finest: Mapping[int, int]
) -> SiteEvidence:
    """The products of one instruction; elements of packed arrays have the bits that `finest` tells."""
    raw = {name: group.operand(name) for name in "ab"}
    factors = {name: bases.of(origins) for name, origins in raw.items()}
    a, b = (
        _with_nodes(_stack(record, name, group.form, origins, finest), raw[name]) for name, origins in factors.items()
    )
    made = {
        name: Made(*places.roots.of(origins), origins["path"].astype(np.int64))
        for (name, origins), stack in zip(factors.items(), (a, b), strict=True)
        if stack is None
    }
    chain, numbers = places.chain[group.numbers], group.numbers
    facts = (group.site, group.line, group.text, group.form, numbers, chain)
    return SiteEvidence(*facts, a, b, places.of(group), made, group.described)


def _finest(found: Sequence[SiteEvidence]) -> dict[int, int]:
    """The element width, in bits, of each array with several elements per byte, as some instruction reads them.

    An instruction that takes only the first of each byte does not show that there are others.
    """
    finest: dict[int, int] = {}
    for stack in (stack for one in found for stack in (one.a, one.b) if stack is not None):
        if stack.unit_bits < _BYTE_BITS:
            finest[stack.array] = min(stack.unit_bits, finest.get(stack.array, _BYTE_BITS))
    return finest


def with_nibbles(group: Sequence[SiteEvidence]) -> tuple[SiteEvidence, ...] | None:
    """Products whose factors are computed from bytes, with these read as the lower halves; None if there are none.

    If only one half of some words was ever used, no bit shows that there are two.
    """
    roles = [role for role in ("a", "b") if all(_may_be_packed(site, role) for site in group)]
    if not roles:
        return None
    return tuple(replace(site, **{role: getattr(site, role).halved() for role in roles}) for site in group)


def _may_be_packed(site: SiteEvidence, role: str) -> bool:
    """Whether a factor is computed from bytes, which may hold two elements each."""
    stack = site.a if role == "a" else site.b
    return stack is not None and stack.unit_bits == 2 * _NIBBLE < site.form.container_bits(role)


def _with_nodes(stack: Stack | None, origins: NDArray[Any]) -> Stack | None:
    """An operand with what its elements were computed from."""
    if stack is None:
        return None
    computed = (origins["kind"] == Kind.COMPUTED) & (origins["node"] > 0) & stack.known
    return replace(stack, node=np.where(computed, origins["node"], 0)) if computed.any() else stack


def unfollowed(form: MatrixForm) -> str:
    """Why laws cannot be checked for a form of product, as the end of a sentence; empty if they can."""
    if form.quad_pairs:
        return "products that a warp computes four at a time are not followed"
    return "products of single bits are not followed" if form.container_bits("a") < _LEAST_BITS else ""


def _stack(
    record: ProvenanceRecord, role: str, form: MatrixForm, origins: NDArray[Any], finest: Mapping[int, int]
) -> Stack | None:
    """An operand as offsets into the array that most of it comes from; None if it comes from no array.

    Elements that are filled, as beyond the edge of a matrix, do not count.
    """
    from_array = np.isin(origins["kind"], _FROM_ARRAYS)
    if 2 * np.count_nonzero(from_array) < np.count_nonzero(origins["kind"] != Kind.NONE) or not from_array.any():
        return None
    numbers, counts = np.unique(origins["array"][from_array], return_counts=True)
    array = record.arrays[int(numbers[np.argmax(counts)])]
    here = from_array & (origins["array"] == array.number)
    exact = bool(2 * np.count_nonzero(here & (origins["kind"] == Kind.EXACT)) > np.count_nonzero(here))
    here &= origins["kind"] == (Kind.EXACT if exact else Kind.CONVERTED)
    element_bits = element_type(form.type_of(role)).packed_bits
    bits = 8 * array.dtype.itemsize
    first = first_bits(origins)
    fine = bits if exact else min(unit_bits_of(first[here], bits), finest.get(array.number, bits))
    if fine < _BYTE_BITS:
        unit_bits = fine
        offset: Integers = (origins["element"].astype(np.int64) * bits + first) // unit_bits
    else:
        unit_bits = _unit_bits(form.container_bits(role), element_bits, array, exact=exact)
        offset = _offsets(role, origins, array, unit_bits)
    here &= offset >= 0
    missing = origins["kind"] == Kind.NONE
    return Stack(role, array.number, unit_bits, offset, here, origins["path"].astype(np.int64), missing)


def _unit_bits(container_bits: int, element_bits: int, array: TracedArray, *, exact: bool) -> int:
    """The bits that an element of the operand takes in the array; unpacked 4-bit elements share bytes."""
    if element_bits == 4 and array.dtype.itemsize == 1:
        return 4
    return container_bits if exact else 8 * array.dtype.itemsize


def _offsets(role: str, origins: NDArray[Any], array: TracedArray, unit_bits: int) -> Integers:
    """Offsets in units; -1 for what does not start at a unit."""
    element, byte = origins["element"].astype(np.int64), origins["byte"].astype(np.int64)
    at: Integers = np.multiply(element * array.dtype.itemsize + byte, 8)
    if unit_bits == 4:  # two elements of a byte: the lower bits are of the one with the lower k
        along = 2 if role == "a" else 1
        at += 4 * (np.indices(at.shape)[along] & 1)
    return np.where(at % unit_bits == 0, at // unit_bits, -1)
