"""Repairs of addresses whose wrong constant is known: a pitch, a distance; `--try` runs them.

A pitch is what an index is multiplied with, in elements or in bytes, or what a matrix of `wmma` is given. A distance is
added, or stands in the address. Where several constants may be the one, or none, no repair is proposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.lines.addresses import made_of
from ptxloom.diagnosis.model import Repair
from ptxloom.readings.computed import adds, scales
from ptxloom.readings.terms import words
from ptxloom.syntax import print_statements, tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.culprits import Culprit
    from ptxloom.diagnosis.permutations import Named
    from ptxloom.diagnosis.tiles import Plane
    from ptxloom.machine.program.model import Op, Program

_BYTE_BITS: Final = 8
_SHIFTS: Final = "shl"  # a word of rows
_SHIFTED: Final = ("rows-shifted", "columns-shifted")


class _Edit(NamedTuple):
    node: tree.Instruction
    text: str
    constant: int


def of_address(named: Named, role: str, found: Culprit, plane: Plane, program: Program) -> Repair | None:
    """The change of the constants that make addresses wrong; None if it is not known which these are.

    Args:
        named: The cause.
        role: The operand whose addresses they are.
        found: The instruction that uses one, and all that are concerned: those like it are changed likewise.
        plane: How the operand's array is read.
        program: Theirs.
    """
    alike = [op for op in found.concerned if (op.opcode, op.has("shared")) == (found.op.opcode, found.op.has("shared"))]
    edits: dict[int, _Edit] = {}
    for op in dict.fromkeys((found.op, *alike)):
        if named.pitches:
            held, wanted = named.pitches if role in ("a", "b") else named.pitches[::-1]
            made = _pitches(op, held, wanted, max(plane.unit_bits // _BYTE_BITS, 1), program)
        elif named.cause in _SHIFTED and named.distance:
            slow = (named.cause == "rows-shifted") == plane.slow_rows
            made = _distances(op, named.distance * (plane.pitch if slow else 1), plane, program)
        else:
            return None
        edits |= {one.node.start: one for one in made}
    kinds = {(one.node.opcode, one.node.qualifiers, one.constant) for one in edits.values()}
    return Repair(program.module, tuple((one.node, one.text) for one in edits.values())) if len(kinds) == 1 else None


def _pitches(op: Op, held: int, wanted: int, size: int, program: Program) -> Iterator[_Edit]:
    """Constants that a pitch is multiplied with."""
    for maker in (op, *made_of(op, program)):
        for place, operand in enumerate(maker.operands):
            value = constant(operand) if place else None
            for unit in {1, size}:
                is_shift = _SHIFTS in words(maker.node)
                if value == held * unit and not is_shift and (maker is op or scales(maker.node)):
                    yield _with(maker, place, wanted * unit)
                elif is_shift and value and 1 << value == held * unit and not (wanted * unit) & (wanted * unit - 1):
                    yield _with(maker, place, (wanted * unit).bit_length() - 1)


def _distances(op: Op, elements: int, plane: Plane, program: Program) -> Iterator[_Edit]:
    """Constants by which an address, or an index that it is made of, is off; the distance is taken out of them."""
    size = max(plane.unit_bits // _BYTE_BITS, 1)
    for place, operand in enumerate(op.operands):
        if isinstance(operand, tree.Address) and abs(operand.offset) == elements * size and elements > 0:
            operands = list(op.operands)
            operands[place] = operand.replace(offset=0, minus=False)
            yield _Edit(op.node, _text(op.node.replace(operands=tuple(operands))), operand.offset)
    for maker in made_of(op, program):
        for place, operand in enumerate(maker.operands):
            value = constant(operand) if place else None
            if adds(maker.node) and value and value in {elements, elements * size, elements // plane.pitch}:
                yield _with(maker, place, 0)


def _with(op: Op, place: int, value: int) -> _Edit:
    """An instruction with another constant."""
    operands = list(op.operands)
    operands[place] = tree.Integer(value)
    return _Edit(op.node, _text(op.node.replace(operands=tuple(operands))), value)


def _text(node: tree.Instruction) -> str:
    return " ".join(print_statements((node,)).split())
