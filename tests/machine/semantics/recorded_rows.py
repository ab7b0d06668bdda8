"""The row of one instruction, built by itself: what it tells and what it calls is there to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine import semantics
from ptxloom.machine.codegen.builder import Builder, Instrument
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.syntax import parse
from recorded.ptxas.isa_cases import Case, module_text

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op


def built(case: Case, instrument: Instrument | None = None) -> tuple[Op, Builder] | None:
    """An instruction, and the builder that its row has spoken to; None if the machine does not run it."""
    module = parse(module_text("9.4", "sm_90a", (case.text,)))
    try:
        program = plan(module, "k", semantics.BlockCuts())
    except UnsupportedInstruction:
        return None
    block = next(block for block in program.blocks if any(op.node.opcode == case.opcode for op in block.ops))
    op = next(op for op in block.ops if op.node.opcode == case.opcode)
    row = semantics.find(op)
    if row is None:
        return None
    checks = frozenset(("racecheck", "initcheck"))
    b = Builder(program, whole=True, checks=checks, instruments=instrument or Instrument())
    b.block = block
    b.entered = True
    b.begin(op)
    try:
        row.build(b, op)
    except UnsupportedInstruction:
        return None
    return op, b
