"""Repairs of addresses whose wrong constant is known: a pitch, a distance; `--try` runs them.

A pitch is the factor of an index, in elements or in bytes, or the stride operand of `wmma`. A distance is added, or is
the offset in the address. No repair is proposed if several constants are possible, or none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.lines.addresses import made_of
from ptxloom.diagnosis.model import Repair
from ptxloom.diagnosis.slicing.coefficients import addends_of
from ptxloom.readings.computed import scales
from ptxloom.readings.terms import words
from ptxloom.syntax import print_statements, tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.culprits import Culprit
    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.origins.tiles import Plane
    from ptxloom.diagnosis.slicing.coefficients import Addend
    from ptxloom.machine.program.model import Op, Program

_BYTE_BITS: Final = 8
_LEAST_PITCH: Final = 32  # bytes, of rows of a tile
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
    ops = tuple(dict.fromkeys((found.op, *alike)))
    if named.pitches:
        held, wanted = named.pitches if role in ("a", "b") else named.pitches[::-1]
        size = max(plane.unit_bits // _BYTE_BITS, 1)
        made = [one for op in ops for one in _pitches(op, held, wanted, size, program)]
    elif named.cause in _SHIFTED and named.distance:
        slow = (named.cause == "rows-shifted") == plane.slow_rows
        made = _distances(ops, named.distance * (plane.pitch if slow else 1), plane, program)
    else:
        return None
    edits = {one.node.start: one for one in made}
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


def _distances(ops: Sequence[Op], elements: int, plane: Plane, program: Program) -> list[_Edit]:
    """Constants by which addresses, or their indices, are off; the edit removes the distance from them.

    If a compiler has folded the distance into another constant, it is subtracted there, with the same effect.
    """
    size = max(plane.unit_bits // _BYTE_BITS, 1)
    offsets = [one for op in ops for one in _offsets(op, elements * size)]
    if offsets:
        return offsets
    addends = {op: [one for one in addends_of(op, program) if one.value] for op in ops}
    exact = {
        (one.value, one.bytes)
        for several in addends.values()
        for one in several
        if one.value * one.bytes == elements * size or _is_row(one, elements, plane)
    }
    if len(exact) != 1:
        return []
    ((distance, moved),) = exact
    found: list[_Edit] = []
    for several in addends.values():
        like = [one for one in several if one.bytes == moved]
        own = [one for one in like if one.value == distance] or like
        if len(own) != 1:
            return []
        found.append(_with(own[0].op, own[0].operand, own[0].value - distance)._replace(constant=moved))
    return found


def _offsets(op: Op, distance: int) -> Iterator[_Edit]:
    """The offset of an address that is the distance."""
    for place, operand in enumerate(op.operands):
        if isinstance(operand, tree.Address) and abs(operand.offset) == distance > 0:
            operands = list(op.operands)
            operands[place] = operand.replace(offset=0, minus=False)
            yield _Edit(op.node, _text(op.node.replace(operands=tuple(operands))), operand.offset)


def _is_row(one: Addend, elements: int, plane: Plane) -> bool:
    """Whether a constant is a distance of rows, whose pitch in shared memory the copy decides."""
    return one.value * plane.pitch == elements and one.bytes >= _LEAST_PITCH


def _with(op: Op, place: int, value: int) -> _Edit:
    """An instruction with another constant."""
    operands = list(op.operands)
    operands[place] = tree.Integer(value)
    return _Edit(op.node, _text(op.node.replace(operands=tuple(operands))), value)


def _text(node: tree.Instruction) -> str:
    return " ".join(print_statements((node,)).split())
