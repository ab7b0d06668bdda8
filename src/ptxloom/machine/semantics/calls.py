"""Calls: `call`, `ret`, and what is done once a callee has returned (PTX ISA 9.7.12.4, 9.7.12.6, 7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.signatures import FrameSlot, Service
from ptxloom.machine.runtime import state, turns
from ptxloom.machine.runtime.warps import calls
from ptxloom.machine.semantics.control import exit_, if_any, scattered

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import CallSite, Op

family: Final = Family()


@family("call", ends=True)
def call(b: Builder, op: Op) -> None:
    """Call a function: arguments go into its frame, which follows the caller's; it returns to the next block.

    There `after_call` undoes what is done here, for the lanes that call; the others skip that block.
    """
    beyond = b.following + 1
    if_any(b, beyond)
    made = b.program.calls[op.site]
    match made.callee:
        case Service() as service:
            _make_room(b, op, made, service.signature.end)
            _arguments(b, op, made)
            _serve(b, op, service, beyond)
        case None:
            blocks = _indirect(b, op, made)
            _arguments(b, op, made)
            _enter(b, op, made, blocks, beyond)
        case callee:
            _make_room(b, op, made, callee.frame_bytes)
            _arguments(b, op, made)
            _enter(b, op, made, b.constant(vector("i32"), callee.first), beyond)


def _make_room(b: Builder, op: Op, made: CallSite, frame_bytes: int) -> None:
    facts = (op.function.frame_bytes, frame_bytes, _cells(made), op.site)
    b.check(b.runtime(calls.make_frames, W, b.active_mask, *facts))


def _cells(made: CallSite) -> int:
    return made.kept_cells + state.HEAD_CELLS


def _indirect(b: Builder, op: Op, made: CallSite) -> Value:
    """The block of each lane's function, by its address; there is room for its frame."""
    b.store(b.read(made.function, "u64"), b.scratch(), 64)
    number = b.program.signature_number(made.signature)
    facts = (b.scratch(), b.scratch(scratch.VALUES), number, op.function.frame_bytes, _cells(made), op.site)
    b.check(b.runtime(calls.find_functions, W, b.active_mask, *facts))
    return b.load(vector("i32"), b.scratch(scratch.VALUES), 64)


def _arguments(b: Builder, op: Op, made: CallSite) -> None:
    for variable, slot in zip(made.arguments, made.signature.params, strict=True):
        target = op.function.frame_bytes + slot.offset
        b.runtime(calls.copy_in_frames, W, b.active_mask, target, variable.offset, slot.size)


def _enter(b: Builder, op: Op, made: CallSite, blocks: Value, beyond: int) -> None:
    """Keep what the callee may overwrite, push its frame, and send the lanes to its first block."""
    for kept in made.kept:
        b.runtime(calls.save_register, W, b.active_mask, b.register_number(kept.place), kept.size, kept.cell)
    b.runtime(calls.enter, W, b.active_mask, op.function.frame_bytes, made.kept_cells, b.following)
    b.spend(turns.CALL_COST)
    b.resume(scattered(b, blocks, beyond))


def _serve(b: Builder, op: Op, service: Service, beyond: int) -> None:
    """A function of CUDA's device run-time: Python carries it out, then the lanes continue."""
    result = next(iter(service.signature.returns), FrameSlot(0, 0))
    b.runtime(calls.request, W, b.active_mask, service.number, op.function.frame_bytes, *result, op.site)
    scattered(b, b.constant(vector("i32"), b.following), beyond)
    b.do(f"ret i32 {turns.SERVICE}")
    b.ended = True


def after_call(b: Builder, op: Op) -> None:
    """In the block a callee returns to: take the results out of its frame, restore what it may have overwritten."""
    made = b.program.calls[op.site]
    if made.kept:
        b.runtime(calls.drop_cells, W, b.mask, made.kept_cells)
    for kept in made.kept:
        b.runtime(calls.restore_register, W, b.mask, b.register_number(kept.place), kept.size, kept.cell)
    for variable, slot in zip(made.results, made.signature.returns, strict=True):
        source = op.function.frame_bytes + slot.offset
        b.runtime(calls.copy_in_frames, W, b.mask, variable.offset, source, slot.size)


@family("ret", ends=True)
def ret(b: Builder, op: Op) -> None:
    """Return to the caller; in a kernel, exit."""
    if op.function.is_entry:
        exit_(b, op)
        return
    if_any(b, b.following)
    b.resume(b.runtime(calls.give_back, W, b.active_mask, b.following))
