"""Convergence: how an instruction waits for the lanes that execute it together, and reports those that cannot come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.codegen.warp import ALL, W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime import hazards, state, turns
from ptxloom.machine.runtime.memory.access_code import LANE_BITS
from ptxloom.machine.runtime.warps import members, reconvergence

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.syntax import tree


def converge(b: Builder, named: tree.Operand, kind: int = state.STUCK) -> None:
    """Wait until the lanes of a member mask are here; the instruction must start its block.

    Each lane waits for the members that it names. If members wait elsewhere, so that no lane could ever continue, a
    hazard of `kind` is reported (0: none) and the lanes continue without them.
    """
    if b.poisoned is not None:
        return  # they have come together to execute it
    if b.literal(named) not in {-1, 0xFFFFFFFF}:
        _check_members(b, named)
    if b.whole:
        return
    _wait(b, b.read(named, "b32"), kind)
    if kind and "synccheck" in b.checks:
        b.store(b.read(named, "b32"), b.scratch(), 64)
        b.runtime(reconvergence.note_gone, W, _site(b))


def aligned(b: Builder, *, every: bool = True) -> None:
    """For an `.aligned` instruction, which must start its block: wait for the whole warp.

    It runs with the lanes that arrive, and reports missing ones; lanes that have exited or never existed are reported
    only if it needs `every` one of the 32.
    """
    if b.poisoned is not None:
        return
    watched = "synccheck" in b.checks
    if not b.whole:
        _wait(b, b.constant(vector("i32"), -1), state.DIVERGENT)
        if watched and every:
            b.runtime(reconvergence.note_absent, W, _site(b))
    if watched and b.op.node.predicate is not None and b.active is not None:
        some = b.compare("ne", b.active, Value("i32", "0"))
        part = b.compare("ne", b.active, b.mask)
        rest = b.apply("xor", b.active, b.mask)
        with_ = (W, Value("i32", str(state.PREDICATED)), _site(b), b.active, Value("i64", "0"), rest)
        b.when(b.apply("and", some, part), lambda: b.runtime(hazards.note, *with_))


def arrive(b: Builder) -> None:
    """Notify instruments of lanes at an instruction that must start its block but does not wait."""
    if not b.entered:
        b.entered = True
        b.instruments.enter(b)
        b.instruments.before(b)


def _site(b: Builder) -> Value:
    return Value("i32", str(b.op.site))


def _wait(b: Builder, members_: Value, kind: int) -> None:
    """Continue once every member is here, or no other can come."""
    b.store(members_, b.scratch(), 64)
    number = Value("i32", str(b.block.number))
    watched = kind if "synccheck" in b.checks else 0
    chosen = b.runtime(reconvergence.converge, W, number, _site(b), watched, int(kind == state.DIVERGENT))
    here, elsewhere, on, full = (b.fresh("L") for _ in range(4))
    b.do(f"br {b.compare('eq', chosen, number)}, label %{here}, label %{elsewhere}")
    b.label(elsewhere)
    ended = b.ended
    b.resume(chosen)
    b.ended = ended
    b.label(here)
    b.mask = b.load("i32", b.field("mask"), 4)
    if b.follows:  # whole warps too
        b.do(f"br label %{on}")
    else:
        b.do(f"br {b.compare('eq', b.mask, ALL)}, label %{full}, label %{on}")
        b.label(full)
        b.do(f"ret i32 {turns.SWITCH}")
    b.label(on)
    b.begin(b.op)
    b.entered = True
    b.instruments.enter(b)
    b.instruments.before(b)


def _check_members(b: Builder, named: tree.Operand) -> None:
    """Report lanes that are not in their own member mask, or whose mask differs from the others'."""
    if "synccheck" not in b.checks:
        return
    masks = b.read(named, "b32")
    own = b.apply("and", masks, LANE_BITS)
    absent = b.mask_of(b.compare("eq", own, b.constant(own.type, 0)))
    first = b.apply("and", b.intrinsic("llvm.cttz", b.active_mask, Value("i1", "false")), Value("i32", "31"))
    one = b.emit("i32", f"extractelement {masks}, {first}")
    unlike = b.mask_of(b.compare("ne", masks, b.splat(one)))
    bad = b.apply("and", b.apply("or", absent, unlike), b.active_mask)
    b.store(masks, b.scratch(), 64)
    facts = (W, b.scratch(), b.active_mask, _site(b))
    b.when(b.compare("ne", bad, Value("i32", "0")), lambda: b.runtime(members.check_members, *facts))
