"""Which constants of the program set the bits of a descriptor: back through everything that moves bits and adds them.

An instruction's row is evaluated on registers with a single bit set; where the bit comes out is the distance by which
it is shifted.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.slicing.computed import computed
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Op, Program

_MOST: Final = 200  # instructions that are looked at
_PROBES: Final = (0, 1, 4, 5, 7, 9, 12, 16, 20, 24, 31, 32, 46, 48, 62, 63)  # bits that are sent through
_WIDE: Final = 1 << 64


class Part(NamedTuple):
    """A constant that is put into a descriptor.

    Attributes:
        op: The instruction.
        operand: The number of the constant operand; -1: there is none.
        value: The constant, negative if it is subtracted; 0 without one.
        shift: By how many bits it is shifted up on its way to the descriptor; down, if negative.
    """

    op: Op
    operand: int
    value: int
    shift: int

    @property
    def bits(self) -> int:
        """Its value in the descriptor."""
        return (self.value << self.shift if self.shift >= 0 else self.value >> -self.shift) & _WIDE - 1


def parts_of(op: Op, operand: tree.Operand, program: Program) -> tuple[Part, ...]:
    """The instructions that compute a descriptor, the nearest first, with the constants that they add to it.

    Args:
        op: The instruction that takes it.
        operand: The operand.
        program: Theirs.
    """
    return tuple(_parts(op, operand, program))


def _parts(op: Op, operand: tree.Operand, program: Program) -> Iterator[Part]:
    waiting = deque([(op, operand, 0)])
    seen: set[tuple[int, int]] = set()
    while waiting and len(seen) < _MOST:
        reader, source, shift = waiting.popleft()
        maker = maker_of(reader, source.text, program) if isinstance(source, tree.Name) else None
        if maker is None or not isinstance(source, tree.Name) or (maker.site, shift) in seen:
            continue
        seen.add((maker.site, shift))
        constants = list(_constants(maker, source.text))
        yield from (Part(maker, number, value, shift + by) for number, value, by in constants)
        if not constants:
            yield Part(maker, -1, 0, shift)
        waiting += [(maker, tree.Name(name), shift + by) for name, by in _registers(maker, source.text)]


def maker_of(reader: Op, name: str, program: Program) -> Op | None:
    """The instruction that writes a register last before it is read; or the last at all."""
    writers = [
        op
        for op in program.ops
        if op.function is reader.function and any(out.text == name for out, _ in destinations(op.node))
    ]
    before = [op for op in writers if op.site < reader.site]
    return before[-1] if before else (writers[-1] if writers else None)


def _registers(op: Op, result: str) -> Iterator[tuple[str, int]]:
    """The registers that a result is computed from, and by how much each is shifted up."""
    for name in dict.fromkeys(one.text for _, one in names_read(op)):
        shift = _shift(_sent(op, result, name))
        if shift is not None:
            yield name, shift


def _constants(op: Op, result: str) -> Iterator[tuple[int, int, int]]:
    """The constants that a result is computed from: their operand numbers, values, and shifts."""
    for number, operand in enumerate(op.operands):
        if not isinstance(operand, tree.Integer):
            continue
        sent: list[tuple[int, int]] = []
        for bit in _PROBES[:3]:
            operands = list(op.operands)
            operands[number] = tree.Integer(1 << bit)
            node = op.node.replace(operands=tuple(operands))
            sent += [(bit, value) for value in computed(op, node, result)[:1]]
        up, down = _shift(sent), _shift([(bit, -value % _WIDE) for bit, value in sent])
        if up is not None:
            yield number, operand.value, up
        elif down is not None:
            yield number, -operand.value, down


def _sent(op: Op, result: str, name: str) -> list[tuple[int, int]]:
    """By bit of a register, how setting it alone changes the result, with all others 0."""
    found = computed(op, op.node, result, name, (0, *(1 << bit for bit in _PROBES)))
    return [(bit, value ^ found[0]) for bit, value in zip(_PROBES, found[1:], strict=False)]


def _shift(sent: list[tuple[int, int]]) -> int | None:
    """The shift of most bits that reach the result without carries; None if no bit does."""
    through = [(bit, value) for bit, value in sent if value]
    alone = Counter(value.bit_length() - 1 - bit for bit, value in through if value & value - 1 == 0)
    ((shift, count),) = alone.most_common(1) or [(0, 0)]
    return shift if 2 * count > len(through) else None
