"""A summary of a kernel's registers and accesses in hot code, for debugging the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.hot.accesses import warpwide
from ptxloom.machine.hot.code import OUTSIDE, read
from ptxloom.machine.hot.homes import homes
from ptxloom.machine.hot.liveness import needs
from ptxloom.machine.hot.slots import slots_of
from ptxloom.machine.runtime.memory import quick_access

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.hot.facts import Facts
    from ptxloom.machine.hot.slots import Slots
    from ptxloom.machine.program.model import Program


def summary(ir: str, program: Program, facts: Facts) -> str:
    """The number of register bytes that are values, where they are moved, and which accesses are inline.

    Args:
        ir: The input of `hot`.
        program: Its program.
        facts: Further facts.
    """
    code = read(ir)
    slots = slots_of(code, program.register_bytes)
    placed = homes(code, program, slots, needs(code, program, slots, slots.holding(facts.shared)))
    values, memory = (sum(s.size for s in slots.slots if s.apart == apart) for apart in (False, True))
    lines = [
        f"registers: {values:,} bytes are values, {memory:,} stay in memory for functions that touch them",
        f"{_bytes(slots, placed.through):,} bytes go to the warp as soon as they are new",
    ]
    for block in program.blocks:
        several = (placed.entered, placed.again, placed.left)
        come, again, go = (_bytes(slots, one[block.number]) for one in several)
        way = f"{come:,} bytes come in, {again:,} are read by itself, {go:,} go where it is left"
        lines.append(f"block {block.number}: {way}")
    for block in code.blocks.values():
        if block.part != OUTSIDE:
            lines += _accesses(block.lines, program, facts)
    return "\n".join(lines) + "\n"


def _accesses(lines: list[str], program: Program, facts: Facts) -> Iterator[str]:
    for line in lines:
        one = warpwide(line)
        if one is None:
            continue
        op = program.ops[one.site]
        if one.site in facts.strong:
            way = "a call: others look at it while the kernel runs"
        elif not quick_access.has_quick(one.name):
            way = "a call: in local memory lanes have no neighbours"
        else:
            way = "in line where lanes are neighbours or alike"
        yield f"line {op.line}: `{op.text}`: {way}"


def _bytes(slots: Slots, chosen: int) -> int:
    return sum(slot.size for number, slot in enumerate(slots.slots) if chosen >> number & 1 and not slot.apart)
