"""Mbarriers, and stores and reductions that report to them (PTX ISA 9.7.13.15, 9.7.9.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access, reports_to_mbarrier
from ptxloom.machine.codegen.addresses import addresses_at, space_of
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.parts import parts_of
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.asynchronous import mbarriers
from ptxloom.machine.runtime.memory.lane_access import fault_without_clusters
from ptxloom.machine.semantics import atomics, memory
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_RESULTS: Final = scratch.VALUES + 256
_CTAS: Final = _RESULTS + 256
_MULTICAST: Final = "multicast::cluster::32b"


_INITS: Final = frozenset((mbarriers.INIT, mbarriers.INIT_V1))


def act(b: Builder, address: tree.Operand, operation: int, value: Value | int, space: int) -> Value:
    """Do an operation of the run-time in the active lanes; returns its results, `<32 x i64>`."""
    addresses_at(b, address, space, state.MBARRIER_BYTES)
    lanes = b.constant(vector("i64"), value) if isinstance(value, int) else b.resize(value, 64)
    b.store(lanes, b.scratch(scratch.VALUES), 64)
    places = (b.scratch(), b.scratch(scratch.VALUES), b.scratch(_RESULTS))
    kind = READ if operation >= mbarriers.TEST else WRITE
    strong = operation not in {*_INITS, mbarriers.INVAL}
    payload = 8 if operation in _INITS else 0
    b.touch(Access(kind, space, b.scratch(), 64, strong=strong, payload=payload, is_mbarrier=True))
    relaxed = 2 if reports_to_mbarrier(b.op) else int(b.op.has("relaxed"))
    b.check(b.runtime(mbarriers.mbarrier, W, b.active_mask, *places, operation, space, b.op.site, relaxed))
    return b.load(vector("i64"), b.scratch(_RESULTS), 64)


def act_in_ctas(b: Builder, address: tree.Operand, operation: int, value: Value, ctas: Value) -> None:
    """Do an operation at the same place of several CTAs. It writes an mbarrier, which its function reports."""
    addresses_at(b, address, state.SHARED, state.MBARRIER_BYTES)
    b.store(b.resize(value, 64), b.scratch(scratch.VALUES), 64)
    b.store(ctas, b.scratch(_CTAS), 64)
    places = (b.scratch(), b.scratch(scratch.VALUES), b.scratch(_RESULTS), b.scratch(_CTAS))
    facts = (operation, b.op.site, int(b.op.has("relaxed")))
    b.check(b.runtime(mbarriers.mbarriers_of, W, b.active_mask, *places, *facts))


@family("mbarrier", when=lambda op: op.has("init", "inval", "expect_tx", "complete_tx") and not _arrives(op))
def change(b: Builder, op: Op) -> None:
    """Initialise or invalidate an mbarrier, or change the bytes that its phase waits for."""
    word = op.one_of(("init", "inval", "expect_tx", "complete_tx"))
    operation = {
        "init": mbarriers.INIT_V1 if op.has("layout::v1") else mbarriers.INIT,
        "inval": mbarriers.INVAL,
        "expect_tx": mbarriers.EXPECT,
        "complete_tx": mbarriers.COMPLETE,
    }[word]
    address, *rest = op.operands
    if op.has(_MULTICAST):
        act_in_ctas(b, address, operation, b.read(rest[0], "u32"), b.read(rest[1], "b32"))
        return
    act(b, address, operation, b.read(rest[0], "u32") if rest else 0, space_of(op))


def _arrives(op: Op) -> bool:
    return op.has("arrive", "arrive_drop")


@family("mbarrier", when=_arrives)
def arrive(b: Builder, op: Op) -> None:
    """Arrive: once, or `count` times; `.expect_tx` first adds bytes, `arrive_drop` leaves for good."""
    first, *others = op.operands
    target = None if isinstance(first, tree.Address) else first
    address, *rest = op.operands if target is None else others
    expects = op.has("expect_tx")
    operation = mbarriers.ARRIVE_EXPECT if expects else mbarriers.ARRIVE
    if op.has("arrive_drop"):
        operation = mbarriers.DROP_EXPECT if expects else mbarriers.DROP
    if op.has(_MULTICAST):
        *count, ctas = rest
        once = b.constant(vector("i32"), 1)
        act_in_ctas(b, address, operation, b.read(count[0], "u32") if count else once, b.read(ctas, "b32"))
        return
    token = act(b, address, operation, b.read(rest[0], "u32") if rest else 1, space_of(op))
    if target is not None:
        b.write(target, token)


@family("mbarrier", when=lambda op: op.has("test_wait", "try_wait"))
def test_wait(b: Builder, op: Op) -> None:
    """Whether a phase has completed: that of a token, or the one of a parity. Lanes that must wait let others run.

    A primary phase also has a report, which is empty; without one the conditional phase advances, too.
    """
    target, *others = op.operands
    at = next(n for n, operand in enumerate(others) if isinstance(operand, (tree.Address, tree.Indexed)))
    address, which = others[at : at + 2]
    if op.has("parity"):
        done = act(b, address, mbarriers.TEST_PARITY, b.read(which, "u32"), space_of(op))
    else:
        done = act(b, address, mbarriers.TEST, b.read(which, "b64"), space_of(op))
    first, seen = (target.first, target.second) if isinstance(target, tree.Pair) else (target, None)
    b.write_mask(first, b.mask_of(b.compare("ne", done, b.constant(done.type, 0))))
    if seen is not None:
        b.write_mask(seen, b.constant("i32", 0))
    for report in others[:at]:
        b.write(report, b.constant(vector("i8"), 0))


@family("mbarrier", when=lambda op: op.has("check_layout"))
def check_layout(b: Builder, op: Op) -> None:
    """Whether an mbarrier was made with a layout."""
    target, address = op.operands
    found = act(b, address, mbarriers.LAYOUT, int(op.has("layout::v1")), space_of(op))
    b.write_mask(target, b.mask_of(b.compare("ne", found, b.constant(found.type, 0))))


@family("mbarrier", when=lambda op: op.has("pending_count"))
def pending_count(b: Builder, op: Op) -> None:
    """The arrivals that were missing when a token was given."""
    token = b.read(op.operands[1], "b64")
    shifted = b.apply("lshr", token, b.constant(token.type, 20))
    b.write(op.operands[0], b.resize(b.apply("and", shifted, b.constant(token.type, mbarriers.LIMIT)), 32))


@family("cp", when=lambda op: op.has("mbarrier") and op.has("arrive"))
def copies_arrive(b: Builder, op: Op) -> None:
    """Arrive once the earlier copies are complete, which they are; without `.noinc` one more arrival is expected."""
    act(b, op.operands[0], mbarriers.ARRIVE, int(op.has("noinc")), space_of(op))


@family("st", when=reports_to_mbarrier)
def st_async(b: Builder, op: Op) -> None:
    """Store in the cluster's shared memory and report the number of bytes to an mbarrier."""
    b.check(b.runtime(fault_without_clusters, W, b.active_mask, op.site))
    memory.st(b, op)
    act(b, op.operands[2], mbarriers.COMPLETE, op.type.bits // 8 * parts_of(op), state.SHARED)


@family("red", when=reports_to_mbarrier)
def red_async(b: Builder, op: Op) -> None:
    """Combine in the cluster's shared memory and report the number of bytes to an mbarrier."""
    b.check(b.runtime(fault_without_clusters, W, b.active_mask, op.site))
    atomics.atom(b, op)
    act(b, op.operands[2], mbarriers.COMPLETE, op.type.bits // 8, state.SHARED)
