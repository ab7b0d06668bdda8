"""Queries on the effects of an instruction: whether it leaves its lane, ends, branches, issues, synchronises."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import NAMES, READS, UPDATES, WRITES, Touch, touches
from ptxloom.meaning.deeds import deeds_of, effects_of
from ptxloom.meaning.effects import (
    BULK,
    COPIES,
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
from ptxloom.syntax.bind import form_by_looks, looks_of

if TYPE_CHECKING:
    from ptxloom.meaning.effects import Effect
    from ptxloom.syntax.tree import Instruction


def gives_away(instruction: Instruction) -> bool:
    """Whether the values that an instruction reads go anywhere except to the same lane's results.

    They leave the lane, or decide what to wait for, where to branch or what to access. An instruction without a result
    exists only for such an effect.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [store, load] = parse("sust.b.1d.b32.trap [%s, {%a}], %b; suld.b.1d.b32.trap %b, [%s, {%a}];").statements
        >>> gives_away(store), gives_away(load)
        (True, False)
    """
    return not destinations(instruction) or not all(map(_stays, effects_of(instruction)))


def takes(instruction: Instruction) -> bool:
    """Whether an instruction may load registers from memory, or from products of matrices."""
    if any(touch.loads for touch in touches(instruction)):
        return True
    return multiplies(instruction) or TENSOR in issues(instruction)


def loads(instruction: Instruction) -> bool:
    """Whether an instruction's results come only from memory.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "ld.global.b32 %a, [%p]; atom.global.add.u32 %a, [%p], 1; st.global.b32 [%p], %a;"
        >>> [loads(one) for one in parse(texts).statements]
        [True, False, False]
    """
    found = touches(instruction)
    return bool(found) and all(touch.does == READS for touch in found) and bool(destinations(instruction))


def stores(instruction: Instruction) -> bool:
    """Whether an instruction only stores its registers to memory.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "st.global.b32 [%p], %a; red.global.add.u32 [%p], %a; cp.async.ca.shared.global [%p], [%q], 4;"
        >>> [stores(one) for one in parse(texts).statements]
        [True, False, False]
    """
    found = touches(instruction)
    return bool(found) and all(touch.does == WRITES for touch in found) and not deeds_of(instruction)


def updates_memory(instruction: Instruction) -> bool:
    """Whether an instruction combines memory at an address with its registers."""
    found = any(touch.does == UPDATES and touch.base == "address" for touch in touches(instruction))
    return found and TENSOR not in issues(instruction) and Remap() not in deeds_of(instruction)


def moves_matrix(instruction: Instruction) -> bool:
    """Whether an instruction only moves a matrix between memory and a fragment in registers.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%p], {%a}; st.shared.b32 [%p], %a;"
        >>> [moves_matrix(one) for one in parse(texts).statements]
        [True, False]
    """
    if deeds_of(instruction) or not touches(instruction):
        return False
    return _has_fragment(instruction.opcode, instruction.qualifiers, looks_of(instruction))


@lru_cache(maxsize=4096)
def _has_fragment(opcode: str, qualifiers: tuple[str, ...], looks: str) -> bool:
    form = form_by_looks(opcode, qualifiers, looks)
    rules = [] if form is None else [form.spec.operands[slot.name] for slot in form.operands(len(looks))]
    return any(rule.kind == "fragment" for rule in rules)


def copies(instruction: Instruction) -> bool:
    """Whether an instruction starts a copy from memory to memory."""
    return not issues(instruction).isdisjoint((COPIES, BULK))


def exchanges(instruction: Instruction) -> bool:
    """Whether each bit of an instruction's results is a bit of some lane's operand."""
    return Exchange(moves=True) in deeds_of(instruction)


def counts(instruction: Instruction) -> bool:
    """Whether an instruction operates on an mbarrier."""
    return any(isinstance(deed, Count) for deed in deeds_of(instruction))


def calls(instruction: Instruction) -> bool:
    """Whether an instruction calls a function."""
    found = deeds_of(instruction)
    return bool(found) and Call() in found


def multiplies(instruction: Instruction) -> bool:
    """Whether an instruction multiplies matrices."""
    return any(isinstance(deed, Multiply) for deed in deeds_of(instruction))


def turns(instruction: Instruction) -> bool:
    """Whether control does more than fall through after the unguarded instruction."""
    found = deeds_of(instruction)
    return bool(found) and any(isinstance(deed, (Branch, Leave)) or deed == Fault() for deed in found)


def stops(instruction: Instruction) -> bool:
    """Whether an instruction aborts the kernel, or stops it for a debugger."""
    return any(isinstance(deed, Fault) for deed in deeds_of(instruction))


def branches(instruction: Instruction) -> bool:
    """Whether an instruction branches to labels."""
    found = deeds_of(instruction)
    return bool(found) and any(isinstance(deed, Branch) for deed in found)


def issues(instruction: Instruction) -> frozenset[str]:
    """The kinds of operations that start at an instruction and continue after it."""
    return frozenset(deed.what for deed in deeds_of(instruction) if isinstance(deed, Issue))


def has_frames(instruction: Instruction) -> bool:
    """Whether an instruction allocates or uses stack frames."""
    return any(isinstance(deed, Call) or deed == Reserve(STACK) for deed in deeds_of(instruction))


def uses_tensor_memory(instruction: Instruction) -> bool:
    """Whether an instruction allocates, frees, moves, multiplies or orders data in tensor memory."""
    return any(getattr(deed, "what", getattr(deed, "proxy", "")) == TENSOR for deed in deeds_of(instruction))


def reserves(instruction: Instruction, what: str) -> bool:
    """Whether an instruction changes how much of a resource a thread or a CTA has."""
    return Reserve(what) in deeds_of(instruction)


def goes_by_async_proxy(instruction: Instruction) -> bool:
    """Whether an instruction accesses memory through the async proxy."""
    return any(isinstance(deed, Issue) and deed.by_async_proxy for deed in deeds_of(instruction))


def orders_finely(instruction: Instruction) -> bool:
    """Whether an instruction can order accesses of some threads of a CTA without the others."""
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
    """The set of threads that wait for each other at an instruction."""
    return max((deed.reach for deed in deeds_of(instruction) if isinstance(deed, Meet)), default=Reach.NOBODY)


def _stays(effect: Effect) -> bool:
    match effect:
        case Touch(does=does):
            return does in {READS, NAMES}
        case Exchange(moves=moves):
            return moves
        case _:
            return False
