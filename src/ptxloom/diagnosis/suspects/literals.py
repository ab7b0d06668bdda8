"""Literals that differ from the intended number."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import LITERAL, OWN, VALUE, WIDE, Change, Rewrite, held, with_operand
from ptxloom.diagnosis.suspects.confusions import meant
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.meaning import table
from ptxloom.meaning.moves import is_copy
from ptxloom.readings.effects import exchanges, stores, updates_memory
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ptxloom.machine.program.model import Op, Program

CAUSE: Final = "wrong-constant"
_MOST_SOURCES: Final = 4  # a fourth source is a table, which is no number
_WIDE_BITS: Final = 64
_SHIFTS: Final = 32  # bits by which a word may be shifted
_STEPS: Final = (1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32, 64, -64)
_FLOATS: Final = (0.0, 1.0, -1.0, 2.0, 0.5, float("-inf"), float("inf"), 1.44269504, 0.69314718, -1e30, -3.4028235e38)
_BITS: Final = (0xFF800000, 0x3F800000, 0x7F800000, 0xFF7FFFFF)  # of a float that a word holds


def literals(op: Op, program: Program) -> Iterator[Change]:
    """An instruction with a literal, or the offset of an address, larger, smaller, doubled, halved or negated."""
    if _takes_numbers(op):
        for place, operand in enumerate(op.operands[1:], 1):
            value = _integer(operand, op, program)
            if value is not None and place < _MOST_SOURCES:
                yield from _numbers(op, place, value)
            if isinstance(operand, tree.Float):
                yield from _floats(op, place, operand)
    for place, operand in enumerate(op.operands):
        if isinstance(operand, tree.Address) and not operand.extra and _is_held(operand.base, op):
            here = -operand.offset if operand.minus else operand.offset
            for step in _STEPS:
                yield _moved(op, place, operand.replace(offset=here + step, minus=False), step)


def _takes_numbers(op: Op) -> bool:
    """Whether the literals of an instruction are numbers that it computes with, moves or stores."""
    if stores(op.node) or updates_memory(op.node) or exchanges(op.node):
        return True
    return table.find(op) is not None


def _is_held(operand: tree.Operand, op: Op) -> bool:
    """Whether an address is in a register, or is that of a variable that threads share."""
    found = op.scope.find(operand.text) if isinstance(operand, tree.Name) else None
    return isinstance(found, Register) or (isinstance(found, Variable) and found.space in {"shared", "global"})


def _moved(op: Op, place: int, operand: tree.Address, step: int) -> Change:
    """An access `step` bytes further."""
    rewrite = with_operand(op, place, operand)
    base = op.scope.find(operand.base.text) if isinstance(operand.base, tree.Name) else None
    if isinstance(base, Register) and isinstance(operand.base, tree.Name):
        bits, number = base.type.bits, WIDE if base.type.bits == _WIDE_BITS else VALUE
        common = with_operand(op, place, operand.replace(base=tree.Name(OWN), offset=operand.offset - step))
        added = f"add.s{bits} {OWN}, {operand.base.text}, {number};"
        rewrite = Rewrite(rewrite.lines, (f"b{bits} {OWN}",), (added, *common.lines))
    slot = ("offset", place) if rewrite.shared else None
    return Change(
        CAUSE,
        f"an address {abs(step)} bytes {'further' if step > 0 else 'nearer'}",
        ((op, rewrite),),
        1,
        value=step,
        slot=slot,
    )


def _number(op: Op, place: int, number: int, what: str, rank: int) -> Change:
    """An instruction with an integer at a place."""
    bits = op.type.bits if op.types and not op.node.opcode.startswith("sh") else 32
    fits = bits in (16, 32) or (bits == _WIDE_BITS and -(1 << 31) <= number < 1 << 31)
    rewrite = with_operand(op, place, tree.Integer(number), tree.Name(held(bits)) if fits else None)
    slot = ("operand", place, 0, bits) if fits else None
    return Change(CAUSE, what, ((op, rewrite),), rank, number, LITERAL, ("number", place, what), slot)


def _stepped(step: int) -> str:
    return f"a number {abs(step)} {'larger' if step > 0 else 'smaller'}"


def _instead(number: str) -> str:
    return f"{number} in place of the number"


def _integer(operand: tree.Operand, op: Op, program: Program) -> int | None:
    """The integer value of an operand: a literal, or a register that never holds anything else."""
    if isinstance(operand, tree.Integer):
        return operand.value
    if isinstance(operand, tree.Name):
        found = op.scope.find(operand.text)
        if isinstance(found, Register) and found.type.kind in "sub":
            return program.knowledge.literals.get(found.offset)
    return None


def _numbers(op: Op, place: int, value: int) -> Iterator[Change]:
    steps = {value + step: _stepped(step) for step in _STEPS[:4]}
    others = {2 * value: "the number doubled", value // 2: "the number halved", -value: "the number negated"}
    others |= {
        0: _instead("0"),
        1: _instead("1"),
        4 * value: "four times the number",
        value // 4: "a quarter of the number",
    }
    others |= {8 * value: "eight times the number", value // 8: "an eighth of the number"}
    others |= {value + step: _stepped(step) for step in _STEPS[4:]}
    more = {number: _instead(f"{number}") for number in _of_word(op, value)}
    seen = {value}
    for rank, several in enumerate((steps, others, more), 1):
        for number, what in several.items():
            if number not in seen:
                seen.add(number)
                yield _number(op, place, number, what, rank)
    if is_copy(op) and not 0 < value < 1 << 23:
        for bits in _BITS:
            if bits != value:
                yield _number(op, place, bits, _instead(f"{struct.unpack('<f', struct.pack('<I', bits))[0]:g}"), 2)


def _of_word(op: Op, value: int) -> Iterator[int]:
    """The numbers that may stand for one in a shift, or for a mask: grown or shrunk by a bit, or one bit off."""
    words = meant("bits")[0]
    if re.fullmatch(words["shift"], op.node.spelling):
        yield from range(_SHIFTS)
    elif re.fullmatch(words["mask"], op.node.spelling):
        every = (1 << op.type.bits) - 1
        bits = value & every
        yield from (~bits & every, (bits | bits << 1) & every, bits | bits >> 1, bits & bits >> 1, bits & bits << 1)
        yield from (bits ^ 1 << place for place in range(op.type.bits))
        yield from ((1 << place) - 1 for place in range(1, op.type.bits))


def _floats(op: Op, place: int, literal: tree.Float) -> Iterator[Change]:
    value = literal.value
    others = {2 * value: "the number doubled", value / 2: "the number halved", -value: "the number negated"}
    others |= {value + 1: _stepped(1), value - 1: _stepped(-1), value * value: "the number squared"}
    others |= {10 * value: "ten times the number", value / 10: "a tenth of the number"}
    others |= {1 / value: "the inverse of the number"} if value else {}
    for number in _FLOATS:
        others.setdefault(number, _instead(f"{number:g}"))
    for number, what in others.items():
        try:
            packed = struct.pack("<f" if literal.width == 32 else "<d", number)
        except OverflowError:
            continue
        bits = int.from_bytes(packed, "little")
        if bits != literal.bits:
            common = tree.Name(held(32)) if literal.width == 32 else None
            rewrite = with_operand(op, place, literal.replace(bits=bits), common)
            slot = ("operand", place, 0, 32) if common else None
            yield Change(CAUSE, what, ((op, rewrite),), 1, bits & 0xFFFFFFFF, LITERAL, ("number", place, what), slot)


def of_pool(op: Op, pool: Collection[int], program: Program) -> Iterator[Change]:
    """An instruction with another number of the program or the launch in place of a literal or a register."""
    if not _takes_numbers(op):
        return
    for place, operand in enumerate(op.operands[1:], 1):
        value = _integer(operand, op, program)
        if value is not None and place < _MOST_SOURCES:
            for number in pool:
                if number != value:
                    yield _number(op, place, number, _instead(f"{number}"), 2)
