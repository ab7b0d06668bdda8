"""The code that counts: executions by block, lanes by predicated instruction, memory by pattern of addresses.

What bulk copies move is counted by the functions that make them (`Warp.moved`).

Counters lie in one stretch of memory for each worker, which `Warp.profile` points to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom import banks
from ptxloom.binding.touches import UPDATES, touches
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.matrix import MOVES
from ptxloom.machine.codegen.builder import Instrument
from ptxloom.machine.instruments.equal_cost import twins
from ptxloom.machine.native import language, translation
from ptxloom.machine.native.ir import Value
from ptxloom.machine.program.parts import LOADS
from ptxloom.machine.runtime import counting, state
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Branch
from ptxloom.readings.effects import copies, moves_matrix, updates_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine.codegen.access import Access
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op, Program

_W: Final = Value("ptr", "%w")
_ONE: Final = Value("i64", "1")


SLOT: Final = np.dtype(language.structure(counting.CounterSlot))


class Counters:
    """The layout of a program's counters: six rows of 64-bit numbers, then the slots.

    Attributes:
        keys: The instruction (its site) and the state space that each slot is for.
        twins: By site, the instructions that are counted with another.
        start: Where the slots start, in bytes.
    """

    def __init__(self, program: Program) -> None:
        self.blocks = len(program.blocks)
        self.sites = len(program.ops)
        self.twins = twins(program)
        self.keys = tuple((op.site, space) for op in program.ops if op.site not in self.twins for space in _spaces(op))
        self._lengths = (self.blocks, self.blocks, self.blocks, self.sites, self.sites, 2 * self.sites)
        self.start = -(-8 * sum(self._lengths) // 64) * 64
        self._slots = {key: self.start + number * SLOT.itemsize for number, key in enumerate(self.keys)}

    def whole(self, block: int) -> int:
        """The counter of a block's runs by whole warps."""
        return 8 * block

    def part(self, block: int) -> int:
        """The counter of its runs by parts of warps."""
        return 8 * (self.blocks + block)

    def lanes(self, block: int) -> int:
        """The counter of the lanes in these parts."""
        return 8 * (2 * self.blocks + block)

    def active(self, site: int) -> int:
        """The counter of the lanes that ran a predicated instruction."""
        return 8 * (3 * self.blocks + site)

    def divergent(self, site: int) -> int:
        """The counter of a branch's divergent runs."""
        return 8 * (3 * self.blocks + self.sites + site)

    @property
    def moved(self) -> int:
        """The counters, by site, of the bytes of global and of shared memory that bulk copies moved."""
        return 8 * (3 * self.blocks + 2 * self.sites)

    def slot(self, op: Op, space: int) -> int | None:
        """The slot of an instruction's accesses to a state space, if these are counted."""
        return self._slots.get((op.site, space)) or self._slots.get((op.site, state.GENERIC))

    def split(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The six rows."""
        return tuple(np.split(numbers, np.cumsum(self._lengths))[: len(self._lengths)])

    def slots_in(self, area: NDArray[np.uint8]) -> NDArray[Any]:
        """The slots in a worker's memory."""
        return area[self.start : self.start + len(self.keys) * SLOT.itemsize].view(SLOT)

    @property
    def bytes(self) -> int:
        """Their size in memory."""
        return self.start + len(self.keys) * SLOT.itemsize


def _spaces(op: Op) -> tuple[int, ...]:
    """The spaces whose accesses are counted: two for a copy; other instructions have one slot for all accesses."""
    moves = [touch for touch in touches(op.node) if touch.base == "address" and (touch.loads or touch.stores)]
    return (state.SHARED, state.GLOBAL) if len(moves) > 1 else (state.GENERIC,) * len(moves)


class Profiling(Instrument):
    """Counts."""

    def __init__(self, program: Program) -> None:
        self.counters = Counters(program)

    def enter(self, b: Builder) -> None:
        """Count a run of the block."""
        number = b.block.number
        if b.whole:
            self._add(b, self.counters.whole(number), _ONE)
            return
        self._add(b, self.counters.part(number), _ONE)
        self._add(b, self.counters.lanes(number), _population(b, b.mask))

    def sees(self, op: Op) -> bool:
        """Predicated instructions: their lanes are counted."""
        return op.node.predicate is not None

    def before(self, b: Builder) -> None:
        """Count the lanes of a predicated instruction."""
        if b.op.node.predicate is not None and Branch() not in deeds_of(b.op.node) and b.active is not None:
            self._add(b, self.counters.active(b.op.site), _population(b, b.active))

    def diverged(self, b: Builder) -> None:
        """Count a divergent branch."""
        self._add(b, self.counters.divergent(b.op.site), _ONE)

    def access(self, b: Builder, access: Access) -> None:
        """Count an access to shared or global memory; the cost of mbarriers has not been measured."""
        at = self.counters.slot(b.op, access.space)
        if access.stretches is not None:
            return  # the run-time counts stretches as it moves them
        if at is None or access.is_mbarrier or access.space not in {state.SHARED, state.GLOBAL, state.GENERIC}:
            return
        slot = b.offset(b.load("ptr", b.field("profile"), 8), at)
        lanes = b.active_mask if access.lanes is None else access.lanes
        phase, rules = _rules(b.op, access.bytes)
        name = f"ptxloom_count_{access.address_bits}"
        b.helper(name, _function(name, access.address_bits))
        b.natives[translation.signature(counting.meet).name] = counting.meet
        facts = (Value("i32", str(int(n))) for n in (access.bytes, phase, rules, access.space))
        b.call(name, _W, slot, access.addresses, Value("i64", str(access.offset)), lanes, *facts)

    def _add(self, b: Builder, at: int, by: Value) -> None:
        place = b.offset(b.load("ptr", b.field("profile"), 8), at)
        b.store(b.apply("add", b.load("i64", place, 8), by), place, 8)


def _population(b: Builder, mask: Value) -> Value:
    return b.resize(b.intrinsic("llvm.ctpop", mask), 64)


def _rules(op: Op, size: int) -> tuple[int, int]:
    """The number of lanes that shared memory serves together, and the rules."""
    of = bank_access(op, size)
    if of is None:
        return 32, counting.ALONE if any(touch.does == UPDATES for touch in touches(op.node)) else 0
    rules = (of.merges, counting.MERGES), (of.is_atomic, counting.ALONE), (of.rounds > 1, counting.TWICE)
    return of.phase_lanes, sum(rule for holds, rule in rules if holds)


def bank_access(op: Op, size: int) -> banks.Access | None:
    """The access as shared memory sees it: a copy is a store, a generic access a shared one; None for other kinds."""
    words = {1: "b8", 2: "b16", 4: "b32", 8: "b64", 16: "v4.b32"}
    if op.opcode in MOVES:
        spelling = op.spelling
    elif moves_matrix(op.node):
        return None
    elif updates_memory(op.node) and not copies(op.node):
        spelling = f"{op.opcode}.shared.{'.'.join(op.qualifiers)}"
    elif op.opcode in LOADS:
        spelling = f"ld.shared.{words.get(size)}"
    else:
        spelling = f"st.shared.{words.get(size)}"
    try:
        return banks.access(spelling)
    except PtxloomError:
        return None


def _function(name: str, bits: int) -> str:
    """Compare an access with the last pattern; other patterns go to `counting.meet`."""
    pattern, slot = language.record(counting.AccessPattern).offsets, language.record(counting.CounterSlot).offsets
    meet = translation.signature(counting.meet)
    inside = "" if bits == 32 else _INSIDE.format(start=pattern["start"], end=pattern["end"])
    return _COUNT.format(
        declaration=meet.declaration,
        meet=meet.name,
        name=name,
        bits=bits,
        current=slot["current"],
        old=pattern["words" if bits == 32 else "addresses"],
        mask=pattern["mask"],
        hits=pattern["hits"],
        last=pattern["last"],
        low=3 if bits == 32 else 31,
        inside=inside,
        bad="%moved" if bits == 32 else "%outside",
        offset=f"trunc i64 %offset to i{bits}" if bits == 32 else "bitcast i64 %offset to i64",
        zero_extended="zext" if bits == 32 else "bitcast",
        narrow="bitcast i32 %low to i32" if bits == 32 else "trunc i64 %low to i32",
    )


_INSIDE: Final = """
  %start.at = getelementptr i8, ptr %p, i64 {start}
  %start = load i64, ptr %start.at, align 8
  %end.at = getelementptr i8, ptr %p, i64 {end}
  %stop = load i64, ptr %end.at, align 8
  %before = icmp ult i64 %one, %start
  %beyond = icmp uge i64 %one, %stop
  %away = or i1 %before, %beyond
  %outside = or i1 %moved, %away
"""

_COUNT: Final = """
{declaration}
declare i32 @llvm.cttz.i32(i32, i1)
define void @{name}(ptr %w, ptr %slot, ptr %addresses, i64 %offset, i32 %mask, i32 %size, i32 %phase, i32 %rules,
                    i32 %space) #0 {{
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %end, label %some
some:
  %by = {offset}
  %by.one = insertelement <32 x i{bits}> poison, i{bits} %by, i64 0
  %by.all = shufflevector <32 x i{bits}> %by.one, <32 x i{bits}> poison, <32 x i32> zeroinitializer
  %read = load <32 x i{bits}>, ptr %addresses, align 4
  %all = add <32 x i{bits}> %read, %by.all
  %current.at = getelementptr i8, ptr %slot, i64 {current}
  %p = load ptr, ptr %current.at, align 8
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %first.wide = zext i32 %first to i64
  %one.at = getelementptr i{bits}, ptr %addresses, i64 %first.wide
  %one.read = load i{bits}, ptr %one.at, align 4
  %one = add i{bits} %one.read, %by
  %old.at = getelementptr i8, ptr %p, i64 {old}
  %old.one.at = getelementptr i{bits}, ptr %old.at, i64 %first.wide
  %old.one = load i{bits}, ptr %old.one.at, align 4
  %shift = sub i{bits} %one, %old.one
  %shift.one = insertelement <32 x i{bits}> poison, i{bits} %shift, i64 0
  %shift.all = shufflevector <32 x i{bits}> %shift.one, <32 x i{bits}> poison, <32 x i32> zeroinitializer
  %old = load <32 x i{bits}>, ptr %old.at, align 4
  %steps = sub <32 x i{bits}> %all, %old
  %differ = icmp ne <32 x i{bits}> %steps, %shift.all
  %differ.bits = bitcast <32 x i1> %differ to i32
  %differ.active = and i32 %differ.bits, %mask
  %mask.at = getelementptr i8, ptr %p, i64 {mask}
  %known = load i32, ptr %mask.at, align 4
  %other = xor i32 %known, %mask
  %low = and i{bits} %shift, {low}
  %low.word = {narrow}
  %wrong1 = or i32 %differ.active, %other
  %wrong2 = or i32 %wrong1, %low.word
  %moved = icmp ne i32 %wrong2, 0
{inside}
  br i1 {bad}, label %new, label %known.again
known.again:
  %hits.at = getelementptr i8, ptr %p, i64 {hits}
  %hits = load i64, ptr %hits.at, align 8
  %hits.more = add i64 %hits, 1
  store i64 %hits.more, ptr %hits.at, align 8
  %last.at = getelementptr i8, ptr %p, i64 {last}
  %one.wide = {zero_extended} i{bits} %one to i64
  store i64 %one.wide, ptr %last.at, align 8
  br label %end
new:
  %wide = {zero_extended} <32 x i{bits}> %all to <32 x i64>
  %room = alloca [32 x i64], align 64
  store <32 x i64> %wide, ptr %room, align 64
  call void @{meet}(ptr %w, ptr %slot, ptr %room, i32 %mask, i32 %size, i32 %phase, i32 %rules, i32 %space)
  br label %end
end:
  ret void
}}
"""
