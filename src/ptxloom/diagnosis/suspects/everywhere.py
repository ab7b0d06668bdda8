"""One variable of a source line, everywhere that the line reads it: several instructions changed alike."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.suspects.changes import OWN, READ, VALUE, Change, Rewrite, held, of_node
from ptxloom.diagnosis.suspects.sources import kind_of, results_of
from ptxloom.machine.program.mentions import written
from ptxloom.machine.program.symbols import Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ptxloom.diagnosis.suspects.operands import DefUse
    from ptxloom.diagnosis.suspects.sources import Source
    from ptxloom.machine.program.model import Op

CAUSE: Final = "wrong-operand"
_OFF: Final = "missing-term"
_NEAREST: Final = 12  # registers that are tried
_MOST_READERS: Final = 32  # instructions that are changed together
_NEAR: Final = (1, -1)
_INDEX_BITS: Final = 32


class _Reading(NamedTuple):
    """The instructions of a line that read a register, and the register."""

    name: str
    register: Register
    ops: tuple[Op, ...]


def everywhere(
    ops: Sequence[Op], operands: DefUse, line_of: Mapping[int, object], numbers: Iterable[int]
) -> Iterator[Change]:
    """The changes by which a line takes another register, or the same one off by a number, wherever it reads it.

    Args:
        ops: The instructions of the kernel.
        operands: Its registers.
        line_of: The source line of each site; None if it is not known.
        numbers: What a whole number may be off by.
    """
    numbers = [*dict.fromkeys((*_NEAR, *numbers))]
    for reading in _readings(ops, line_of):
        first, bits = reading.ops[0], kind_of(reading.register).bits
        for one in operands.sources(first, reading.name, _NEAREST):
            rewrites = tuple((op, _with(op, reading.name, one, bits)) for op in reading.ops)
            what = f"`{reading.name}` -> `{one.name}`"
            yield Change(CAUSE, what, rewrites, 2, source=one.number, entire=True)
            if bits == _INDEX_BITS and reading.register.type.kind != "f":
                yield from _beside(reading, one)
        if bits == _INDEX_BITS and reading.register.type.kind != "f":
            for number in numbers:
                rewrites = tuple((op, _off(op, reading.name, number)) for op in reading.ops)
                what = f"`{reading.name}` {abs(number)} {'larger' if number > 0 else 'smaller'}"
                yield Change(_OFF, what, rewrites, 1 if number in _NEAR else 2, value=number, entire=True)


def _beside(reading: _Reading, source: Source) -> Iterator[Change]:
    """The changes by which a line takes another whole number less or more one."""
    for number in (-1, 1):
        rewrites = tuple((op, _off(op, reading.name, number, source)) for op in reading.ops)
        what = f"`{reading.name}` -> `{source.name}` {'+' if number > 0 else '-'} 1"
        yield Change(CAUSE, what, rewrites, 3, value=number, source=source.number, entire=True)


def _readings(ops: Sequence[Op], line_of: Mapping[int, object]) -> Iterator[_Reading]:
    """What several instructions of a line read, unless one of these sets it first."""
    lines: defaultdict[object, list[Op]] = defaultdict(list)
    for op in ops:
        if (line := line_of.get(op.site)) is not None:
            lines[op.function.number, line].append(op)
    for several in lines.values():
        readers: defaultdict[tuple[str, Register], list[Op]] = defaultdict(list)
        own = {name for op in several for name, _ in results_of(op)}
        for op in several:
            for name in _read(op):
                register = op.scope.find(name)
                if isinstance(register, Register) and register.vector == 1 and name not in own:
                    readers[name, register].append(op)
        for (name, register), them in readers.items():
            if 1 < len(them) <= _MOST_READERS:
                yield _Reading(name, register, tuple(them))


def _read(op: Op) -> set[str]:
    """The registers that an instruction takes as operands or as the base of an address."""
    found: set[str] = set()
    results = written(op)
    for place, operand in enumerate(op.operands):
        match operand:
            case tree.Name(text=name) if place or op.scope.find(name) not in results:
                found.add(name)
            case tree.Address(base=tree.Name(text=name), extra=()):
                found.add(name)
            case _:
                pass
    return found


def _replaced(op: Op, name: str, other: str) -> tree.Instruction:
    results = written(op)

    def of(place: int, operand: tree.Operand) -> tree.Operand:
        match operand:
            case tree.Name(text=text) if text == name and (place or op.scope.find(text) not in results):
                return tree.Name(other)
            case tree.Address(base=tree.Name(text=text), extra=()) if text == name:
                return operand.replace(base=tree.Name(other))
            case _:
                return operand

    return op.node.replace(operands=tuple(of(*one) for one in enumerate(op.operands)))


def _with(op: Op, name: str, source: Source, bits: int) -> Rewrite:
    shared = of_node(_replaced(op, name, held(bits))).lines
    if source.reading:
        return Rewrite((source.reading, *of_node(_replaced(op, name, READ)).lines), (f"b{bits} {READ}",), shared)
    return Rewrite(of_node(_replaced(op, name, source.name)).lines, shared=shared)


def _off(op: Op, name: str, number: int, source: Source | None = None) -> Rewrite:
    made = of_node(_replaced(op, name, OWN)).lines
    if source is None:
        return Rewrite((_sum(name, number), *made), (f"b32 {OWN}",), (_sum(name, VALUE), *made))
    shared = _sum(held(_INDEX_BITS), VALUE), *made
    if source.reading:
        return Rewrite((source.reading, _sum(READ, number), *made), (f"b32 {OWN}", f"b32 {READ}"), shared)
    return Rewrite((_sum(source.name, number), *made), (f"b32 {OWN}",), shared)


def _sum(name: str, added: int | str) -> str:
    return f"add.s32 {OWN}, {name}, {added};"
