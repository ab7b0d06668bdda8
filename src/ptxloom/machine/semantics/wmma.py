"""`wmma.load` and `wmma.store`: matrices between memory and the registers of a warp (PTX ISA 9.7.14.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments import fragment
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.wmma_matrix import WmmaMatrix, pieces
from ptxloom.machine.native.ir import vector
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from ptxloom.fragments import Fragment
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.codegen.wmma_matrix import Neighbours
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op

family: Final = Family()


@family("wmma", when=lambda op: op.has("load"), starts=True)
def load(b: Builder, op: Op) -> None:
    """Every lane reads its elements of the matrix at an address all lanes name."""
    held = _held(op)
    aligned(b)
    at = WmmaMatrix(b, op, op.operands[1], op.operands[2:3], held)
    whole = vector(f"i{held.register_bits}")
    values = [b.constant(whole, 0)] * held.registers
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], Value] = {}
    for piece in pieces(held, by_row=op.has("row")):
        key = (piece.majors, piece.minors)
        if key not in seen:  # some registers repeat others
            _access(at, "load", piece)
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
    at = WmmaMatrix(b, op, op.operands[0], op.operands[2:3], held)
    values = b.read_all(op.operands[1], f"b{held.register_bits}")
    if len(values) != held.registers:
        raise op.unsupported(f"it stores {held.registers} registers")
    for piece in pieces(held, by_row=op.has("row")):
        value = values[piece.register]
        if piece.bit:
            value = b.apply("lshr", value, b.constant(value.type, piece.bit))
        b.store(b.resize(value, piece.bits), b.scratch(scratch.VALUES), 64)
        _access(at, "store", piece)


def _held(op: Op) -> Fragment:
    try:
        return fragment(op.spelling)
    except UnsupportedForm as why:
        raise op.unsupported(str(why)) from why


def _access(at: WmmaMatrix, verb: str, piece: Neighbours) -> None:
    """Load or store a piece of each lane, through the scratch."""
    b = at.b
    window, width = ("shared", 32) if at.space == state.SHARED else ("global", 64)
    b.store(b.resize(at.addresses(piece), width), b.scratch(), 64)
    kind, values = READ if verb == "load" else WRITE, (b.scratch(scratch.VALUES),)
    b.touch(Access(kind, at.space, b.scratch(), piece.bits, address_bits=width, places=values))
    b.access(verb, window, values, b.scratch(), 0, bits=piece.bits, space=at.space)
