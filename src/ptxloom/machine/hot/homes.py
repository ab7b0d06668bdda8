"""When slots are written to their homes in the warp, and read from them: at least cost, by estimated block frequencies.

A slot's home is right wherever the warp may go on outside of the function. A stored value is written home either at
once or, if it may have changed, when the function is left. A slot is filled before it is read: where the function is
entered or, if its home is always up to date, in the block that reads it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.machine.analysis.loops import depths
from ptxloom.machine.hot.accesses import Touches
from ptxloom.machine.hot.code import OUTSIDE
from ptxloom.machine.hot.liveness import followers
from ptxloom.solver import solve

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.machine.hot.code import Block, Code
    from ptxloom.machine.hot.liveness import Liveness
    from ptxloom.machine.hot.slots import Slots
    from ptxloom.machine.program.model import Program

_LOOP: Final = 8.0  # times that what a loop repeats is thought to run
_DEEPEST: Final = 5
_RARE: Final = (("@ptxloom_tick(", 1 / 64), ("@ptxloom_diverge(", 1 / 8))  # the share of runs that leave so
_LINE: Final = 64  # bytes that are moved at once


class Homes(NamedTuple):
    """Sets of slots, a bit each.

    Attributes:
        through: Those whose homes are always up to date.
        again: Those of them that each block reloads, by its number.
        entered: Those that are read where the function is entered, by the number of the block.
        left: Those that are written home wherever a block is left, by its number.
    """

    through: int
    again: Mapping[int, int]
    entered: Mapping[int, int]
    left: Mapping[int, int]


def homes(code: Code, program: Program, slots: Slots, need: Liveness) -> Homes:
    """Decide when each slot is moved.

    Args:
        code: The kernel.
        program: Its program.
        slots: Its slots.
        need: Where each is needed.
    """
    often = {number: _LOOP ** min(depth, _DEEPEST) for number, depth in depths(program).items()}
    written, read = _written(code, program, slots), {n: need.read[n] for n in often}
    changed = _changed(code, written)
    left = {n: often[n] * max((_share(one) for one in blocks), default=0.0) for n, blocks in _leaving(code).items()}
    entered = dict.fromkeys(often, 0.0)
    for number, several in followers(code, program).items():
        for one in several & entered.keys():
            entered[one] += left.get(number, 0.0)
    through = again = 0
    for number, slot in enumerate(slots.slots):
        if slot.apart:
            continue
        has = 1 << number
        now = sum(often[n] for n, those in written.items() if those & has)
        later = sum(share for n, share in left.items() if need.left[n] & changed[n] & has)
        first = sum(share for n, share in entered.items() if need.at[f"B{n}"] & has)
        each = sum(often[n] for n, those in read.items() if those & has)
        if min(now + each, now + first) < later + first:
            through |= has
            if each < first:
                again |= has
    return Homes(
        through,
        {n: read[n] & again for n in often},
        {n: need.at[f"B{n}"] & ~again for n in often},
        {n: need.left[n] & changed[n] & ~through for n in often},
    )


def _leaving(code: Code) -> dict[int, list[Block]]:
    """By number of a program's block, its parts that may leave the function."""
    found: dict[int, list[Block]] = {}
    for block in code.blocks.values():
        if code.leaves(block):
            found.setdefault(block.part, []).append(block)
    return found


def _share(block: Block) -> float:
    """The estimated fraction of runs in which a block is left; 1 for blocks in which lanes wait."""
    return next((share for name, share in _RARE if any(name in line for line in block.lines)), 1.0)


def _written(code: Code, program: Program, slots: Slots) -> dict[int, int]:
    """By number of a program's block, the slots that it may write to."""
    reader = Touches(program.register_bytes)
    found = {block.number: 0 for block in program.blocks}
    for block in code.blocks.values():
        for line in block.lines:
            for touch in reader.of(line):
                if not touch.apart and block.part != OUTSIDE and touch.changes:
                    found[block.part] |= 1 << slots.number(touch.at)
    return found


def _changed(code: Code, written: Mapping[int, int]) -> dict[int, int]:
    """The slots that may have changed since the function was entered, in each of the program's blocks and behind it."""
    after: dict[int, set[int]] = {number: set() for number in written}
    for block in code.blocks.values():
        if block.part != OUTSIDE:
            for label in block.goes:
                following = code.blocks[label].part
                if following not in {OUTSIDE, block.part} or label == f"B{block.part}":
                    after[block.part].add(following)
    return solve(written, lambda number, changed: [(one, changed) for one in after[number]], int.__or__)
