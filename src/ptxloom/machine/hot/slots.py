"""Which bytes of the register file become stack slots, which LLVM turns into values."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.hot.accesses import Touches
from ptxloom.machine.native.ir import count, element, vector, width

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.hot.accesses import RegisterTouch
    from ptxloom.machine.hot.code import Code


class Slot(NamedTuple):
    """Bytes of the register file that are touched together.

    Attributes:
        at: Their offset.
        size: Their number.
        type: The type that moves them as a whole.
        apart: Whether they stay in memory, because other code touches them.
    """

    at: int
    size: int
    type: str
    apart: bool


class Slots:
    """All slots of a kernel.

    Attributes:
        slots: These, in order.
    """

    def __init__(self, touches: Iterable[RegisterTouch]) -> None:
        self.slots = _joined(touches)
        self._starts = [one.at for one in self.slots]

    def number(self, at: int) -> int:
        """The slot in which a byte lies."""
        return bisect_right(self._starts, at) - 1

    def holds(self, at: int) -> bool:
        """Whether a byte of the file is in a slot that is not kept in memory."""
        number = self.number(at)
        return number >= 0 and at < self.slots[number].at + self.slots[number].size and not self.slots[number].apart

    def holding(self, places: Iterable[int]) -> int:
        """The slots that contain some bytes of the file, one bit each."""
        chosen = 0
        for at in places:
            number = self.number(at)
            if number >= 0 and at < self.slots[number].at + self.slots[number].size:
                chosen |= 1 << number
        return chosen


def slots_of(code: Code, register_bytes: int) -> Slots:
    """The slots of a kernel."""
    reader = Touches(register_bytes)
    return Slots([touch for block in code.blocks.values() for line in block.lines for touch in reader.of(line)])


def _joined(touches: Iterable[RegisterTouch]) -> list[Slot]:
    """Merge overlapping touches into slots; touches of calls do not determine where a slot ends."""
    several = set(touches)
    found: list[Slot] = []
    for one in sorted(t for t in several if not t.apart):
        if found and one.at < found[-1].at + found[-1].size:
            last = found[-1]
            size = max(last.size, one.at + one.size - last.at)
            found[-1] = Slot(last.at, size, last.type or one.type, apart=False)
        else:
            found.append(Slot(one.at, one.size, one.type, apart=False))
    calls = sorted({(t.at, t.at + t.size) for t in several if t.apart})
    return [
        Slot(s.at, s.size, _moved(s), apart=any(start < s.at + s.size and s.at < end for start, end in calls))
        for s in found
    ]


def _moved(slot: Slot) -> str:
    """The type as which a slot is moved: integers, as wide as those that are in it."""
    bits = width(element(slot.type)) if slot.type and count(slot.type) else 0
    if bits and slot.size * 8 % bits == 0:
        return vector(f"i{bits}", slot.size * 8 // bits)
    return vector("i32", slot.size // 4) if slot.size > 8 and slot.size % 4 == 0 else f"i{8 * slot.size}"
