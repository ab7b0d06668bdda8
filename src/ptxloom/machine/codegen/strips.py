"""Runs of plain instructions, computed a strip of lanes at a time: registers stay in the processor between them.

A vector of 32 lanes fills several registers of the processor; eight (sixteen) lanes fill one. A loop over the strips
of a warp therefore holds a run's values in registers from one instruction to the next, in a quarter of the code: each
register of the kernel is read once before it is first needed and written once after it was last changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen.strip import Strip, strip_lanes
from ptxloom.machine.native.ir import Value
from ptxloom.machine.program.symbols import Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.codegen.family import Row
    from ptxloom.machine.program.model import Op

#: Instructions in one run: in longer ones LLVM's compiler without optimisation spills more.
LONGEST: Final = 16
SHORTEST: Final = 2
#: Up to this number strips are unrolled; beyond it they are a loop, with a quarter of the code.
UNROLLED: Final = 3


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
            return name == "%tid" and op.scope.find(name) is None
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
    elif len(run) <= UNROLLED or b.written_out:
        unrolled(b, run)
    else:
        _looped(b, run)


def unrolled(b: Builder, run: Sequence[tuple[Op, Row]]) -> None:
    """Unroll the strips, which saves the loop's counter."""
    joined: dict[int, Value] = {}
    lanes = strip_lanes()
    for start in range(0, LANES, lanes):
        strip = Strip(b, Value("i64", str(start)))
        _one(b, strip, run)
        for place, mask in strip.finish():
            wide = b.apply("shl", b.resize(mask, 32), Value("i32", str(start)))
            joined[place] = b.apply("or", joined[place], wide) if place in joined else wide
    for place, mask in joined.items():
        b.store(mask, b.within(place), 4)


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
        b.store(mask, b.within(place), 4)


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
