"""Where `wmma` finds the elements of a matrix in memory: at an address that all lanes share, with rows a stride apart.

Realises PTX ISA 9.7.14.4.3 and 9.7.14.4.4.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.machine.codegen.addresses import lane_values, space_of
from ptxloom.machine.native.ir import constant_vector, vector
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax import tree


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Elements that are adjacent both in memory and in a register of every lane.

    Attributes:
        register: Which register.
        bit: The first bit of the piece in it.
        bits: Its width.
        majors: By lane, the row that contains it (the column, for a `.col` matrix).
        minors: By lane, the place in that row where it starts.
    """

    register: int
    bit: int
    bits: int
    majors: tuple[int, ...]
    minors: tuple[int, ...]


@cache
def pieces(held: Fragment, *, by_row: bool) -> tuple[Neighbours, ...]:
    """The units that are moved: whole registers if their elements are adjacent in memory, else elements."""
    slots: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for place in held:
        slots.setdefault((place.register, place.bit), []).append(_coordinates(place, by_row=by_row))
    bits = held.register_bits
    joined = all(
        slots[register, bit] == [(major, minor + bit // held.width) for major, minor in slots[register, 0]]
        for register, bit in slots
    )
    if joined:
        slots = {(register, bit): found for (register, bit), found in slots.items() if bit == 0}
    width = bits if joined else held.width
    return tuple(
        Neighbours(register, bit, width, tuple(major for major, _ in found), tuple(minor for _, minor in found))
        for (register, bit), found in sorted(slots.items())
    )


def _coordinates(place: Element, *, by_row: bool) -> tuple[int, int]:
    return (place.row, place.column) if by_row else (place.column, place.row)


class WmmaMatrix:
    """A matrix in memory, given by its address and stride operands."""

    def __init__(
        self, b: Builder, op: Op, operand: tree.Operand, stride: tuple[tree.Operand, ...], held: Fragment
    ) -> None:
        self.b = b
        self.held = held
        self.space = space_of(op)
        if self.space not in {state.GENERIC, state.GLOBAL, state.SHARED}:
            raise op.unsupported("a state space that holds no matrices")
        piece = max(one.bits for one in pieces(held, by_row=op.has("row")))
        self.start = lane_values(b, operand, self.space, piece // 8)
        wide = vector("i64")
        tight = held.columns if op.has("row") else held.rows
        elements = b.resize(b.read(stride[0], "b32"), 64) if stride else b.constant(wide, tight)
        scaled = b.apply("mul", elements, b.constant(wide, held.width))
        self.stride = b.apply("lshr", scaled, b.constant(wide, 3))

    def addresses(self, piece: Neighbours) -> Value:
        """The addresses of the lanes' pieces, `<32 x i64>`."""
        b = self.b
        at = b.apply("mul", self.stride, constant_vector("i64", piece.majors))
        at = b.apply("add", at, constant_vector("i64", (minor * self.held.width // 8 for minor in piece.minors)))
        return b.apply("add", at, self.start)
