"""Barriers of a CTA and of a warp, and memory fences (PTX ISA 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.builder import W
from ptxloom.machine.ir import Value
from ptxloom.machine.runtime import state
from ptxloom.machine.semantics.family import Family
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import Op

family: Final = Family()


@family("bar", "barrier", when=lambda op: op.has("sync") and not op.has("cluster") and len(op.operands) == 1, ends=True)
def bar_sync(b: Builder, op: Op) -> None:
    """Wait until every thread of the CTA has come."""
    number = op.operands[0]
    if not isinstance(number, tree.Integer):
        raise op.unsupported("a barrier number in a register")
    if b.active is None and number.value == 0:
        complete = b.native_call("barrier_whole", W, Value("i32", str(b.following)))
        done, wait = b.fresh("L"), b.fresh("L")
        b.do(f"br {b.compare('ne', complete, Value('i32', '0'))}, label %{done}, label %{wait}")
        b.label(wait)
        b.do(f"ret i32 {state.BLOCKED}")
        b.label(done)
        b.goto(b.following)
        return
    operands = (b.active_mask, Value("i32", str(number.value)), Value("i32", "0"), Value("i32", str(b.following)))
    b.resume(b.native_call("barrier_wait", W, *operands))


@family("bar", when=lambda op: op.has("warp"), starts=True)
def bar_warp_sync(b: Builder, op: Op) -> None:
    """Wait for the named lanes of the warp."""
    b.converge(op.operands[0], kind=0)


@family("membar", "fence")
def fence(b: Builder, op: Op) -> None:
    """Order memory: warps run in order, other CTAs in other threads see a full fence."""
    b.do("fence seq_cst")
