"""Questions about the effects of an instruction: what leaves its lane, what ends, branches, issues and meets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import NAMES, READS, Touch, touches
from ptxloom.meaning.deeds import deeds_of, effects_of
from ptxloom.meaning.effects import (
    REGISTERS,
    STACK,
    TENSOR,
    Arrive,
    Branch,
    Call,
    Commit,
    Count,
    Exchange,
    Fault,
    Fence,
    Issue,
    Leave,
    Meet,
    Multiply,
    Reach,
    Remap,
    Reserve,
)

if TYPE_CHECKING:
    from ptxloom.meaning.effects import Effect
    from ptxloom.syntax.tree import Instruction


def gives_away(instruction: Instruction) -> bool:
    """Whether the values that an instruction reads go elsewhere than to the same lane's results.

    They leave the lane, or decide what is waited for, where control goes or what is accessed. What has no result is
    there for such an effect alone.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [store, load] = parse("sust.b.1d.b32.trap [%s, {%a}], %b; suld.b.1d.b32.trap %b, [%s, {%a}];").statements
        >>> gives_away(store), gives_away(load)
        (True, False)
    """
    return not destinations(instruction) or not all(map(_stays, effects_of(instruction)))


def takes(instruction: Instruction) -> bool:
    """Whether an instruction may bring to registers what memory holds, or what products of matrices come to."""
    if any(touch.loads for touch in touches(instruction)):
        return True
    return multiplies(instruction) or TENSOR in issues(instruction)


def multiplies(instruction: Instruction) -> bool:
    """Whether an instruction multiplies matrices."""
    return any(isinstance(deed, Multiply) for deed in deeds_of(instruction))


def turns(instruction: Instruction) -> bool:
    """Whether control does not just go on behind an instruction that is not guarded."""
    return any(isinstance(deed, (Branch, Leave)) or deed == Fault() for deed in deeds_of(instruction))


def stops(instruction: Instruction) -> bool:
    """Whether an instruction aborts the kernel, or hands it to a debugger."""
    return any(isinstance(deed, Fault) for deed in deeds_of(instruction))


def branches(instruction: Instruction) -> bool:
    """Whether an instruction sends lanes to labels."""
    return any(isinstance(deed, Branch) for deed in deeds_of(instruction))


def issues(instruction: Instruction) -> frozenset[str]:
    """The kinds of what begins at an instruction and goes on behind it."""
    return frozenset(deed.what for deed in deeds_of(instruction) if isinstance(deed, Issue))


def has_frames(instruction: Instruction) -> bool:
    """Whether an instruction takes or needs frames of a stack."""
    return any(isinstance(deed, Call) or deed == Reserve(STACK) for deed in deeds_of(instruction))


def uses_tensor_memory(instruction: Instruction) -> bool:
    """Whether an instruction takes, frees, moves, multiplies or orders what is in tensor memory."""
    return any(getattr(deed, "what", getattr(deed, "proxy", "")) == TENSOR for deed in deeds_of(instruction))


def reserves(instruction: Instruction, what: str) -> bool:
    """Whether an instruction changes what a thread or a CTA has of something of the machine."""
    return Reserve(what) in deeds_of(instruction)


def goes_by_async_proxy(instruction: Instruction) -> bool:
    """Whether an instruction touches memory through the async proxy."""
    return any(isinstance(deed, Issue) and deed.by_async_proxy for deed in deeds_of(instruction))


def orders_finely(instruction: Instruction) -> bool:
    """Whether an instruction can order accesses of some threads of a CTA and not of all."""
    orders = not {"acquire", "release", "acq_rel"}.isdisjoint(instruction.qualifiers)
    return orders or any(map(_is_fine, deeds_of(instruction)))


def _is_fine(deed: Effect) -> bool:
    match deed:
        case Meet(some=some):
            return some
        case Arrive(reach):
            return reach <= Reach.CLUSTER
        case Fence(proxy):
            return proxy not in {REGISTERS, TENSOR}
        case Issue(what, way, tells):
            return way or tells or what == TENSOR
        case Commit(tells=tells):
            return tells
        case _:
            return isinstance(deed, (Count, Remap))


def meets(instruction: Instruction) -> Reach:
    """The threads that wait for each other at an instruction."""
    return max((deed.reach for deed in deeds_of(instruction) if isinstance(deed, Meet)), default=Reach.NOBODY)


def _stays(effect: Effect) -> bool:
    match effect:
        case Touch(does=does):
            return does in {READS, NAMES}
        case Exchange(moves=moves):
            return moves
        case _:
            return False
