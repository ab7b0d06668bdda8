"""The stretches of code within which ptxas fuses: blocks that nothing enters or leaves halfway, and their borders.

Besides branches and labels, instructions that ptxas turns into branches or calls are borders: exactly rounded divisions
and roots, memory fences, and guarded instructions that act on more than registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations, mentions
from ptxloom.dataclass import dataclass
from ptxloom.isa.load import known
from ptxloom.meaning import table
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import INITS, REGISTERS, Call, Fault, Fence, Reserve
from ptxloom.meaning.form import types_in
from ptxloom.readings.effects import branches
from ptxloom.readings.terms import words
from ptxloom.solver import solve

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from ptxloom.flow import FlowGraph
    from ptxloom.meaning.effects import Effect
    from ptxloom.syntax.tree import Instruction

_ALWAYS: Final = frozenset((Call(), Fault(goes_on=True), Reserve(REGISTERS)))
_LOOPS: Final = frozenset(("s32", "s64", "u64"))  # of divisions: those of other integers are straight code
_ROUNDINGS: Final = ("rn", "rz", "rm", "rp")
_EXACT: Final = frozenset(("fdiv", "sqrt"))
_DIVISIONS: Final = frozenset(("sdiv", "srem", "udiv", "urem"))


@dataclass(frozen=True, slots=True)
class Stretch:
    """Instructions that always run one after the other.

    Attributes:
        instructions: In order.
        last: The number of the block that they end.
    """

    instructions: tuple[Instruction, ...]
    last: int


def stretches(graph: FlowGraph) -> Iterator[Stretch]:
    """The stretches of a function: blocks that can only follow each other are one."""
    for number in graph.order:
        if _goes_on_from(graph, number) is not None:
            continue
        chain = [number]
        while (after := _goes_on_to(graph, chain[-1])) is not None:
            chain.append(after)
        yield Stretch(tuple(one for at in chain for one in graph.blocks[at].instructions), chain[-1])


def _goes_on_to(graph: FlowGraph, number: int) -> int | None:
    """The block that always follows a block, and nothing else."""
    after = graph.successors[number]
    if len(after) != 1 or graph.blocks[number].leaves:
        return None
    return after[0] if _goes_on_from(graph, after[0]) == number else None


def _goes_on_from(graph: FlowGraph, number: int) -> int | None:
    """The block that a block always follows, and that leads nowhere else."""
    before = [one for one in graph.predecessors[number] if one not in graph.unreachable]
    if number == 0 or len(before) != 1:
        return None
    (only,) = before
    alone = len(graph.successors[only]) == 1 and not graph.blocks[only].leaves
    return only if alone else None


def is_border(instruction: Instruction) -> bool:
    """Whether ptxas never fuses across an instruction."""
    if branches(instruction):  # they end a block: where they lead is known
        return False
    guarded = instruction.predicate is not None and not _is_selected(instruction)
    return guarded or any(map(_parts_code, deeds_of(instruction))) or _is_taken_apart(instruction)


def _parts_code(deed: Effect) -> bool:
    """Whether an effect is one that code is not moved across."""
    return deed in _ALWAYS or (isinstance(deed, Fence) and deed.proxy in {"", INITS})


def _is_taken_apart(instruction: Instruction) -> bool:
    """Whether ptxas turns a division or a root into branches or a call."""
    qualifiers = instruction.qualifiers
    rounded = any(one in _ROUNDINGS for one in qualifiers)
    type_ = qualifiers[-1] if qualifiers else ""
    if not rounded and type_ not in _LOOPS and type_ != "f64":
        return False
    said = words(instruction)
    if "rsqrt64" in said:
        return True
    return (rounded and len(types_in(qualifiers)) == 1 and not said.isdisjoint(_EXACT)) or (
        type_ in _LOOPS and not said.isdisjoint(_DIVISIONS)
    )


def _is_selected(instruction: Instruction) -> bool:
    """Whether a guard chooses between two register values, and not between two paths."""
    return instruction.opcode in table.ROWS or not known(instruction.opcode)


def reads(instruction: Instruction) -> list[str]:
    """The names in an instruction's operands that it does not just write; under a guard it keeps what it writes."""
    kept = instruction.predicate is not None
    return [name.text for name, is_read in mentions(instruction) if is_read or kept]


def needed_after(
    graph: FlowGraph, watched: Collection[str], key: Callable[[Instruction, str], str]
) -> list[frozenset[str]]:
    """Which of some registers may be read after each block, before they are written.

    Args:
        graph: The function.
        watched: The registers.
        key: Returns a unique name for each register.
    """
    read, written = zip(*(_outward(block.instructions, watched, key) for block in graph.blocks), strict=True)

    def before(number: int, after: frozenset[str]) -> Iterator[tuple[int, frozenset[str]]]:
        here = read[number] | (after - written[number])
        return ((one, here) for one in graph.predecessors[number])

    nothing: frozenset[str] = frozenset()
    needed = solve(dict.fromkeys(graph.order, nothing), before, lambda one, other: one | other)
    return [needed.get(number, nothing) for number in range(len(graph.blocks))]


def _outward(
    instructions: tuple[Instruction, ...], watched: Collection[str], key: Callable[[Instruction, str], str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The registers that a block reads before it writes them, and those that it always writes."""
    read, written = set[str](), set[str]()
    for one in instructions:
        found = {key(one, name) for name in reads(one)}
        read |= (found - written).intersection(watched)
        if one.predicate is None:
            written.update(key(one, to.name.text) for to in destinations(one) if to.whole)
    return frozenset(read), frozenset(written.intersection(watched))
