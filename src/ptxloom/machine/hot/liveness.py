"""Which slots hold what is needed yet, where each of the program's blocks begins and where it may be left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.analysis.uniform_values import destination
from ptxloom.machine.hot.accesses import Touches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ptxloom.machine.hot.code import Block, Code
    from ptxloom.machine.hot.slots import Slots
    from ptxloom.machine.program.model import BasicBlock, Program


class Need(NamedTuple):
    """Sets of slots, a bit each.

    Attributes:
        at: By label of a block: those needed where it begins.
        left: By number of a block of the program: those needed wherever a warp may go on that leaves it.
    """

    at: Mapping[str, int]
    left: Mapping[int, int]


def needs(code: Code, program: Program, slots: Slots, lasting: int) -> Need:
    """What is needed where.

    Args:
        code: The kernel.
        program: What it was made of.
        slots: Its slots.
        lasting: Those that are needed everywhere.
    """
    reader = Touches(program.register_bytes)
    effects = {label: _effects(reader, block.lines, slots) for label, block in code.blocks.items()}
    after = {block.number: _after(block) for block in program.blocks}
    live = dict.fromkeys(code.blocks, lasting)
    order = list(reversed(code.blocks.values()))
    changed = True
    while changed:
        changed = False
        for block in order:
            out = _out(code, block, live, after) | lasting
            read, written = effects[block.label]
            now = read | out & ~written | lasting
            if now != live[block.label]:
                live[block.label] = now
                changed = True
    return Need(live, {number: _joined(live, following) | lasting for number, following in after.items()})


def _out(code: Code, block: Block, live: Mapping[str, int], after: Mapping[int, frozenset[int]]) -> int:
    """What is needed behind a block."""
    out = 0
    for label in block.goes:
        if code.blocks[label].part == block.part or label.startswith("B"):
            out |= live[label]
    if code.leaves(block):
        out |= _joined(live, after[block.part])
    return out


def _joined(live: Mapping[str, int], numbers: Iterable[int]) -> int:
    out = 0
    for number in numbers:
        out |= live.get(f"B{number}", 0)
    return out


def _after(block: BasicBlock) -> frozenset[int]:
    """Where lanes may be after a block."""
    found = {block.number + 1}
    for op in block.ops[-1:]:
        target = destination(op)
        if target is not None:
            found.update(target.blocks)
    return frozenset(found)


def _effects(reader: Touches, lines: Iterable[str], slots: Slots) -> tuple[int, int]:
    """The slots whose content counts where some lines begin, and those that are new behind them."""
    read = written = 0
    parts: dict[int, set[int]] = {}
    for line in lines:
        for touch in reader.of(line):
            if touch.apart:
                continue
            number = slots.number(touch.at)
            slot = slots.slots[number]
            if touch.reads and not written >> number & 1:
                read |= 1 << number
            if touch.writes:
                fresh = parts.setdefault(number, set())
                fresh.update(range(touch.at, touch.at + touch.size))
                if len(fresh) == slot.size:
                    written |= 1 << number
    return read, written
