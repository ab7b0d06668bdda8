"""Runs of plain instructions, computed a strip of lanes at a time: registers stay in the processor between them.

A vector of 32 lanes fills several registers of the processor; eight (sixteen) lanes fill one. A loop over the strips
of a warp therefore holds a run's values in registers from one instruction to the next, in a quarter of the code: each
register of the kernel is read once before it is first needed and written once after it was last changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.assignment import unsure_registers
from ptxloom.machine.ir import LANES, Value, vector
from ptxloom.machine.llvm import host_has
from ptxloom.machine.runtime import state
from ptxloom.machine.symbols import Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import Op
    from ptxloom.machine.semantics.family import Row

#: Instructions in one run: in longer ones LLVM's compiler without optimisation spills more.
LONGEST: Final = 16
SHORTEST: Final = 2
_BLIND: Final = frozenset(
    ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global")
)  # tools that look at no registers, or at few


def strip_lanes() -> int:
    """How many 32-bit lanes a register of the processor holds."""
    return 16 if host_has("avx512f") else 8


class Strip:
    """The registers of one strip, as far as the run has touched them.

    Attributes:
        lanes: How many lanes it has.
        heads: What `finish` wants at the start of the loop.
        ends: What it wants stored after the loop: values, and where.
    """

    def __init__(self, b: Builder, first: Value, blocks: tuple[str, str]) -> None:
        self.lanes = strip_lanes()
        self._b = b
        self._first = first
        self._blocks = blocks
        self.heads: list[str] = []
        self.ends: list[tuple[Value, Value, int]] = []
        self._bases: dict[int, Value] = {}
        self._held: dict[int, dict[str, Value]] = {}  # by place: the value, by the types it has been asked for in
        self._changed: dict[int, Register] = {}
        self._masks: dict[int, Value] = {}
        self._spread: dict[str, Value] = {}

    def read(self, register: Register, type_: str) -> Value:
        """A register's lanes, as a vector of `type_`."""
        forms = self._held.setdefault(register.offset, {})
        if type_ not in forms:
            known = next(iter(forms.values()), None)
            forms[type_] = self._b.load(type_, self._place(register), 4) if known is None else self._as(known, type_)
        return forms[type_]

    def write(self, register: Register, value: Value) -> None:
        """A register's new lanes."""
        self._held[register.offset] = {value.type: value}
        self._changed[register.offset] = register

    def read_mask(self, register: Register) -> Value:
        """A predicate's bits."""
        if register.offset not in self._masks:
            self._masks[register.offset] = self._b.load(f"i{self.lanes}", self._place(register), 1)
        return self._masks[register.offset]

    def write_mask(self, register: Register, mask: Value) -> None:
        """A predicate's new bits."""
        self._masks[register.offset] = mask
        self._changed[register.offset] = register

    def spread(self, mask: Value) -> Value:
        """A mask, one element a lane."""
        if mask.text not in self._spread:
            self._spread[mask.text] = self._b.bitcast(mask, vector("i1", self.lanes))
        return self._spread[mask.text]

    def gather(self, lanes: Value) -> Value:
        """One element a lane as a mask."""
        mask = self._b.bitcast(lanes, f"i{self.lanes}")
        self._spread[mask.text] = lanes
        return mask

    def finish(self) -> None:
        """Write what has changed."""
        for place, register in self._changed.items():
            if register.type.kind == "p":
                self._join(register)
            else:
                self._b.store(next(iter(self._held[place].values())), self._place(register), 4)

    def _join(self, register: Register) -> None:
        """Gather a predicate over the strips; it is stored as a whole at the end, and can be read as one at once."""
        b = self._b
        before, after = b.fresh("%m"), b.fresh("%m")
        self.heads.append(f"{before} = phi i32 [ 0, %{self._blocks[0]} ], [ {after}, %{self._blocks[1]} ]")
        own = b.apply("shl", b.resize(self._masks[register.offset], 32), b.resize(self._first, 32))
        b.do(f"{after} = or i32 {before}, {own.text}")
        self.ends.append((Value("i32", after), Value("ptr", "%w"), state.REGISTERS + register.offset))

    def _as(self, value: Value, type_: str) -> Value:
        return self._b.bitcast(value, type_)

    def _place(self, register: Register) -> Value:
        """Where the strip's part of a register lies; bytes a lane are powers of two, or an eighth."""
        b = self._b
        bits = 1 if register.type.kind == "p" else max(register.type.bits, 8)
        if bits not in self._bases:
            name, amount = ("mul", bits // 8) if bits >= 8 else ("lshr", 3)
            by = b.apply(name, self._first, Value("i64", str(amount)))
            self._bases[bits] = b.offset(Value("ptr", "%w"), by)
        return b.offset(self._bases[bits], state.REGISTERS + register.offset)


def fits(b: Builder, op: Op, row: Row) -> bool:
    """Whether an instruction can be part of a run: lane by lane, on registers and literals only.

    Other checks may want to see each access to a register.
    """
    if "initcheck" in b.checks and op.site in unsure_registers(b.program).sites:
        return False
    return (
        row.lanewise
        and b.checks <= _BLIND
        and not b.watch.sees(op)
        and all(_plain(b, op, operand) for operand in op.operands)
    )


def _plain(b: Builder, op: Op, operand: tree.Operand) -> bool:
    match operand:
        case tree.Name(text=name):
            found = op.scope.find(name)
            return name == "_" or (isinstance(found, Register) and found.vector == 1)
        case tree.Integer() | tree.Float():
            return True
        case tree.Unary(operator="!", operand=inner):
            return _plain(b, op, inner)
        case tree.Pair(first=first, second=second):
            return _plain(b, op, first) and _plain(b, op, second)
        case tree.Vector(elements=elements):
            return all(_plain(b, op, element) for element in elements)
        case _:
            return False


def build(b: Builder, run: Sequence[tuple[Op, Row]]) -> None:
    """The code of a run."""
    if len(run) < SHORTEST:
        for op, row in run:
            b.begin(op)
            row.build(b, op)
        return
    before, head, done = b.fresh("S"), b.fresh("S"), b.fresh("S")
    following = f"%{b.fresh('n')}"
    b.do(f"br label %{before}")
    b.label(before)
    b.do(f"br label %{head}")
    b.label(head)
    first = b.emit("i64", f"phi i64 [ 0, %{before} ], [ {following}, %{head} ]")
    start = len(b.lines)
    mask = b.mask
    strip = Strip(b, first, (before, head))
    if not b.whole:
        here = b.apply("lshr", mask, b.resize(first, 32))
        b.mask = b.resize(here, strip.lanes)
    b.strip = strip
    for op, row in run:
        b.begin(op)
        row.build(b, op)
    strip.finish()
    b.lines[start:start] = strip.heads
    b.strip = None
    b.mask = mask
    b.do(f"{following} = add i64 {first.text}, {strip.lanes}")
    b.do(f"%{following[1:]}.more = icmp ult i64 {following}, {LANES}")
    b.do(f"br i1 %{following[1:]}.more, label %{head}, label %{done}")
    b.label(done)
    for value, base, offset in strip.ends:
        b.store(value, b.offset(base, offset), 4)
