"""Records the origins of a matrix product's operands, and of its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.limits import LANES
from ptxloom.isa.products import matrix_form
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.instruments.matrix_tags import element_bytes, factors_of
from ptxloom.machine.native.ir import Value
from ptxloom.machine.runtime.provenance import product_tags
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.instruments.tag_places import TagPlace, TagPlaces
    from ptxloom.machine.program.model import Op


def product(f: TagPlaces, b: Builder, op: Op) -> bool:
    """D is computed from A, B and C: record the origins of these."""
    form = matrix_form(op.spelling)
    sources = op.operands[1:]
    size = form.register_bits // 8
    count = sum(
        len(tree.elements_of(s)) * LANES * size // element_bytes(form, n) for n, s in zip("abc", sources, strict=False)
    )
    b.runtime(product_tags.begin_product, W, op.site, b.active_mask, count)
    for name, source in zip("abc", sources, strict=False):
        each = element_bytes(form, name)
        _note(b, op, _registers(f, op, source), LANES * size // each, each)
    _give(f, b, op, form)
    return True


def warpgroup(f: TagPlaces, b: Builder, op: Op) -> bool:
    """`wgmma`: D is computed from A and B, which may be in shared memory, and depending on `scale-d` from D."""
    if not op.has("mma_async"):
        return True
    form = matrix_form(op.spelling)
    kept = b.read_mask(op.operands[5 if form.sparse else 3])
    factors = factors_of(op, form)
    sizes = [element_bytes(form, name) for name in "abc"]
    held = [_registers(f, op, operand) for operand in (op.operands[1], op.operands[2], op.operands[0])]
    slots = [LANES * form.register_bits // 8 // size for size in sizes]
    places = (*factors, None)
    count = sum(
        8 * place.lines * place.parts * (16 // size) if place else len(registers) * slots_
        for place, size, registers, slots_ in zip(places, sizes, held, slots, strict=True)
    )
    described = [number for number, place in enumerate(factors) if place is not None]
    b.runtime(product_tags.begin_product, W, op.site, b.active_mask, count + len(described))
    for number, place in enumerate(factors):
        if place is None:
            _note(b, op, held[number], slots[number], sizes[number])
        else:
            facts = (int(number == 0), place.lines, place.parts, int(place.across), sizes[number])
            b.runtime(product_tags.note_factor, W, op.site, _descriptor(b, op, number), *facts)
    b.either(
        b.compare("ne", b.apply("and", kept, b.active_mask), Value("i32", "0")),
        lambda: _note(b, op, held[2], slots[2], sizes[2]),
        lambda: b.runtime(product_tags.note_nothing, W, len(held[2]) * slots[2]),
    )
    for number in described:
        b.runtime(product_tags.note_descriptor, W, _descriptor(b, op, number))
    _give(f, b, op, form)
    return True


def _descriptor(b: Builder, op: Op, number: int) -> Value:
    """The 64 bits that describe A (0) or B (1) in shared memory."""
    return b.extract(b.read(op.operands[1 + number], "b64"), 0)


def _note(b: Builder, op: Op, registers: Sequence[TagPlace | None], slots: int, each: int) -> None:
    """Record an operand element by element, `each` bytes apiece; operands without an origin get `slots` empty slots."""
    for held in registers:
        if held is None:
            b.runtime(product_tags.note_nothing, W, slots)
        else:
            b.runtime(product_tags.note_operand, W, op.site, *held, each)


def _registers(f: TagPlaces, op: Op, operand: tree.Operand) -> list[TagPlace | None]:
    return [f.held(op, element) for element in tree.elements_of(operand)]


def _give(f: TagPlaces, b: Builder, op: Op, form: MatrixForm) -> None:
    each, size = element_bytes(form, "d"), form.register_bits // 8
    for number, held in enumerate(_registers(f, op, op.operands[0])):
        if held is not None:
            slot = number * LANES * size // each
            b.runtime(product_tags.give_product, W, b.active_mask, *held, each, slot)
