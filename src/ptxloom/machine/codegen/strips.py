"""Runs of plain instructions, computed a strip of lanes at a time: registers stay in the processor between them.

A vector of 32 lanes fills several registers of the processor; eight (sixteen) lanes fill one. A loop over the strips
of a warp therefore holds a run's values in registers from one instruction to the next, in a quarter of the code: each
register of the kernel is read once before it is first needed and written once after it was last changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.native.llvm import host_has
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import state
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import Op

#: Instructions in one run: in longer ones LLVM's compiler without optimisation spills more.
LONGEST: Final = 16
SHORTEST: Final = 2
#: Up to so many, the strips follow one another; from then on they are a loop, a quarter of the code.
UNROLLED: Final = 3
W: Final = Value("ptr", "%w")  # the warp


def strip_lanes() -> int:
    """How many 32-bit lanes a register of the processor holds."""
    return 16 if host_has("avx512f") else 8


class Strip:
    """The registers of one strip, as far as the run has touched them.

    Attributes:
        lanes: How many lanes it has.
        first: The number of the first of them, `i64`.
    """

    def __init__(self, b: Builder, first: Value) -> None:
        self.lanes = strip_lanes()
        self._b = b
        self.first = first
        self._bases: dict[int, Value] = {}
        self._held: dict[int, dict[str, Value]] = {}  # by place: the value, by the types it has been asked for in
        self._changed: dict[int, tuple[Register, int]] = {}  # by place: and the site of the instruction that did it
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
        self._changed[register.offset] = register, self._b.op.site

    def read_mask(self, register: Register) -> Value:
        """A predicate's bits."""
        if register.offset not in self._masks:
            self._masks[register.offset] = self._b.load(f"i{self.lanes}", self._place(register), 1)
        return self._masks[register.offset]

    def write_mask(self, register: Register, mask: Value) -> None:
        """A predicate's new bits."""
        self._masks[register.offset] = mask
        self._changed[register.offset] = register, self._b.op.site

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

    def finish(self) -> list[tuple[int, Value]]:
        """Write what has changed and is needed after this, but for predicates: gives their places and masks.

        Strips are to join them, so that they are stored as a whole and can be read at once.
        """
        masks: list[tuple[int, Value]] = []
        known, last = self._b.program.knowledge, self._b.op.site
        for place, (register, site) in self._changed.items():
            if known.is_done(place, site, last):
                continue
            if register.type.kind == "p":
                masks.append((place, self._masks[place]))
            else:
                self._b.store(next(iter(self._held[place].values())), self._place(register), 4)
        return masks

    def _as(self, value: Value, type_: str) -> Value:
        return self._b.bitcast(value, type_)

    def _place(self, register: Register) -> Value:
        """Where the strip's part of a register lies; bytes a lane are powers of two, or an eighth."""
        b = self._b
        bits = 1 if register.type.kind == "p" else max(register.type.bits, 8)
        if self.first.text.isdecimal():
            return b.offset(W, state.REGISTERS + register.offset + int(self.first.text) * bits // 8)
        if bits not in self._bases:
            by = b.apply("lshr", self.first, Value("i64", "3")) if bits == 1 else self.offset(bits // 8)
            self._bases[bits] = b.offset(W, by)
        return b.offset(self._bases[bits], state.REGISTERS + register.offset)

    def offset(self, lane_bytes: int) -> Value:
        """The bytes before the strip's lanes, `i64`."""
        if self.first.text.isdecimal():
            return Value("i64", str(int(self.first.text) * lane_bytes))
        return self._b.apply("mul", self.first, Value("i64", str(lane_bytes)))


def fits(b: Builder, op: Op, row: Row) -> bool:
    """Whether an instruction can be part of a run: lane by lane, on registers and literals only."""
    return row.lanewise and not b.instruments.sees(op) and all(_plain(b, op, operand) for operand in op.operands)


def _plain(b: Builder, op: Op, operand: tree.Operand) -> bool:  # noqa: PLR0911 - one case a node
    match operand:
        case tree.Name(text=name):
            found = op.scope.find(name)
            return name == "_" or (isinstance(found, Register) and found.vector == 1)
        case tree.Integer() | tree.Float():
            return True
        case tree.Component(base=tree.Name(text=name)):
            return name == "%tid"
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
    elif len(run) <= UNROLLED:
        _unrolled(b, run)
    else:
        _looped(b, run)


def _unrolled(b: Builder, run: Sequence[tuple[Op, Row]]) -> None:
    """One strip after the other: what a loop's counter would cost is saved."""
    joined: dict[int, Value] = {}
    lanes = strip_lanes()
    for start in range(0, LANES, lanes):
        strip = Strip(b, Value("i64", str(start)))
        _one(b, strip, run)
        for place, mask in strip.finish():
            wide = b.apply("shl", b.resize(mask, 32), Value("i32", str(start)))
            joined[place] = b.apply("or", joined[place], wide) if place in joined else wide
    for place, mask in joined.items():
        b.store(mask, b.offset(W, state.REGISTERS + place), 4)


def _looped(b: Builder, run: Sequence[tuple[Op, Row]]) -> None:
    before, head, done = b.fresh("S"), b.fresh("S"), b.fresh("S")
    following = f"%{b.fresh('n')}"
    b.do(f"br label %{before}")
    b.label(before)
    b.do(f"br label %{head}")
    b.label(head)
    first = b.emit("i64", f"phi i64 [ 0, %{before} ], [ {following}, %{head} ]")
    start = len(b.lines)
    strip = Strip(b, first)
    _one(b, strip, run)
    joined: dict[int, Value] = {}
    for place, mask in strip.finish():
        old = f"%{b.fresh('m')}"
        wide = b.apply("shl", b.resize(mask, 32), b.resize(first, 32))
        joined[place] = b.apply("or", wide, Value("i32", old))
        b.lines.insert(start, f"{old} = phi i32 [ 0, %{before} ], [ {joined[place].text}, %{head} ]")
    b.do(f"{following} = add i64 {first.text}, {strip.lanes}")
    more = b.compare("ult", Value("i64", following), Value("i64", str(LANES)))
    b.do(f"br {more}, label %{head}, label %{done}")
    b.label(done)
    for place, mask in joined.items():
        b.store(mask, b.offset(W, state.REGISTERS + place), 4)


def _one(b: Builder, strip: Strip, run: Sequence[tuple[Op, Row]]) -> None:
    """The instructions of a run in one strip."""
    mask = b.mask
    if not b.whole:
        b.mask = b.resize(b.apply("lshr", mask, b.resize(strip.first, 32)), strip.lanes)
    b.strip = strip
    for op, row in run:
        b.begin(op)
        row.build(b, op)
    b.strip = None
    b.mask = mask
