"""How many bytes an address moves per unit of each constant in it: back through all linear instructions."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.slicing.computed import computed
from ptxloom.diagnosis.slicing.makers import maker_of
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.machine.program.model import Op, Program

_MOST: Final = 200  # instructions that are looked at
_TRIED: Final = (0, 1, 2)  # values of what an address may depend on
_SIGN: Final = 1 << 31  # coefficients are small: what is more is negative


class Addend(NamedTuple):
    """A constant that is added to an address, or to an index of it.

    Attributes:
        op: The instruction.
        operand: Which of its operands the constant is.
        value: The constant.
        bytes: The bytes that the address moves per unit of it.
    """

    op: Op
    operand: int
    value: int
    bytes: int


def addends_of(op: Op, program: Program) -> tuple[Addend, ...]:
    """The constants that are added to the address of a load, a store or a copy, the nearest first."""
    found: list[Addend] = []
    for maker, name, times in _linear(op, _address_names(op), program):
        for number, operand in enumerate(maker.operands):
            if isinstance(operand, tree.Integer) and (moved := _response(maker, name, number)):
                found.append(Addend(maker, number, operand.value, times * moved))
    return tuple(found)


def pitches_of(op: Op, program: Program) -> frozenset[int]:
    """How many bytes an address moves per unit of each register in it."""
    return frozenset(times for _, _, times in _linear(op, _address_names(op), program))


def pitches_within(op: Op, maker: Op, program: Program) -> frozenset[int]:
    """How many bytes an address moves per unit of each register in what one of its makers, an XOR, reads."""
    outer = {times for one, _, times in _linear(op, _address_names(op), program) if one is maker}
    inner = [times for _, _, times in _linear(maker, [name.text for _, name in names_read(maker)], program)]
    return frozenset(times * more for times in outer for more in inner)


def _address_names(op: Op) -> list[str]:
    addresses = (operand for operand in op.operands if isinstance(operand, tree.Address))
    return [node.text for operand in addresses for node in walk(operand) if isinstance(node, tree.Name)]


def _linear(op: Op, names: Iterable[str], program: Program) -> Iterator[tuple[Op, str, int]]:
    """The instructions that compute some registers, the result of each, and its coefficient in them."""
    waiting = deque((op, name, 1) for name in dict.fromkeys(names))
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < _MOST:
        reader, name, times = waiting.popleft()
        maker = maker_of(reader, name, program)
        if maker is None or (maker.site, times) in seen:
            continue
        seen.add((maker.site, times))
        yield maker, name, times
        for read in dict.fromkeys(one.text for _, one in names_read(maker)):
            if moved := _response(maker, name, read):
                waiting.append((maker, read, times * moved))


def _response(op: Op, result: str, source: str | int) -> int:
    """The growth of a result per unit of a register, or of an operand's constant; 0 if it is not linear."""
    values: list[int] = []
    if isinstance(source, str):
        values += computed(op, op.node, result, source, _TRIED)[: len(_TRIED)]
    else:
        for value in _TRIED:
            operands = list(op.operands)
            operands[source] = tree.Integer(value)
            values += computed(op, op.node.replace(operands=tuple(operands)), result)[:1]
    steps = {right - left for left, right in pairwise(values)}
    if len(steps) != 1:
        return 0
    (step,) = steps
    return step if abs(step) < _SIGN else 0
