"""Which registers an instruction reads and writes, by the ISA data of its operands (PTX ISA 9.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.call_graph import call_of
from ptxloom.isa.load import instruction_spec, known
from ptxloom.syntax.bind import bind
from ptxloom.syntax.tree import Address, Arguments, Component, Name, Pair, Vector
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.notation import SyntaxLine
    from ptxloom.isa.spec import InstructionSpec
    from ptxloom.syntax.tree import Instruction, Operand


class Destination(NamedTuple):
    """A name that an instruction writes, and whether it is all of the register."""

    name: Name
    whole: bool


def destinations(instruction: Instruction) -> list[Destination]:
    """The names that an instruction writes, in the order of the text, `_` among them.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [one] = parse("setp.lt.s32 %p|%q, %a, %b;").statements
        >>> [each.name.text for each in destinations(one)]
        ['%p', '%q']
        >>> [one] = parse("st.v2.b32 [%a], {%b, %c};").statements
        >>> destinations(one)
        []
    """
    operands = instruction.operands
    if instruction.opcode == "call":
        found = call_of(instruction)
        return [] if found is None else [one for each in found.results for one in _names(each)]
    leading = _leading(instruction.opcode, len(operands))
    if leading == 1 and type(operands[0]) is Name:
        return [Destination(operands[0], whole=True)]
    written = operands[:leading] if leading is not None else _written(instruction)
    return [one for operand in written for one in _names(operand)]


def mentions(instruction: Instruction) -> Iterator[tuple[Name, bool]]:
    """Every name in an instruction's operands, in the order of the text, and whether it is read there.

    What is written in part, and what an instruction adds to, is read; the guard is not among them.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [one] = parse("ld.v2.b32 {%a, _}, [%b+4];").statements
        >>> [(name.text, read) for name, read in mentions(one)]
        [('%a', False), ('_', False), ('%b', True)]
    """
    written = set[int]() if updates(instruction) else {id(one.name) for one in destinations(instruction) if one.whole}
    for operand in instruction.operands:
        if type(operand) is Name:
            yield operand, id(operand) not in written
        else:
            yield from ((one, id(one) not in written) for one in walk(operand) if type(one) is Name)


def updates(instruction: Instruction) -> bool:
    """Whether an instruction reads what it writes, too, as `wgmma.mma_async` its accumulator."""
    return effects_of(instruction.opcode).updates and bool(destinations(instruction))


class Effects(NamedTuple):
    """The ISA data common to all forms of an opcode.

    Attributes:
        updates: Whether some form reads what it writes.
        leading: For each number of operands that a form takes how many of these, from the first on, every such form
            writes; None if forms differ.
    """

    updates: bool
    leading: dict[int, int | None]


_LEARNED: Final[dict[str, Effects]] = {}


def effects_of(opcode: str) -> Effects:
    """The ISA data of an opcode; reading it takes a millisecond, so callers may keep the result."""
    found = _LEARNED.get(opcode)
    if found is None:
        found = _LEARNED[opcode] = _read(opcode)
    return found


def learn(opcode: str, effects: Effects) -> None:
    """Take in a result of `effects_of` that was kept."""
    _LEARNED.setdefault(opcode, effects)


def _read(opcode: str) -> Effects:
    if not known(opcode):
        return Effects(updates=False, leading={})
    spec = instruction_spec(opcode)
    found: dict[int, set[int | None]] = {}
    for line in spec.lines:
        for count in line.counts:
            found.setdefault(count, set()).add(_leading_of(spec, line))
    leading = {count: numbers.pop() if len(numbers) == 1 else None for count, numbers in found.items()}
    return Effects(any(rule.updated for rule in spec.operands.values()), leading)


def _names(operand: Operand) -> list[Destination]:
    match operand:
        case Name():
            return [Destination(operand, whole=True)]
        case Component(base):
            return [Destination(base, whole=False)]
        case Vector(elements) | Arguments(elements):
            return [one for element in elements for one in _names(element)]
        case Pair(first, second):
            return [*_names(first), *_names(second)]
        case _:
            return []


def _leading(opcode: str, count: int) -> int | None:
    """How many operands, from the first on, every form of an opcode with `count` writes; None if forms differ."""
    leading = effects_of(opcode).leading
    return leading.get(count) if leading else min(count, 1)


def _leading_of(spec: InstructionSpec, line: SyntaxLine) -> int | None:
    rules = [[spec.operands[name] for name in slot.names] for slot in line.operands]
    sure = [not slot.optional and not spec.operands[slot.name].when for slot in line.operands]
    number = next((at for at, each in enumerate(rules) if not (each[0].written and sure[at])), len(rules))
    return None if any(rule.written for each in rules[number:] for rule in each) else number


def _written(instruction: Instruction) -> list[Operand]:
    """The operands that the form at hand writes; of what has no form the first one, if it is not an address."""
    operands = instruction.operands
    form = bind(instruction).form
    slots = () if form is None else form.operands(len(operands))
    if form is None or not slots:
        return [one for one in operands[:1] if type(one) is not Address]
    rules = form.spec.operands
    return [one for slot, one in zip(slots, operands, strict=True) if rules[slot.name].written]
