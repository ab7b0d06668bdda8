"""The rule about `.aligned`: all lanes of a warp execute such an instruction together (PTX ISA 9.7.13.1, 9.7.14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Diagnostic, Label, Severity
from ptxloom.flow.uniformity import Uniformity
from ptxloom.isa.load import instruction_spec, known
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Arrive, Meet, Reach
from ptxloom.readings.bits import Level
from ptxloom.readings.effects import calls
from ptxloom.solver import reached
from ptxloom.source import Span
from ptxloom.syntax.bind import qualifier_span
from ptxloom.syntax.tree import Name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.flow import FlowGraph
    from ptxloom.flow.uniformity import DivergenceSource
    from ptxloom.syntax.tree import Instruction

RULE: Final = "divergent-aligned"
_REMEDY: Final = (
    "move it to code that all lanes reach, or branch on a value that the whole warp shares: a warp's index (`%tid.x >> "
    "5`), a vote, a value that `shfl.sync.idx` spreads"
)
_BARRIER_REMEDY: Final = "; or write `barrier` without `.aligned`, at which lanes may arrive one by one"


@dataclass(frozen=True, slots=True)
class _Place:
    """An instruction that needs its whole warp, and where it is."""

    block: int
    position: int
    instruction: Instruction
    through: str = ""  # the function that a call leads to


def is_aligned(instruction: Instruction) -> bool:
    """Whether all lanes of a warp must execute an instruction together, by its qualifier or by its effects."""
    return "aligned" in instruction.qualifiers or any(deed.whole for deed in _barriers(instruction))


def _concerns(instruction: Instruction) -> bool:
    """A quick test whether an instruction may be aligned, or a call; most are neither."""
    return bool(deeds_of(instruction)) or "aligned" in instruction.qualifiers


def _barriers(instruction: Instruction) -> Iterator[Arrive | Meet]:
    """The barriers of a CTA or a cluster that an instruction arrives at."""
    deeds = (deed for deed in deeds_of(instruction) if isinstance(deed, (Arrive, Meet)))
    return (deed for deed in deeds if deed.reach >= Reach.CTA)


def divergent(graphs: Sequence[FlowGraph]) -> Iterator[Diagnostic]:
    """The warnings about aligned instructions that part of a warp may execute."""
    inside = _functions_with_aligned(graphs)
    for graph in graphs:
        places = list(_places(graph, inside)) if graph.function.name in inside else []
        if places and not graph.unresolved and not graph.irreducible:
            yield from _in_function(graph, places)


def _functions_with_aligned(graphs: Sequence[FlowGraph]) -> frozenset[str]:
    """The functions that contain an aligned instruction, or call one that does."""
    found = set[str]()
    callers: dict[str, list[str]] = {}
    for graph in graphs:
        name = graph.function.name
        for block in graph.blocks:
            for instruction in filter(_concerns, block.instructions):
                if calls(instruction):
                    for callee in _callees(instruction):
                        callers.setdefault(callee, []).append(name)
                elif name not in found and is_aligned(instruction):
                    found.add(name)
    return frozenset(reached(found, lambda name: callers.get(name, ())))


def _callees(instruction: Instruction) -> Iterator[str]:
    return (one.text for one in instruction.operands[:2] if isinstance(one, Name))


def _places(graph: FlowGraph, inside: frozenset[str]) -> Iterator[_Place]:
    unreachable = graph.unreachable
    for block in graph.blocks:
        if block.number in unreachable:
            continue
        for position, instruction in enumerate(block.instructions):
            if not _concerns(instruction):
                continue
            if calls(instruction):
                callee = next((one for one in _callees(instruction) if one in inside), "")
                if callee and callee != graph.function.name:
                    yield _Place(block.number, position, instruction, callee)
            elif is_aligned(instruction):
                yield _Place(block.number, position, instruction)


def _in_function(graph: FlowGraph, places: list[_Place]) -> Iterator[Diagnostic]:
    """One finding for each branch at which lanes diverge, and one for each guard that differs."""
    lanes = Uniformity(graph)
    behind: dict[int, list[_Place]] = {}
    nearest: dict[int, int | None] = {}
    for place in places:
        if lanes.guard(place.block, place.position).level is Level.DIVERGENT:
            yield _guarded(graph, lanes, place)
        elif place.block not in nearest:
            nearest[place.block] = lanes.parting(place.block)
        branch = nearest.get(place.block)
        if branch is not None:
            behind.setdefault(branch, []).append(place)
    for branch, several in behind.items():
        yield _behind(graph, lanes, branch, several)


def _guarded(graph: FlowGraph, lanes: Uniformity, place: _Place) -> Diagnostic:
    instruction = place.instruction
    guard = instruction.predicate
    if guard is None:
        raise ValueError(place)
    cause = lanes.cause(place.block, place.position, guard.name)
    return _finding(
        place,
        f"the guard `{guard.span_in(instruction.source).text}` is not the same in all lanes of a warp",
        _cause_labels(cause, graph),
    )


def _behind(graph: FlowGraph, lanes: Uniformity, branch: int, places: list[_Place]) -> Diagnostic:
    parting_block, branch = branch, lanes.chooser(branch)
    inside = graph.blocks[branch].instructions
    last = inside[-1]
    register = last.predicate.name if last.predicate else next(iter(_names(last)), "")
    cause = lanes.cause(branch, len(inside) - 1, register) if register else None
    if cause is None and parting_block != branch:
        cause = lanes.branch_cause(parting_block)
    more = len(places) - 1
    label = f"and {more} more `.aligned` instruction{'s' * (more > 1)}" if more else "some lanes may not get here"
    parting = Label(last.span, f"lanes diverge here: `{register}` is not the same in all of them")
    return _finding(places[0], label, (parting, *_cause_labels(cause, graph)))


def _names(branch: Instruction) -> Iterator[str]:
    return (one.text for one in branch.operands[:1] if isinstance(one, Name))


def _cause_labels(cause: DivergenceSource | None, graph: FlowGraph) -> tuple[Label, ...]:
    if cause is None:
        return ()
    what = f"`{cause.source}` differs from lane to lane" if cause.source else _makes(cause.instruction)
    return (Label(Span(graph.function.source, cause.instruction.start, cause.instruction.end), what),)


def _makes(instruction: Instruction) -> str:
    return f"each lane gets its own result of `{instruction.opcode}`"


def _finding(place: _Place, label: str, related: tuple[Label, ...]) -> Diagnostic:
    instruction = place.instruction
    opcode = instruction.opcode
    span = _span(instruction)
    if place.through:
        message = f"`{place.through}` holds instructions that all lanes of a warp must execute together"
    else:
        message = f"all lanes of a warp must execute `{span.text}` together, and some may be missing"
    return Diagnostic(
        RULE,
        Severity.WARNING,
        message,
        span,
        label,
        instruction_spec(opcode).section if known(opcode) else "9.7.13.1",
        _REMEDY + (_BARRIER_REMEDY if any(_barriers(instruction)) and not place.through else ""),
        related=related,
    )


def _span(instruction: Instruction) -> Span:
    """The opcode and the qualifiers up to `.aligned`."""
    opcode, qualifiers = qualifier_span(instruction, -1), instruction.qualifiers
    last = qualifiers.index("aligned") if "aligned" in qualifiers else len(qualifiers) - 1
    return Span(opcode.source, opcode.start, qualifier_span(instruction, last).end)
