"""Which side of shared memory does not swizzle although the other does, or swizzles fewer rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.lines.addresses import made_of, writers_of
from ptxloom.diagnosis.slicing.coefficients import pitches_within
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.meaning.moves import is_copy
from ptxloom.readings.computed import resizes
from ptxloom.readings.terms import words
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op, Program

XORS: Final = frozenset({"xor", "lookup"})  # words of rows
_SHARED: Final = ("shared", "shared::cta")
_SHIFTS: Final = frozenset({"shl", "lshr", "ashr"})
_CHUNK: Final = 16  # bytes: a row of a matrix
_MOST: Final = 8  # instructions between an XOR and a mask


def unswizzled(way: Sequence[Op], program: Program) -> Op | None:
    """The writer or reader of shared memory that swizzles less; None if they do not differ in that.

    Either its address has no XOR while the other's has. Or that XOR, which is returned then, is with the remainder of a
    smaller number: rows that stay in the same banks are what a swizzle is to avoid.

    Args:
        way: The path of the elements.
        program: Its instructions.
    """
    sides = sides_of(way)
    if sides is None:
        return None
    writer, reader = sides
    swizzles = [any(words(one.node) & XORS for one in made_of(op, program)) for op in (writer, reader)]
    if swizzles[0] == swizzles[1]:
        less = narrower(sides, program)
        return None if less is None else _xor_of(less, program)
    return reader if swizzles[0] else writer


def narrower(sides: tuple[Op, Op], program: Program) -> Op | None:
    """Of a writer and a reader that both swizzle, the one whose XOR is more likely wrong; None if that is unknown.

    This is the XOR that changes fewer bits, unless rows have no room for the chunks that the other one exchanges.
    """
    first, second = (_bits(op, program) for op in sides)
    if not first or not second or first == second:
        return None
    less = sides[first > second]
    turned = ((op, maker) for op in sides if (maker := _xor_of(op, program)) is not None)
    pitches = (pitch for op, maker in turned for pitch in pitches_within(op, maker, program))
    pitch = min((one for one in pitches if one > _CHUNK), default=0)
    is_led_out = _CHUNK << min(first, second) <= pitch < _CHUNK << max(first, second)
    return sides[less is sides[0]] if is_led_out else less


def sides_of(way: Sequence[Op]) -> tuple[Op, Op] | None:
    """The last writer and the last reader of shared memory on a path; None if it does not pass through it."""
    sides = [op for op in way if op.has(*_SHARED)]
    return (sides[-2], sides[-1]) if len(sides) > 1 else None


def _bits(op: Op, program: Program) -> int:
    """The bits that the XOR in an address changes; 0: unknown. Of its two operands, one is masked the most."""
    maker = _xor_of(op, program)
    masks = () if maker is None else (_masked(maker, name.text, program) for _, name in names_read(maker))
    return min((bits for bits in masks if bits), default=0)


def _xor_of(op: Op, program: Program) -> Op | None:
    """The nearest XOR in an address, or None."""
    return next((maker for maker in made_of(op, program) if words(maker.node) & XORS), None)


def _masked(reader: Op, name: str, program: Program) -> int:
    """The bits of a register that may be set: those of its mask, or of the remainder that it holds."""
    for _ in range(_MOST):
        makers = writers_of(reader, name, program)
        if len(makers) != 1:
            return 0
        (maker,) = makers
        read = [one.text for _, one in names_read(maker)]
        numbers = [value for operand in maker.operands[1:] if (value := constant(operand)) is not None]
        found = words(maker.node)
        if "and" in found and numbers:
            return numbers[0].bit_count() if numbers[0] > 0 else 0
        if "sub" in found and len(read) == 2:
            return _rounded(maker, read[1], program)
        if len(read) != 1 or not (found & _SHIFTS or is_copy(maker) or resizes(maker.node)):
            return 0
        name = read[0]
    return 0


def _rounded(reader: Op, name: str, program: Program) -> int:
    """The bits that are cut off where a register is rounded down to a multiple of a power of two; else 0."""
    for maker in writers_of(reader, name, program):
        for operand in maker.operands[1:] if "and" in words(maker.node) else ():
            value = constant(operand)
            if value is not None and value < 0 and not -value & (-value - 1):
                return (-value).bit_length() - 1
    return 0
