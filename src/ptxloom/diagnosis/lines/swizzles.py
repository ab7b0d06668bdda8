"""Which side of shared memory does not swizzle although the other does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.lines.addresses import made_of
from ptxloom.readings.terms import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op, Program

XORS: Final = frozenset({"xor", "lookup"})  # words of rows
_SHARED: Final = ("shared", "shared::cta")


def unswizzled(way: Sequence[Op], program: Program) -> Op | None:
    """The writer or reader of shared memory, whichever has no XOR in its address; None if both or neither have one.

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
        return None
    return reader if swizzles[0] else writer


def sides_of(way: Sequence[Op]) -> tuple[Op, Op] | None:
    """The last writer and the last reader of shared memory on a path; None if it does not pass through it."""
    sides = [op for op in way if op.has(*_SHARED)]
    return (sides[-2], sides[-1]) if len(sides) > 1 else None
