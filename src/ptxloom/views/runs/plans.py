"""A kernel as the machine has planned it: the places of its parameters and registers, its blocks and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.names.demangling import demangled
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.port.stages import Plan, PlannedBlock


def full(plan: Plan, style: Style = PLAIN) -> str:
    """What was planned, block by block."""
    return "\n".join(harmless(line) for line in _lines(plan, style)) + "\n"


def _lines(plan: Plan, style: Style) -> Iterator[str]:
    count = sum(len(block.instructions) for block in plan.blocks)
    counted = f"{count} instructions in {len(plan.blocks)} blocks"
    yield style.paint(f"{demangled(plan.name)}: {counted}, tensor cores as of {plan.target}", Ink.BOLD)
    yield f"registers   {plan.register_bytes} bytes a warp"
    yield f"shared      {plan.shared_bytes} bytes"
    for parameter in plan.parameters:
        where = f"{parameter.offset:>4} to {parameter.offset + parameter.size - 1}"
        yield f"parameter   {where}  .{parameter.type} {parameter.name}"
    for function in plan.functions:
        name, first = demangled(function.name), function.first
        yield f"function    {name}, from block {first}, frame of {function.frame_bytes} bytes"
    for block in plan.blocks:
        yield ""
        yield from _block(block, style)


def _block(block: PlannedBlock, style: Style) -> Iterator[str]:
    after = f", after the call on line {block.after}" if block.after else ""
    yield style.paint(f"block {block.number} of {demangled(block.function)}{after}", Ink.BOLD)
    if block.instructions:
        rows = tuple(row(one.site, one.line, one.text, "; ".join(one.known)) for one in block.instructions)
        yield from text_table(Table(("site", "line", "instruction", "known"), rows), style)
