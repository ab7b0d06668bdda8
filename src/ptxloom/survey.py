"""What a module is made of: its functions, what they declare, which instructions they have, their loops and calls."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.binding.call_graph import called
from ptxloom.binding.sizes import declared_bytes, parameters
from ptxloom.binding.touches import READS, UPDATES, WRITES, touches
from ptxloom.dataclass import dataclass
from ptxloom.flow import FlowGraph, flow_graphs
from ptxloom.isa import instruction_classes
from ptxloom.names.parameters import parameter_names
from ptxloom.syntax import instructions, print_operand, print_statements
from ptxloom.syntax.tree import Block, Declaration, Function, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.syntax import Module

_MOVES: Final = {READS: "loads", WRITES: "stores"}
_ACCESS: Final = {"data movement": _MOVES, "synchronisation and communication": {UPDATES: "atomics"}}
"""By the purpose of an instruction, the class that its only access to memory gives it."""


@dataclass(frozen=True, slots=True)
class LoopSummary:
    """A natural loop.

    Attributes:
        first_line: Where its header starts; likewise `last_line`, the end of its last block.
        label: The header's label, if it has one.
        depth: 1 for a loop that is in no other.
        blocks: How many basic blocks it has, those of inner loops among them.
        instructions: How many instructions those have.
    """

    first_line: int
    last_line: int
    label: str
    depth: int
    blocks: int
    instructions: int


@dataclass(frozen=True, slots=True)
class FunctionSurvey:
    """A kernel or function with a body.

    Attributes:
        function: The statement.
        graph: Its control flow.
        parameters: Its parameters as text: ".u64 a".
        parameter_bytes: What they take together, each at its own alignment.
        registers: (type, how many) as declared; the hardware allocates fewer.
        shared_bytes: Shared memory that it declares itself.
        local_bytes: Local memory that it declares itself.
        limits: Its performance directives as text: ".maxntid 128, 1, 1".
        instructions: How many instructions its body has.
        classes: (what they are for, how many), the most first.
        opcodes: (opcode, how many), the most first.
        loops: By the place of their headers.
        calls: The functions that it calls by name, in the order of the first call.
    """

    function: Function
    graph: FlowGraph
    parameters: tuple[str, ...]
    parameter_bytes: int
    registers: tuple[tuple[str, int], ...]
    shared_bytes: int
    local_bytes: int
    limits: tuple[str, ...]
    instructions: int
    classes: tuple[tuple[str, int], ...]
    opcodes: tuple[tuple[str, int], ...]
    loops: tuple[LoopSummary, ...]
    calls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """A module and what it is made of.

    Attributes:
        module: The module.
        functions: Those with a body, in the order of the text.
        external: The functions that are only declared.
        shared_bytes: Memory declared outside functions; likewise `global_bytes` and `constant_bytes`.
        dynamic_shared: Whether the launch decides on more shared memory.
    """

    module: Module
    functions: tuple[FunctionSurvey, ...]
    external: tuple[str, ...]
    shared_bytes: int
    global_bytes: int
    constant_bytes: int
    dynamic_shared: bool


def survey(module: Module) -> ModuleSummary:
    """Look a module over without judging it.

    Example:
        >>> from ptxloom.syntax import parse
        >>> m = survey(parse(".entry k(.param .u64 a) { .reg .b32 %r<4>; L: add.s32 %r1, %r1, 1; @%p bra L; ret; }"))
        >>> m.functions[0].registers, m.functions[0].classes
        ((('b32', 4),), (('control flow', 2), ('integer arithmetic', 1)))
        >>> [loop.label for loop in m.functions[0].loops]
        ['L']
    """
    outside = [one for one in module.statements if isinstance(one, Declaration)]
    sizes: Counter[str] = Counter()
    for one in outside:
        sizes[one.space] += 0 if one.linkage == "extern" and one.space != "shared" else declared_bytes(one)
    functions = [one for one in module.statements if isinstance(one, Function)]
    return ModuleSummary(
        module,
        tuple(_function(graph, module) for graph in flow_graphs(module, marks=False)),
        tuple(dict.fromkeys(f.name for f in functions if module.functions[f.name].body is None)),
        sizes["shared"],
        sizes["global"],
        sizes["const"],
        any(one.linkage == "extern" and one.space == "shared" for one in outside),
    )


def _function(graph: FlowGraph, module: Module) -> FunctionSurvey:
    """What one function declares and does."""
    function = graph.function
    inside = tuple(instructions(function))
    declared = declarations(function)
    return FunctionSurvey(
        function=function,
        graph=graph,
        parameters=parameter_texts(module, function),
        parameter_bytes=max((one.end for one in parameters(function.params)), default=0),
        registers=registers(declared),
        shared_bytes=sum(declared_bytes(d) for d in declared if d.space == "shared"),
        local_bytes=sum(declared_bytes(d) for d in declared if d.space == "local"),
        limits=limits(function),
        instructions=len(inside),
        classes=tuple(Counter(map(class_of, inside)).most_common()),
        opcodes=tuple(Counter(one.opcode for one in inside).most_common()),
        loops=tuple(_loops(graph)),
        calls=tuple(dict.fromkeys(name for one in inside if (name := called(one)) in module.functions)),
    )


def declarations(function: Function) -> tuple[Declaration, ...]:
    """The declarations of a body, those of nested scopes among them."""
    found: list[Declaration] = []
    waiting = [function.body] if function.body is not None else []
    while waiting:
        for one in waiting.pop().statements:
            match one:
                case Declaration():
                    found.append(one)
                case Block():
                    waiting.append(one)
                case _:
                    pass
    return tuple(found)


def registers(declared: Iterable[Declaration]) -> tuple[tuple[str, int], ...]:
    """How many registers of each type are declared, by type."""
    found: Counter[str] = Counter()
    for one in declared:
        if one.space == "reg":
            found[one.type] += sum((d.count or 1) * (one.vector or 1) for d in one.declarators)
    return tuple(sorted(found.items()))


def parameter_texts(module: Module, function: Function) -> tuple[str, ...]:
    """A function's parameters as they are declared, without their space; those of a kernel by their source names."""
    texts = [_parameter_text(declaration) for declaration in function.params]
    plain = [one.name for declaration in function.params for one in declaration.declarators]
    if module.functions.get(function.name) is function and len(texts) == len(plain):
        for at, (name, written) in enumerate(zip(plain, parameter_names(module, function.name), strict=True)):
            if written != name:
                head, _, tail = texts[at].rpartition(name)
                texts[at] = f"{head}{written}{tail}"
    return tuple(texts)


def _parameter_text(parameter: Declaration) -> str:
    return print_statements((parameter,)).strip().removeprefix(".param ").removesuffix(";")


def limits(function: Function) -> tuple[str, ...]:
    """The performance directives as text."""
    return tuple(f".{d.name} {', '.join(map(print_operand, d.values))}".rstrip() for d in function.directives)


def class_of(instruction: Instruction) -> str:
    """What an instruction is for: "global loads", "floating point", "control flow", "matrix"."""
    purpose = _purpose(instruction.opcode, instruction.qualifiers)
    accesses = _ACCESS.get(purpose)
    if accesses is None:
        return purpose
    touched = [touch for touch in touches(instruction) if touch.loads or touch.stores]
    if len(touched) == 1 and touched[0].does in accesses:
        return f"{touched[0].space or 'generic'} {accesses[touched[0].does]}"
    return purpose


@lru_cache(maxsize=4096)
def _purpose(opcode: str, qualifiers: tuple[str, ...]) -> str:
    purpose = _classes().get(opcode, "unknown")
    if purpose == "integer arithmetic" and any(q.startswith(("f16", "f32", "f64", "bf16")) for q in qualifiers):
        return "floating point"
    return purpose


@lru_cache(maxsize=1)
def _classes() -> dict[str, str]:
    return instruction_classes()


def _loops(graph: FlowGraph) -> list[LoopSummary]:
    """The loops by their headers; facts about a loop also hold for the loops around it."""
    found: dict[int, LoopSummary] = {}
    inner: dict[int, list[LoopSummary]] = {}
    for number in range(len(graph.loops) - 1, -1, -1):
        loop = graph.loops[number]
        spans = [span for block in loop.own if (span := graph.span(block)) is not None]
        within = inner.pop(number, [])
        header = graph.blocks[loop.header]
        found[number] = LoopSummary(
            min((*(span.line for span in spans), *(one.first_line for one in within))),
            max((*(span.end_line for span in spans), *(one.last_line for one in within))),
            header.labels[0] if header.labels else "",
            loop.depth,
            len(loop.blocks),
            sum(len(graph.blocks[block].instructions) for block in loop.own) + sum(one.instructions for one in within),
        )
        if loop.outer is not None:
            inner.setdefault(loop.outer, []).append(found[number])
    return [found[number] for number in range(len(graph.loops))]
