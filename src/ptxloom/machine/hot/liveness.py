"""Which slots are live where each of the program's blocks begins, and where it may be left."""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.hot.accesses import Touches
from ptxloom.machine.hot.code import OUTSIDE
from ptxloom.machine.program.mentions import destination
from ptxloom.solver import solve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.machine.hot.code import Block, Code
    from ptxloom.machine.hot.slots import Slots
    from ptxloom.machine.program.model import BasicBlock, Program


class Liveness(NamedTuple):
    """Sets of slots, a bit each.

    Attributes:
        at: By label of a block: those needed where it begins.
        left: By number of a block of the program: those needed wherever a warp that leaves it may continue.
        read: By such a number: those that the block itself needs.
    """

    at: Mapping[str, int]
    left: Mapping[int, int]
    read: Mapping[int, int]


def needs(code: Code, program: Program, slots: Slots, lasting: int) -> Liveness:
    """Compute which slots are needed where.

    Args:
        code: The kernel.
        program: What it was made of.
        slots: Its slots.
        lasting: Those that are needed everywhere.
    """
    reader = Touches(program.register_bytes)
    effects = {label: _effects(reader, block.lines, slots) for label, block in code.blocks.items()}
    following = followers(code, program)
    live = _live(effects, {b.label: _behind(code, b, following) for b in code.blocks.values()}, lasting)
    own = _live(effects, {b.label: _inside(code, b) for b in code.blocks.values()}, 0)
    return Liveness(
        live,
        {number: _joined(live, several) | lasting for number, several in following.items()},
        {number: own[f"B{number}"] for number in following},
    )


def _live(effects: Mapping[str, tuple[int, int]], ways: Mapping[str, Iterable[str]], lasting: int) -> dict[str, int]:
    """The slots needed where each block begins, given the successors of each: solved backwards along these edges."""
    before: dict[str, list[str]] = {label: [] for label in ways}
    for label, after in ways.items():
        for one in after:
            before[one].append(label)

    def step(label: str, live: int) -> Iterator[tuple[str, int]]:
        return ((one, live & ~effects[one][1]) for one in before[label])

    return solve({label: read | lasting for label, (read, _) in effects.items()}, step, int.__or__)


def _behind(code: Code, block: Block, following: Mapping[int, frozenset[int]]) -> Iterator[str]:
    """The blocks in which a warp may continue after a block, also by leaving the function and entering it again."""
    for label in block.goes:
        if code.blocks[label].part == block.part or label.startswith("B"):
            yield label
    if code.leaves(block):
        yield from (label for number in following[block.part] if (label := f"B{number}") in code.blocks)


def _inside(code: Code, block: Block) -> Iterator[str]:
    """The following blocks inside its block of the program."""
    return (label for label in block.goes if code.blocks[label].part == block.part and label[0] != "B")


def _joined(live: Mapping[str, int], numbers: Iterable[int]) -> int:
    return reduce(int.__or__, (live.get(f"B{number}", 0) for number in numbers), 0)


def followers(code: Code, program: Program) -> dict[int, frozenset[int]]:
    """The possible successors of each block of the program: also the block itself, if a call receives its number."""
    found = {block.number: _after(block) for block in program.blocks}
    for block in code.blocks.values():
        if block.part != OUTSIDE:
            own = re.compile(rf"call .*[( ]i32 {block.part}[,)]")
            if any(own.search(line) for line in block.lines):
                found[block.part] |= {block.part}
    return found


def _after(block: BasicBlock) -> frozenset[int]:
    found = {block.number + 1}
    for op in block.ops[-1:]:
        target = destination(op)
        if target is not None:
            found.update(target.blocks)
    return frozenset(found)


def _effects(reader: Touches, lines: Iterable[str], slots: Slots) -> tuple[int, int]:
    """The slots whose old contents some lines need, and those that the lines replace."""
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
