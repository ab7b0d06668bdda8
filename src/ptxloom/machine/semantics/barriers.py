"""Barriers of a CTA, of a warp and of a cluster (PTX ISA 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.convergence import aligned, converge
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value
from ptxloom.machine.runtime import state, turns
from ptxloom.machine.runtime.warps import barriers
from ptxloom.meaning.deeds import deeds_of
from ptxloom.meaning.effects import Meet
from ptxloom.syntax import print_operand

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op
    from ptxloom.syntax import tree

family: Final = Family()

_REDUCTIONS: Final = {"popc": state.POPC, "and": state.AND, "or": state.OR}


@family("bar", when=lambda op: op.has("warp"), starts=True)
def bar_warp_sync(b: Builder, op: Op) -> None:
    """Wait for the named lanes of the warp."""
    converge(b, op.operands[0], kind=0)


@family("barrier", when=lambda op: op.has("cluster") and op.has("arrive") and op.has("aligned"), starts=True)
def cluster_arrive_aligned(b: Builder, op: Op) -> None:
    """The same, by a whole warp."""
    aligned(b, every=False)
    cluster_arrive(b, op)


@family("barrier", when=lambda op: op.has("cluster") and op.has("wait") and op.has("aligned"), starts=True, ends=True)
def cluster_wait_aligned(b: Builder, op: Op) -> None:
    """The same, by a whole warp."""
    aligned(b, every=False)
    cluster_wait(b, op)


@family("barrier", when=lambda op: op.has("cluster") and op.has("arrive"))
def cluster_arrive(b: Builder, op: Op) -> None:
    """Record the lanes' arrival at the cluster's barrier."""
    b.runtime(barriers.cluster_arrive, W, b.active_mask)


@family("barrier", when=lambda op: op.has("cluster") and op.has("wait"), ends=True)
def cluster_wait(b: Builder, op: Op) -> None:
    """Wait until every thread of the cluster has arrived."""
    b.resume(b.runtime(barriers.cluster_wait, W, b.active_mask, b.following))


@family("bar", "barrier", when=lambda op: op.has("sync") and not op.has("cluster"), ends=True)
def sync(b: Builder, op: Op) -> None:
    """Wait until every thread of the CTA, or the stated number, has arrived."""
    number, *rest = op.operands
    known = b.literal(number)
    threads = b.literal(rest[0]) if rest else 0
    if known is None or threads is None:
        _wait(b, op, number, rest)
        return
    if not 0 <= known < 16 or threads < 0 or threads % 32:
        raise op.unsupported("barriers are numbered 0 to 15, and threads counted in whole warps")
    if b.active is None and not threads:
        _whole(b, op, known)
        return
    b.resume(b.runtime(barriers.barrier_wait_at, W, b.active_mask, known, threads, b.following, _watched(b, op)))


def _whole(b: Builder, op: Op, number: int) -> None:
    complete = b.runtime(barriers.barrier_whole, W, number, b.following, _watched(b, op))
    done, wait = b.fresh("L"), b.fresh("L")
    b.do(f"br {b.compare('ne', complete, Value('i32', '0'))}, label %{done}, label %{wait}")
    b.label(wait)
    b.do(f"ret i32 {turns.BLOCKED}")
    b.label(done)
    b.goto(b.following)


def _watched(b: Builder, op: Op) -> int:
    """0 if mistakes are not reported; else twice one more than the site, plus 1 if it is `.aligned`."""
    aligned = any(isinstance(deed, Meet) and deed.whole for deed in deeds_of(op.node))
    return 2 * (op.site + 1) + aligned if "synccheck" in b.checks else 0


def _numbers(b: Builder, op: Op, number: tree.Operand, threads: list[tree.Operand]) -> tuple[Value, Value]:
    """Put each lane's barrier and count of threads (0: all) into the scratch."""
    numbers, counts = b.scratch(scratch.VALUES), b.scratch(scratch.VALUES + 128)
    named = b.read(number, "b32")
    b.store(named, numbers, 64)
    b.store(b.read(threads[0], "b32") if threads else b.constant(named.type, 0), counts, 64)
    return numbers, counts


def _wait(b: Builder, op: Op, number: tree.Operand, threads: list[tree.Operand]) -> None:
    numbers, counts = _numbers(b, op, number, threads)
    b.check(b.runtime(barriers.barrier_check, W, b.active_mask, numbers, counts, op.site))
    b.resume(b.runtime(barriers.barrier_wait, W, b.active_mask, numbers, counts, b.following, _watched(b, op)))


@family("bar", "barrier", when=lambda op: op.has("arrive"))
def arrive(b: Builder, op: Op) -> None:
    """Arrive at a barrier without waiting."""
    numbers, counts = _numbers(b, op, op.operands[0], list(op.operands[1:]))
    b.check(b.runtime(barriers.barrier_arrive, W, b.active_mask, numbers, counts, op.site, _watched(b, op)))


@family("bar", "barrier", when=lambda op: op.has("red"), ends=True)
def reduce(b: Builder, op: Op) -> None:
    """Wait like `bar.sync`, and return in how many threads a predicate held, or whether in all or in any."""
    target, number, *threads, predicate = op.operands
    holds = b.read_mask(predicate)
    numbers, counts = _numbers(b, op, number, threads)
    b.check(b.runtime(barriers.barrier_check, W, b.active_mask, numbers, counts, op.site))
    kind = _REDUCTIONS[op.one_of(_REDUCTIONS)]
    register, _ = b.register(target)
    if (register.type.kind == "p") != (kind != state.POPC) or (kind == state.POPC and register.type.bits != 32):
        raise op.unsupported(f"`{print_operand(target)}` cannot hold the result")
    place = b.register_number(register.offset)
    b.runtime(barriers.barrier_reduce, W, b.active_mask, numbers, holds, place, kind)
    b.resume(b.runtime(barriers.barrier_wait, W, b.active_mask, numbers, counts, b.following, _watched(b, op)))
