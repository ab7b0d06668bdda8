"""Questions about the effects of an instruction: what leaves its lane, what ends, branches, issues and meets."""

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


def loads(instruction: Instruction) -> bool:
    """Whether what memory holds comes to an instruction's registers, and nothing else does.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "ld.global.b32 %a, [%p]; atom.global.add.u32 %a, [%p], 1; st.global.b32 [%p], %a;"
        >>> [loads(one) for one in parse(texts).statements]
        [True, False, False]
    """
    found = touches(instruction)
    return bool(found) and all(touch.does == READS for touch in found) and bool(destinations(instruction))


def stores(instruction: Instruction) -> bool:
    """Whether an instruction writes to memory what its registers hold, and does nothing else.

    Example:
        >>> from ptxloom.syntax import parse
        >>> texts = "st.global.b32 [%p], %a; red.global.add.u32 [%p], %a; cp.async.ca.shared.global [%p], [%q], 4;"
        >>> [stores(one) for one in parse(texts).statements]
        [True, False, False]
    """
    found = touches(instruction)
    return bool(found) and all(touch.does == WRITES for touch in found) and not deeds_of(instruction)


def updates_memory(instruction: Instruction) -> bool:
    """Whether an instruction combines what an address holds with what its registers do."""
    found = any(touch.does == UPDATES and touch.base == "address" for touch in touches(instruction))
    return found and TENSOR not in issues(instruction) and Remap() not in deeds_of(instruction)


def moves_matrix(instruction: Instruction) -> bool:
    """Whether an instruction moves a matrix, whose parts lanes hold, between memory and registers, and nothing else.

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
    """Whether an instruction begins a copy from memory to memory."""
    return not issues(instruction).isdisjoint((COPIES, BULK))


def exchanges(instruction: Instruction) -> bool:
    """Whether each bit of an instruction's results is a bit of some lane's operand."""
    return Exchange(moves=True) in deeds_of(instruction)


def counts(instruction: Instruction) -> bool:
    """Whether an instruction is about an mbarrier."""
    return any(isinstance(deed, Count) for deed in deeds_of(instruction))


def calls(instruction: Instruction) -> bool:
    """Whether an instruction calls a function."""
    found = deeds_of(instruction)
    return bool(found) and Call() in found


def multiplies(instruction: Instruction) -> bool:
    """Whether an instruction multiplies matrices."""
    return any(isinstance(deed, Multiply) for deed in deeds_of(instruction))


def turns(instruction: Instruction) -> bool:
    """Whether control does not just go on behind an instruction that is not guarded."""
    found = deeds_of(instruction)
    return bool(found) and any(isinstance(deed, (Branch, Leave)) or deed == Fault() for deed in found)


def stops(instruction: Instruction) -> bool:
    """Whether an instruction aborts the kernel, or hands it to a debugger."""
    return any(isinstance(deed, Fault) for deed in deeds_of(instruction))


def branches(instruction: Instruction) -> bool:
    """Whether an instruction sends lanes to labels."""
    found = deeds_of(instruction)
    return bool(found) and any(isinstance(deed, Branch) for deed in found)


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
