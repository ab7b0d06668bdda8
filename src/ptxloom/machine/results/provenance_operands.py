"""The tags of a product's operands, stored by register, arranged as matrices."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnostics import UsageError
from ptxloom.fragments.derive import fragment
from ptxloom.isa.limits import LANES
from ptxloom.machine.instruments.matrix_tags import element_bytes
from ptxloom.machine.runtime.structs import trail as model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.instruments.matrix_tags import Factor
    from ptxloom.machine.results.raw_provenance import ProductSite, RawProvenance

OPERANDS: Final = ("a", "b", "c", "d")
_COLUMN_BITS: Final = 0xFFFF  # of an address in tensor memory


def by_element(
    known: ProductSite, operand: str, pool: NDArray[np.uint64], starts: NDArray[np.int64], events: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """(events, rows, columns) uint64: the tag of each element of an operand; of several matrices one below the other.

    Args:
        known: The products' instruction.
        operand: "a", "b", "c" or "d".
        pool: The tags of A, B and C of all products: by register, lane and place in the register; of factors in shared
            memory by core matrix, row, and place in the row; of products `in_lines` line by line.
        starts: (events,) where those of each product start.
        events: (events,) their numbers.

    Raises:
        UsageError: There is no such operand.
    """
    if operand not in OPERANDS:
        raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
    slots = _slots(known, operand)
    held = np.maximum(slots, 0)
    if operand == "d":
        numbers = (events[:, None, None] << model.SLOT_BITS | held).astype(np.uint64) << np.uint64(model.BYTE_BITS)
        found = np.uint64(model.PRODUCT) | numbers
    else:
        first = sum(_tag_count(known, name) for name in OPERANDS[: OPERANDS.index(operand)])
        found = pool[starts[:, None, None] + (first + held)]
    return np.where(slots < 0, np.uint64(0), found)


def _slots(known: ProductSite, operand: str) -> NDArray[np.int64]:
    """(rows, columns) int64: which of the tags of an operand each element has."""
    if known.in_lines:
        return line_slots(known.form, operand)
    place = _factor(known, operand)
    return element_slots(known.form, operand) if place is None else factor_slots(known.form, operand, place)


def _factor(known: ProductSite, operand: str) -> Factor | None:
    return dict(zip("ab", known.factors, strict=True)).get(operand)


def descriptor_place(known: ProductSite, operand: str) -> int | None:
    """How far behind the start of a product's tags the descriptor of a factor is; None without a descriptor."""
    if _factor(known, operand) is None:
        return None
    return _behind_scales(known) + int(operand == "b" and (known.in_lines or known.factors[0] is not None))


def scale_columns(raw: RawProvenance, numbers: NDArray[np.int64], operand: str) -> NDArray[np.int64]:
    """(products,) the columns of tensor memory at which a factor's scales begin, of products of one instruction.

    Args:
        raw: What native code has kept.
        numbers: (products,) which they are; they are block-scaled.
        operand: "a" or "b".
    """
    known = raw.of(int(numbers[0]))
    place = _behind_scales(known) + len(known.factors) + "ab".index(operand)
    found = raw.pool[raw.events["start"][numbers].astype(np.int64) + place] & np.uint64(_COLUMN_BITS)
    return found.astype(np.int64)


def _behind_scales(known: ProductSite) -> int:
    """How many tags the elements and the scales of a product have."""
    return sum(_tag_count(known, name) for name in "abc") + (known.form.m + known.form.n) * known.scales


def scale_slots(known: ProductSite, operand: str) -> NDArray[np.int64]:
    """(rows or columns, scales) int64: how far behind the start of a product's tags those of its scales are."""
    first = sum(_tag_count(known, name) for name in "abc") + (operand == "b") * known.form.m * known.scales
    lines = known.form.m if operand == "a" else known.form.n
    return first + np.arange(lines * known.scales).reshape(lines, known.scales)


def _tag_count(known: ProductSite, operand: str) -> int:
    if known.in_lines:
        return 1 + int(line_slots(known.form, operand).max())
    place = _factor(known, operand)
    if place is None:
        return slot_count(known.form, operand)
    return place.lines * place.parts * 8 * (16 // element_bytes(known.form, operand))


@cache
def line_slots(form: MatrixForm, operand: str) -> NDArray[np.int64]:
    """(rows, columns) int64: which of its tags each element of an operand has that is noted line by line."""
    lines, along = form.extent(operand) if operand != "b" else form.extent(operand)[::-1]
    bits, each = form.container_bits(operand), 8 * element_bytes(form, operand)
    slots = np.arange(lines)[:, None] * (along * bits // each) + np.arange(along)[None, :] * bits // each
    return slots.T if operand == "b" else slots


@cache
def factor_slots(form: MatrixForm, operand: str, place: Factor) -> NDArray[np.int64]:
    """(rows, columns) int64: which of its tags each element of a factor in shared memory has."""
    bits, each = form.container_bits(operand), element_bytes(form, operand)
    extent = (8 * place.lines, form.stored_k if operand == "a" else form.k)  # along M or N, along K
    along, inner = np.indices(extent)
    if place.across:
        line, part, row, byte = along // 8, inner // 8, inner % 8, along % 8 * bits // 8
    else:
        line, row, part, byte = along // 8, along % 8, inner * bits // 128, inner * bits // 8 % 16
    slots = ((line * place.parts + part) * 8 + row) * (16 // each) + byte // each
    return slots if operand == "a" else slots.T


@cache
def slot_count(form: MatrixForm, operand: str) -> int:
    """How many tags an operand of a warp has."""
    return form.registers(operand) * LANES * form.register_bits // 8 // element_bytes(form, operand)


@cache
def element_slots(form: MatrixForm, operand: str) -> NDArray[np.int64]:
    """(rows, columns) int64: which of a warp's tags each element has, -1 for no tag; of several copies the first."""
    held = fragment(form.spelling, "d" if operand == "c" and form.warps > 1 else operand)
    each = 8 * element_bytes(form, operand)
    per = held.register_bits // each
    result = np.full((held.matrices * held.rows // form.warps, held.columns), -1, np.int64)
    for e in reversed(held.elements):
        if e.lane < LANES:  # those of the first of a warpgroup's warps: the others hold further rows alike
            result[e.matrix * held.rows + e.row, e.column] = (e.register * LANES + e.lane) * per + e.bit // each
    return result


@cache
def first_bits(known: ProductSite, operand: str) -> NDArray[np.uint8]:
    """(rows, columns) uint8: the bit at which each element starts in its byte, where several share one."""
    form = known.form
    if known.in_lines and form.container_bits(operand) < 8 and operand in "ab":
        along = np.indices(form.extent(operand))[1 if operand == "a" else 0]
        return (along * form.container_bits(operand) % 8).astype(np.uint8)
    if known.in_lines or form.warps > 1:
        return np.zeros((), np.uint8)
    held = fragment(form.spelling, operand)
    result = np.zeros((held.matrices * held.rows, held.columns), np.uint8)
    for e in held.elements if held.stride < 8 else ():
        result[e.matrix * held.rows + e.row, e.column] = e.bit % 8
    return result


@cache
def slot_items(known: ProductSite) -> NDArray[np.int32]:
    """(slots,) int32: the flat number in D of the element that a slot holds."""
    if known.in_lines:
        return np.arange(known.form.m * known.form.n, dtype=np.int32)
    slots = element_slots(known.form, "d")
    result = np.full(slot_count(known.form, "d"), -1, np.int32)
    result[slots[slots >= 0]] = np.flatnonzero(slots >= 0)
    return result
