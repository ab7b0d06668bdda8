"""What a module is made of, for people and for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.names.demangling import demangled, learn
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table
from ptxloom.views.modules.trees import heading, headline

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.survey import FunctionSurvey, LoopSummary, ModuleSummary
    from ptxloom.views.core.json_text import Value

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


def record(summary: ModuleSummary) -> dict[str, Value]:
    """The module as a JSON object."""
    learn(summary.module.functions)
    return {
        "file": summary.module.source.name,
        **heading(summary.module),
        "global_bytes": summary.global_bytes,
        "constant_bytes": summary.constant_bytes,
        "shared_bytes": summary.shared_bytes,
        "dynamic_shared": summary.dynamic_shared,
        "external": [*summary.external],
        "functions": [_record(one) for one in summary.functions],
    }


def _record(function: FunctionSurvey) -> Value:
    span = function.function.span
    return {
        "name": function.function.name,
        "demangled": demangled(function.function.name),
        "kind": function.function.kind,
        "line": span.line,
        "end_line": span.end_line,
        "parameters": [*function.parameters],
        "parameter_bytes": function.parameter_bytes,
        "registers": _counts(function.registers),
        "shared_bytes": function.shared_bytes,
        "local_bytes": function.local_bytes,
        "limits": [*function.limits],
        "instructions": function.instructions,
        "classes": _counts(function.classes),
        "opcodes": _counts(function.opcodes),
        "blocks": len(function.graph.blocks),
        "loops": [
            {
                "label": one.label,
                "line": one.first_line,
                "end_line": one.last_line,
                "depth": one.depth,
                "blocks": one.blocks,
                "instructions": one.instructions,
            }
            for one in function.loops
        ],
        "calls": [*function.calls],
    }


def _counts(pairs: Iterable[tuple[str, int]]) -> dict[str, Value]:
    """Names and numbers as an object."""
    found: dict[str, Value] = {}
    found.update(pairs)
    return found
