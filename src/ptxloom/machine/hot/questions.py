"""Loads of a block that share a register of addresses: the first one also checks the farthest access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.hot.accesses import Touches, warpwide
from ptxloom.machine.runtime.memory import quick_access

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ptxloom.machine.hot.code import Block

_FARTHEST: Final = 1 << 20  # bytes


def questions(blocks: Iterable[Block], register_bytes: int, asked: Mapping[str, str]) -> dict[str, int]:
    """By the result of a load, the offset up to which it also checks other loads.

    It is only a hint: each load has its own check, and LLVM removes those that follow from earlier ones.

    Args:
        blocks: The kernel's.
        register_bytes: The size of its registers.
        asked: The accesses to look at, by their results.
    """
    reader = Touches(register_bytes)
    found: dict[str, list[int]] = {}
    open_: dict[tuple[str, int], str] = {}  # by function and place of addresses: the first load
    part = -1
    for block in blocks:
        if block.part != part:
            part = block.part
            open_.clear()
        for line in block.lines:
            touches = [touch for touch in reader.of(line) if touch.writes or touch.apart]
            one = warpwide(line)
            at = -1 if one is None else reader.places.get(one.places[0], -1)
            if one is not None and one.result in asked and quick_access.has_reach(one.name) and at >= 0:
                offset = one.arguments[2].removeprefix("i64 ")
                if offset.isdecimal() and int(offset) < _FARTHEST:
                    found.setdefault(open_.setdefault((one.name, at), one.result), []).append(int(offset))
            for name, place in list(open_):
                if any(touch.at < place + 128 and place < touch.at + touch.size for touch in touches):
                    del open_[name, place]
    return {result: max(offsets) for result, offsets in found.items() if len(offsets) > 1}
