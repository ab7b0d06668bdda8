"""A kernel as the machine has planned it: the places of its parameters and registers, its blocks and instructions."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from ptxloom.names.demangling import demangled
from ptxloom.readings.computed import multiplies_operands
from ptxloom.syntax import print_statements
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.machine.contraction.rewrite import Fusion
    from ptxloom.machine.program.model import BasicBlock, Op, Program


def full(program: Program, style: Style = PLAIN, fusions: Mapping[int, Fusion] = MappingProxyType({})) -> str:
    """What was planned, block by block; with what was fused, by where its sum starts in the text."""
    return "\n".join(harmless(line) for line in _lines(program, style, fusions)) + "\n"


def _lines(program: Program, style: Style, fusions: Mapping[int, Fusion]) -> Iterator[str]:
    counted = f"{len(program.ops)} instructions in {len(program.blocks)} blocks"
    yield style.paint(f"{demangled(program.entry.name)}: {counted}, tensor cores as of {program.target}", Ink.BOLD)
    yield f"registers   {program.register_bytes} bytes a warp"
    yield f"shared      {program.shared_bytes} bytes"
    for parameter in program.parameters:
        where = f"{parameter.offset:>4} to {parameter.offset + parameter.size - 1}"
        yield f"parameter   {where}  .{parameter.type.name} {parameter.name}"
    for function in program.functions:
        if not function.is_entry:
            name, first = demangled(function.name), function.first
            yield f"function    {name}, from block {first}, frame of {function.frame_bytes} bytes"
    for block in program.blocks:
        yield ""
        yield from _block(program, block, style, fusions)


def _block(program: Program, block: BasicBlock, style: Style, fusions: Mapping[int, Fusion]) -> Iterator[str]:
    after = f", after the call on line {block.after.line}" if block.after else ""
    yield style.paint(f"block {block.number} of {demangled(block.function.name)}{after}", Ink.BOLD)
    if block.ops:
        rows = tuple(row(op.site, op.line, op.text, _known(program, op, fusions)) for op in block.ops)
        yield from text_table(Table(("site", "line", "instruction", "known"), rows), style)


def _known(program: Program, op: Op, fusions: Mapping[int, Fusion]) -> str:
    """The facts that the planner found about an instruction."""
    found = ["the same in all lanes"] if op.site in program.knowledge.uniform_ops else []
    if op.site in program.sums:
        found.append(f"its address is the sum made at {program.sums[op.site].site}")
    fusion = fusions.get(op.node.start) if multiplies_operands(op.node) else None
    if fusion is not None:
        product, sum_ = (" ".join(print_statements((one,)).split()) for one in (fusion.product, fusion.sum))
        found.append(f"`{sum_}` fused with `{product}` of line {fusion.product.span.line}")
    return "; ".join(found)
