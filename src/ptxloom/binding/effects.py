"""Which registers an instruction writes, by what the ISA data says of its operands (PTX ISA 9.7)."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.binding.call_graph import call_of
from ptxloom.isa.load import instruction_spec, known
from ptxloom.syntax.bind import bind
from ptxloom.syntax.tree import Address, Arguments, Component, Name, Pair, Vector

if TYPE_CHECKING:
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


def updates(instruction: Instruction) -> bool:
    """Whether an instruction reads what it writes, too, as `wgmma.mma_async` its accumulator."""
    return _may_update(instruction.opcode) and bool(destinations(instruction))


@cache
def _may_update(opcode: str) -> bool:
    return known(opcode) and any(rule.updated for rule in instruction_spec(opcode).operands.values())


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


@cache
def _leading(opcode: str, count: int) -> int | None:
    """How many operands, from the first on, every form of an opcode with so many writes; None if forms differ."""
    if not known(opcode):
        return min(count, 1)
    spec = instruction_spec(opcode)
    found = {_leading_of(spec, line) for line in spec.lines if count in line.counts}
    return found.pop() if len(found) == 1 else None


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
