"""Assigns places to registers: those that are never live at the same time share one, to keep a warp's file small.

A register's interval runs from its first to its last mention in the text of its function. One that lives in a single
block (written there before it is read) needs no more; any other also covers every loop in which it is mentioned. Lanes
keep their own columns, so divergence does not matter; registers with one value a warp (`uniform_values.py`) do not
share.
"""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.binding.effects import updates
from ptxloom.dataclass import dataclass
from ptxloom.machine.analysis.loops import repeated_stretches
from ptxloom.machine.program.knowledge import Knowledge
from ptxloom.machine.program.mentions import mentioned, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ptxloom.machine.program.knowledge import AddressSum
    from ptxloom.machine.program.model import BasicBlock, Op
    from ptxloom.machine.program.symbols import Register


class Life(NamedTuple):
    """The stretch of text in which a register is needed: its place, its bytes per lane (0: a predicate), two sites."""

    place: int
    size: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Placement:
    """The assigned places of a program's registers.

    Attributes:
        places: Old place -> new place; registers that are never mentioned are left out.
        scalars: For registers with one value per warp: new place -> the place of this value (eight or sixteen bytes),
            close to the others. It is expanded to the new place when 32 lanes are needed in memory.
        temporaries: By new place, for registers of one block: the sites of their first and last mention.
        size: The bytes of the file.
        lives: Of the registers that each lane has for itself; of each element of a vector.
    """

    places: dict[int, int]
    scalars: dict[int, int]
    temporaries: dict[int, tuple[tuple[int, int], ...]]
    size: int
    lives: tuple[Life, ...]

    def moved(self, known: Knowledge) -> Knowledge:
        """Translate knowledge about registers to their new places; registers without a place are dropped."""
        literals = {self.places[at]: bits for at, bits in known.literals.items() if at in self.places}
        uniform = frozenset(self.places[at] for at in known.uniform if at in self.places)
        return Knowledge(literals, uniform, known.uniform_ops, self.scalars, self.temporaries)

    def alive_across(self, site: int) -> tuple[Life, ...]:
        """The registers that are live across an instruction."""
        return tuple(life for life in self.lives if life.start < site < life.end)


@dataclass(slots=True)
class _Interval:
    register: Register
    start: int
    end: int
    function: int
    block: int  # the one block it is mentioned in; -1 if there are several, or it is read before it is written


def place_registers(
    blocks: Sequence[BasicBlock], uniform: frozenset[int], sums: Mapping[int, AddressSum] | None = None
) -> Placement:
    """New places for registers.

    Args:
        blocks: The program's blocks, function by function.
        uniform: Registers (by place) that hold one value a warp: these do not share.
        sums: By site, the sum for an address: its summands are needed there.
    """
    sums = sums or {}
    intervals = _intervals(blocks, sums)
    loops = repeated_stretches(blocks)
    for interval in intervals.values():
        if interval.block < 0:
            _cover(interval, loops)
    predicates = [i for i in intervals.values() if i.register.type.kind == "p"]
    lone = [i for i in intervals.values() if i.register.type.kind != "p" and _is_lone(i.register, uniform)]
    shared = [i for i in intervals.values() if i.register.type.kind != "p" and not _is_lone(i.register, uniform)]
    places: dict[int, int] = {}
    at = 0
    for interval in predicates:
        places[interval.register.offset] = at
        at += interval.register.bytes * interval.register.vector
    scalars: dict[int, int] = {}
    for interval in lone:
        if interval.register.offset in uniform:
            size = 16 if interval.register.type.bits > 64 else 8
            scalars[interval.register.offset] = at = -(-at // size) * size
            at += size
    at = -(-at // 64) * 64
    for function in sorted({i.function for i in shared}):  # a caller's registers outlive its callee's
        at = _share((i for i in shared if i.function == function), places, at)
    for interval in lone:
        at = -(-at // 64) * 64
        places[interval.register.offset] = at
        at += interval.register.bytes * interval.register.vector
    temporaries: dict[int, list[tuple[int, int]]] = {}
    for interval in intervals.values():
        if interval.block >= 0:
            temporaries.setdefault(places[interval.register.offset], []).append((interval.start, interval.end))
    return Placement(
        places,
        {places[old]: scalar for old, scalar in scalars.items()},
        {place: tuple(sorted(mentions)) for place, mentions in temporaries.items()},
        at,
        tuple(_lives((i for i in intervals.values() if i.register.offset not in uniform), places)),
    )


def _lives(intervals: Iterable[_Interval], places: Mapping[int, int]) -> Iterator[Life]:
    for interval in intervals:
        register = interval.register
        size = register.lane_bytes
        for element in range(register.vector):
            place = places[register.offset] + element * register.bytes
            yield Life(place, size, interval.start, interval.end)


def _is_lone(register: Register, uniform: frozenset[int]) -> bool:
    return register.offset in uniform or register.vector > 1


def _share(intervals: Iterable[_Interval], places: dict[int, int], at: int) -> int:
    """Assign places in the order of first mention; a place can be reused, for the same width, after the last mention.

    A strip takes what it holds of a place for lanes of one width.
    """
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[int, int]]] = {}  # by size: (last mention, place)
    for interval in sorted(intervals, key=lambda i: i.start):
        size = interval.register.bytes
        ending = busy.setdefault(size, [])
        while ending and ending[0][0] < interval.start:
            free.setdefault(size, []).append(heappop(ending)[1])
        if free.get(size):
            place = free[size].pop()
        else:
            place, at = at, at + -(-size // 64) * 64
        places[interval.register.offset] = place
        heappush(ending, (interval.end, place))
    return at


def _intervals(blocks: Sequence[BasicBlock], sums: Mapping[int, AddressSum]) -> dict[int, _Interval]:
    found: dict[int, _Interval] = {}
    for block in blocks:
        ops = {op.site: op for op in block.ops}  # a sum and what uses it stand in one block
        for op in block.ops:
            registers = mentioned(op)
            if op.site in sums:
                registers += mentioned(ops[sums[op.site].site])
            fresh = _fresh(op) if any(register.offset not in found for register in registers) else frozenset[int]()
            for register in registers:
                seen = found.get(register.offset)
                if seen is None:
                    number = block.number if register.offset in fresh else -1
                    found[register.offset] = _Interval(register, op.site, op.site, op.function.number, number)
                else:
                    seen.end = op.site
                    if seen.block != block.number:
                        seen.block = -1
    return found


def _fresh(op: Op) -> frozenset[int]:
    """The registers that an instruction overwrites completely."""
    if op.node.predicate is not None or updates(op.node):
        return frozenset()
    sources = {r.offset for r in mentioned(op, op.operands[1:])}
    return frozenset(r.offset for r in written(op)) - sources


def _cover(interval: _Interval, loops: Sequence[tuple[int, int]]) -> None:
    """Stretch an interval over every loop it touches; the loops are apart and in order."""
    at = bisect_left(loops, interval.start, key=lambda loop: loop[1])
    while at < len(loops) and loops[at][0] <= interval.end:
        interval.start = min(interval.start, loops[at][0])
        interval.end = max(interval.end, loops[at][1])
        at += 1
