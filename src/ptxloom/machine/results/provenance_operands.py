"""The tags of a product's operands, which lie as registers do, arranged as the matrices that they are."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnostics import UsageError
from ptxloom.fragments.derive import fragment
from ptxloom.isa.limits import LANES
from ptxloom.machine.instruments.matrix_tags import element_bytes
from ptxloom.machine.runtime import trail as model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.instruments.matrix_tags import Factor

OPERANDS: Final = ("a", "b", "c", "d")


def by_element(
    form: MatrixForm,
    operand: str,
    pool: NDArray[np.uint64],
    starts: NDArray[np.int64],
    events: NDArray[np.int64],
    *,
    factors: tuple[Factor | None, Factor | None] = (None, None),
) -> NDArray[np.uint64]:
    """(events, rows, columns) uint64: the tag of each element of an operand; of several matrices one below the other.

    Args:
        form: The products.
        operand: "a", "b", "c" or "d".
        pool: The tags of A, B and C of all products, by register, lane and place in the register.
        starts: (events,) where those of each product start.
        events: (events,) their numbers.
        factors: A and B where they lie in shared memory: then by core matrix, row, and place in the row.

    Raises:
        UsageError: There is no such operand.
    """
    if operand not in OPERANDS:
        raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
    places = {"a": factors[0], "b": factors[1]}
    place = places.get(operand)
    slots = element_slots(form, operand) if place is None else factor_slots(form, operand, place)
    held = np.maximum(slots, 0)
    if operand == "d":
        numbers = (events[:, None, None] << model.SLOT_BITS | held).astype(np.uint64) << np.uint64(model.BYTE_BITS)
        found = np.uint64(model.PRODUCT) | numbers
    else:
        before = OPERANDS[: OPERANDS.index(operand)]
        first = sum(_tag_count(form, name, places.get(name)) for name in before)
        found = pool[starts[:, None, None] + (first + held)]
    return np.where(slots < 0, np.uint64(0), found)


def descriptor_place(form: MatrixForm, operand: str, factors: tuple[Factor | None, Factor | None]) -> int | None:
    """How far behind the start of a product's tags the descriptor of a factor is; None without a descriptor."""
    places = dict(zip("ab", factors, strict=True))
    if places.get(operand) is None:
        return None
    tags = sum(_tag_count(form, name, places.get(name)) for name in "abc")
    return tags + int(operand == "b" and factors[0] is not None)


def _tag_count(form: MatrixForm, operand: str, place: Factor | None) -> int:
    if place is None:
        return slot_count(form, operand)
    return place.lines * place.parts * 8 * (16 // element_bytes(form, operand))


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
def first_bits(form: MatrixForm, operand: str) -> NDArray[np.uint8]:
    """(rows, columns) uint8: the bit at which each element starts in its byte, where several share one."""
    if form.warps > 1:
        return np.zeros((), np.uint8)
    held = fragment(form.spelling, operand)
    result = np.zeros((held.matrices * held.rows, held.columns), np.uint8)
    for e in held.elements if held.stride < 8 else ():
        result[e.matrix * held.rows + e.row, e.column] = e.bit % 8
    return result


@cache
def slot_items(form: MatrixForm) -> NDArray[np.int32]:
    """(slots,) int32: the flat number in D of the element that a slot holds."""
    slots = element_slots(form, "d")
    result = np.full(slot_count(form, "d"), -1, np.int32)
    result[slots[slots >= 0]] = np.flatnonzero(slots >= 0)
    return result
