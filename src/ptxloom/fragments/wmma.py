"""How `wmma` stands on `mma`: which `mma`s a `wmma.mma` is, and so where `wmma.load` puts each element.

The manual leaves the layout open (9.7.14.4.1). This one was read off an H200 with `wmma.load` and `wmma.store`
(`tests/recorded/mma/wmma_fragments.npz`) and is the same for `.row` and `.col`, which only say how memory lies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import fragment
from ptxloom.isa.products import MatrixForm, matrix_forms


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a `wmma.mma` is made of `mma`s.

    Attributes:
        base: The `mma`.
        exchanged: Whether its A is the `wmma`'s B and the other way round, all matrices transposed.
        tiles: For each `mma`, where its registers of D, A, B and C start among the `wmma`'s.
    """

    base: MatrixForm
    exchanged: bool
    tiles: tuple[tuple[int, int, int, int], ...]


def tiling(form: MatrixForm) -> Tiling:
    """The `mma`s of a `wmma.mma`: `m16n8` side by side, or one above the other."""
    exchanged = form.m < form.n
    types = (form.a_type, form.b_type)
    m = 16 if max(form.m, form.n) >= 16 else 8
    base = replace(
        form,
        opcode="mma",
        m=m,
        n=8,
        a_layout="row",
        b_layout="col",
        a_type=types[exchanged],
        b_type=types[not exchanged],
    )
    d, a, b, c = base.vector_lengths
    moves_a = exchanged or form.m == 32
    tiles = [
        (tile * d, tile * a if moves_a else 0, 0 if moves_a else tile * b, tile * c)
        for tile in range(form.m * form.n // (m * 8))
    ]
    return Tiling(base, exchanged, tuple(tiles))


class ElementPlace(NamedTuple):
    """An element of a `wmma` operand: the register that holds it and the bit at which it starts."""

    lane: int
    register: int
    bit: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class WmmaFragment:
    """Where the elements of a `wmma` operand are.

    Attributes:
        registers: The length of the vector expression.
        register_bits: 64 for `.f64`, else 32.
        rows, columns: Of the operand's matrix.
        width: Bits of an element.
        places: By lane, register and bit. Some registers of `.f16` multiplicands repeat others.
    """

    registers: int
    register_bits: int
    rows: int
    columns: int
    width: int
    places: tuple[ElementPlace, ...]


@cache
def wmma_fragment(operand: str, shape: str, element: str) -> WmmaFragment:
    """The layout of `wmma.load.a`, `.b`, `.c` and `wmma.store.d`.

    Args:
        operand: "a", "b", "c" or "d".
        shape: Such as `m16n16k16`.
        element: Such as `f16`.

    Raises:
        UsageError: There is no such operand.
        UnsupportedForm: No `wmma` has an operand of this type and shape.
    """
    if operand not in ("a", "b", "c", "d"):
        raise UsageError("operand", operand, "'a', 'b', 'c' or 'd'")
    index = "dabc".index(operand)
    for form in matrix_forms("wmma"):
        if (form.shape, form.type_of(operand)) == (shape, element):
            return _fragment(form, operand, index)
    raise UnsupportedForm(f"no `wmma` of shape `{shape}` has `.{element}` as its {operand.upper()}")


def _fragment(form: MatrixForm, operand: str, index: int) -> WmmaFragment:
    plan = tiling(form)
    own = {"a": "b", "b": "a"}.get(operand, operand) if plan.exchanged else operand
    held = fragment(plan.base, own)
    starts = list(dict.fromkeys(tile["dabc".index(own)] for tile in plan.tiles))
    found: list[ElementPlace] = []
    for tile, start in enumerate(starts):
        for element in held:
            row, column = element.row, element.column
            if plan.exchanged:
                row, column = column, row
            if operand == "a" or (operand != "b" and form.m == 32):
                row += tile * 16
            else:
                column += tile * (16 if plan.exchanged else 8)
            found.append(ElementPlace(element.lane, element.register + start, element.bit, row, column))
    registers, distinct = form.vector_lengths[index], held.registers * len(starts)
    places = [
        place._replace(register=place.register + repeat) for repeat in range(0, registers, distinct) for place in found
    ]
    return WmmaFragment(
        registers, form.register_bits, *form.extent(operand), form.container_bits(operand), tuple(sorted(places))
    )
