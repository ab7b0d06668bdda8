"""Integers off by a constant that no literal holds: results of instructions, or compared operands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import OWN, VALUE, Change, Rewrite, of_node
from ptxloom.machine.program.mentions import written
from ptxloom.machine.program.symbols import Register
from ptxloom.readings.effects import stores, updates_memory
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.machine.program.model import Op

CAUSE: Final = "missing-term"
_NEAR: Final = (1, -1)
_WORDS: Final = frozenset(f"{kind}{bits}" for kind in "bsu" for bits in (8, 16, 32))
_MOST: Final = 24  # numbers that are tried


def numbers_between(given: Sequence[int]) -> list[int]:
    """Possible errors of an integer: one, or the difference of two numbers of a launch.

    Example:
        >>> numbers_between([24, 40])
        [1, -1, 16, -16, 24, -24, 40, -40]
    """
    between = [two - one for one in given for two in given if two > one]
    found = dict.fromkeys(sign * one for one in (*sorted(between), *given) if one > 1 for sign in (1, -1))
    return [*_NEAR, *found][:_MOST]


def shifted(op: Op, numbers: Iterable[int]) -> Iterator[Change]:
    """An instruction whose result, or one of whose compared operands, is off by a number.

    Args:
        op: The instruction.
        numbers: The possible errors.
    """
    if any(one.type.kind == "p" for one in written(op)):
        for place in (1, 2):
            yield from _compared(op, place, numbers)
    elif (result := _result(op)) is not None:
        own = of_node(op.node).lines
        for one in numbers:
            lines, common = ((*own, f"add.s32 {result}, {result}, {value};") for value in (one, VALUE))
            yield _change(op, f"what is computed {_words(one)}", Rewrite(lines, shared=common), one, "result")


def _compared(op: Op, place: int, numbers: Iterable[int]) -> Iterator[Change]:
    operand = op.operands[place] if len(op.operands) > place else None
    if not isinstance(operand, tree.Name) or not op.types or op.type.bits != 32 or op.type.kind not in "sub":
        return
    other = op.node.replace(operands=(*op.operands[:place], tree.Name(OWN), *op.operands[place + 1 :]))
    for one in numbers:
        lines, common = ((f"add.s32 {OWN}, {operand.text}, {value};", *of_node(other).lines) for value in (one, VALUE))
        rewrite = Rewrite(lines, (f"b32 {OWN}",), common)
        yield _change(op, f"`{operand.text}` {_words(one)}", rewrite, one, ("compared", place))


def _change(op: Op, what: str, rewrite: Rewrite, number: int, slot: object) -> Change:
    rank = 1 if number in _NEAR else 2
    return Change(CAUSE, what, ((op, rewrite),), rank, value=number, key=(slot, number), slot=slot)


def _words(number: int) -> str:
    return f"{abs(number)} {'larger' if number > 0 else 'smaller'}"


def _result(op: Op) -> str | None:
    """The 32-bit register that an instruction writes an integer to; arguments of the launch are assumed to be right."""
    if op.has("param"):
        return None
    if stores(op.node) or updates_memory(op.node) or len(op.operands) < 2 or not op.types:
        return None
    first, results = op.operands[0], written(op)
    if not isinstance(first, tree.Name) or len(results) != 1 or not isinstance(op.scope.find(first.text), Register):
        return None
    if results[0].type.bits != 32 or results[0].type.kind == "f" or op.types[0].name not in _WORDS:
        return None
    return first.text
