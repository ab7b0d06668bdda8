"""`wmma.load` and `wmma.store`: matrices between memory and the registers of a warp (PTX ISA 9.7.14.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments import fragment
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access
from ptxloom.machine.codegen.addresses import address_values, base_and_offset, space_of
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.native.ir import constant_vector, vector
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax import tree

family: Final = Family()


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Neighbours in memory that a register of every lane holds next to each other.

    Attributes:
        register: Which register.
        bit: Where the piece starts in it.
        bits: How wide it is.
        majors: By lane, the row it lies in (the column, of a `.col` matrix).
        minors: By lane, the place in that row where it starts.
    """

    register: int
    bit: int
    bits: int
    majors: tuple[int, ...]
    minors: tuple[int, ...]


@family("wmma", when=lambda op: op.has("load"), starts=True)
def load(b: Builder, op: Op) -> None:
    """Every lane reads its elements of the matrix at an address all lanes name."""
    held = _held(op)
    aligned(b)
    at = _Matrix(b, op, op.operands[1], op.operands[2:3], held)
    whole = vector(f"i{held.register_bits}")
    values = [b.constant(whole, 0)] * held.registers
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Value] = {}
    for piece in pieces(held, by_row=op.has("row")):
        key = (piece.majors, piece.minors)
        if key not in seen:  # some registers repeat others
            at.access("load", piece)
            seen[key] = b.resize(b.load(vector(f"i{piece.bits}"), b.scratch(scratch.VALUES), 64), held.register_bits)
        value = seen[key]
        if piece.bit:
            value = b.apply("shl", value, b.constant(whole, piece.bit))
        values[piece.register] = value if piece.bit == 0 else b.apply("or", values[piece.register], value)
    b.write_all(op.operands[0], tuple(values))


@family("wmma", when=lambda op: op.has("store"), starts=True)
def store(b: Builder, op: Op) -> None:
    """Every lane writes its elements of the matrix at an address all lanes name."""
    held = _held(op)
    aligned(b)
    at = _Matrix(b, op, op.operands[0], op.operands[2:3], held)
    values = b.read_all(op.operands[1], f"b{held.register_bits}")
    if len(values) != held.registers:
        raise op.unsupported(f"it stores {held.registers} registers")
    for piece in pieces(held, by_row=op.has("row")):
        value = values[piece.register]
        if piece.bit:
            value = b.apply("lshr", value, b.constant(value.type, piece.bit))
        b.store(b.resize(value, piece.bits), b.scratch(scratch.VALUES), 64)
        at.access("store", piece)


def _held(op: Op) -> Fragment:
    try:
        return fragment(f"{op.opcode}.{'.'.join(op.qualifiers)}")
    except UnsupportedForm as why:
        raise op.unsupported(str(why)) from why


def pieces(held: Fragment, *, by_row: bool) -> tuple[Neighbours, ...]:
    """What is moved at a time: whole registers where their elements are neighbours in memory, else elements."""
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


class _Matrix:
    """A matrix in memory as its address and stride operands say."""

    def __init__(
        self, b: Builder, op: Op, operand: tree.Operand, stride: tuple[tree.Operand, ...], held: Fragment
    ) -> None:
        self.b = b
        self.held = held
        self.space = space_of(op)
        if self.space not in {state.GENERIC, state.GLOBAL, state.SHARED}:
            raise op.unsupported("a state space that holds no matrices")
        base, offset = base_and_offset(op, operand)
        self.start = address_values(b, base, offset)
        wide = vector("i64")
        tight = held.columns if op.has("row") else held.rows
        elements = b.resize(b.read(stride[0], "b32"), 64) if stride else b.constant(wide, tight)
        scaled = b.apply("mul", elements, b.constant(wide, held.width))
        self.stride = b.apply("lshr", scaled, b.constant(wide, 3))

    def access(self, verb: str, piece: Neighbours) -> None:
        """Load or store a piece of each lane, through the scratch."""
        b = self.b
        at = b.apply("mul", self.stride, constant_vector("i64", piece.majors))
        at = b.apply("add", at, constant_vector("i64", (minor * self.held.width // 8 for minor in piece.minors)))
        at = b.apply("add", at, self.start)
        window, width = ("shared", 32) if self.space == state.SHARED else ("global", 64)
        b.store(b.resize(at, width), b.scratch(), 64)
        kind, values = READ if verb == "load" else WRITE, (b.scratch(scratch.VALUES),)
        b.touch(Access(kind, self.space, b.scratch(), piece.bits, address_bits=width, places=values))
        b.access(verb, window, values, b.scratch(), 0, bits=piece.bits, space=self.space)
