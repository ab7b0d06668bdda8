"""The statistics of a module, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal

from ptxloom.names.demangling import demangled, learn
from ptxloom.records import Keywords, Natural, Positive, Record, Spliced, taken
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table
from ptxloom.views.modules.trees import Heading, heading, headline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.survey import FunctionSurvey, LoopSummary, ModuleSummary

SHOWN: Final = 12
"""The number of parameters, opcodes and calls that are named; the rest is only counted."""


def full(summary: ModuleSummary, style: Style = PLAIN) -> str:
    """The module, then each function: what it declares and what it does."""
    learn(summary.module.functions)
    lines = [style.paint(harmless(headline(summary.module)), Ink.BOLD)]
    memory = [("global", summary.global_bytes), ("constant", summary.constant_bytes), ("shared", summary.shared_bytes)]
    said = [f"{_bytes(size)} {space}" for space, size in memory if size]
    said += ["shared memory whose size the launch decides"] * summary.dynamic_shared
    if said:
        lines.append(f"  memory        {', '.join(said)}")
    if summary.external:
        lines.append(f"  external      {_some(tuple(map(demangled, summary.external)))}")
    for function in summary.functions:
        lines += ["", *_function(function, style)]
    return "\n".join(lines) + "\n"


def _function(function: FunctionSurvey, style: Style) -> list[str]:
    kind = "kernel" if function.function.kind == "entry" else "function"
    span = function.function.span
    name = style.paint(harmless(demangled(function.function.name)), Ink.BOLD)
    head = f"{kind} {name}, lines {span.line} to {span.end_line}{''.join(f', {one}' for one in function.limits)}"
    parameters = f"{_some(function.parameters)} ({_bytes(function.parameter_bytes)})" if function.parameters else "none"
    registers = ", ".join(f"{count} {type_}" for type_, count in function.registers) or "none"
    lines = [head, f"  parameters    {parameters}", f"  registers     {registers} (as declared)"]
    lines += [f"  shared        {_bytes(function.shared_bytes)}"] * bool(function.shared_bytes)
    lines += [f"  local         {_bytes(function.local_bytes)}"] * bool(function.local_bytes)
    classes = ", ".join(f"{count} {class_}" for class_, count in function.classes)
    lines.append(f"  instructions  {function.instructions}" + (f": {classes}" if classes else ""))
    if function.opcodes:
        lines.append(f"  opcodes       {_some(tuple(f'{count} {opcode}' for opcode, count in function.opcodes))}")
    lines.append(
        f"  control flow  {_count(len(function.graph.blocks), 'block')}, {_count(len(function.loops), 'loop')}"
    )
    if function.calls:
        lines.append(f"  calls         {_some(tuple(map(demangled, function.calls)))}")
    if function.loops:
        lines += ["", *(f"  {line}" for line in text_table(_loops(function.loops), style))]
    return lines


def _loops(loops: Iterable[LoopSummary]) -> Table:
    return Table(
        ("loop", "lines", "depth", "blocks", "instructions"),
        tuple(
            row(
                harmless("  " * (one.depth - 1) + (one.label or "(no label)")),
                f"{one.first_line}-{one.last_line}",
                one.depth,
                one.blocks,
                one.instructions,
            )
            for one in loops
        ),
    )


def _bytes(size: int) -> str:
    return "1 byte" if size == 1 else f"{size} bytes"


def _some(names: tuple[str, ...]) -> str:
    """The first few, and how many more there are."""
    shown = ", ".join(map(harmless, names[:SHOWN]))
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


class LoopRecord(Record):
    """A natural loop."""

    label: str
    line: Natural
    end_line: Natural
    depth: Positive
    blocks: Natural
    instructions: Natural


Counted = Mapping[str, Annotated[int, Keywords(minimum=1)]]


class FunctionRecord(Record, define="function"):
    """A kernel or function with a body."""

    name: str
    demangled: str
    kind: Literal["entry", "func"]
    line: Natural
    end_line: Natural
    parameters: tuple[str, ...]
    parameter_bytes: Natural
    registers: Counted
    shared_bytes: Natural
    local_bytes: Natural
    limits: tuple[str, ...]
    instructions: Natural
    classes: Counted
    opcodes: Counted
    blocks: Natural
    loops: tuple[LoopRecord, ...]
    calls: tuple[str, ...]


class ModuleRecord(Record):
    """A module."""

    file: str
    heading: Spliced[Heading]
    global_bytes: Natural
    constant_bytes: Natural
    shared_bytes: Natural
    dynamic_shared: bool
    external: tuple[str, ...]
    functions: tuple[FunctionRecord, ...]


def record(summary: ModuleSummary) -> ModuleRecord:
    """The module as it is recorded."""
    learn(summary.module.functions)
    return taken(
        ModuleRecord,
        summary,
        file=summary.module.source.name,
        heading=heading(summary.module),
        functions=tuple(map(_record, summary.functions)),
    )


def _record(found: FunctionSurvey) -> FunctionRecord:
    span = found.function.span
    return taken(
        FunctionRecord,
        found,
        name=found.function.name,
        demangled=demangled(found.function.name),
        kind=found.function.kind,
        line=span.line,
        end_line=span.end_line,
        registers=dict(found.registers),
        classes=dict(found.classes),
        opcodes=dict(found.opcodes),
        blocks=len(found.graph.blocks),
        loops=tuple(taken(LoopRecord, one, line=one.first_line, end_line=one.last_line) for one in found.loops),
    )
