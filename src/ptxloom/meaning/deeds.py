"""The effects of every instruction besides computing values, a row per opcode (PTX ISA 9.7.9 to 9.7.16).

Accesses to memory follow the ISA data (`binding.touches`); an opcode without a row here has no other effects.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.binding.touches import touches, touches_of
from ptxloom.meaning.effects import (
    ASYNC,
    BULK,
    COPIES,
    GRIDS,
    INITS,
    MAPS,
    OTHER,
    PRODUCTS,
    REGISTERS,
    REQUESTS,
    STACK,
    STORES,
    TENSOR,
    TIME,
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
    Wait,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.isa.form import Form
    from ptxloom.meaning.effects import Effect
    from ptxloom.syntax.tree import Instruction


def effects_of(instruction: Instruction) -> tuple[Effect, ...]:
    """The effects of an instruction: accesses to memory first, then the others.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [one] = parse("bar.sync 0;").statements
        >>> effects_of(one)
        (Meet(reach=<Reach.CTA: 3>, some=False, whole=True),)
    """
    return (*touches(instruction), *deeds_of(instruction))


def deeds_of(instruction: Instruction) -> tuple[Effect, ...]:
    """The effects of an instruction, except its accesses to memory, from its spelling."""
    opcode = instruction.opcode
    return _deeds(opcode, instruction.qualifiers, len(instruction.operands)) if opcode in _ROWS else ()


def effects_of_form(form: Form, operands: int) -> tuple[Effect, ...]:
    """The effects of a form with a number of operands."""
    deeds = _deeds(form.opcode, form.words, operands) if form.opcode in _ROWS else ()
    return (*touches_of(form, operands), *deeds)


@lru_cache(maxsize=4096)
def _deeds(opcode: str, qualifiers: tuple[str, ...], operands: int) -> tuple[Effect, ...]:
    return tuple(_ROWS[opcode](_Spelled(opcode, qualifiers, operands)))


class _Spelled(NamedTuple):
    opcode: str
    qualifiers: tuple[str, ...]
    operands: int

    def has(self, *words: str) -> bool:
        """Whether it has any of these qualifiers."""
        return any(word in self.qualifiers for word in words)


# -- the rows


def _barrier(op: _Spelled) -> Iterator[Effect]:
    whole = op.has("aligned") or op.opcode == "bar"  # `bar` is short for `barrier.aligned`
    if op.has("cluster"):
        arrives = op.has("arrive")
        yield (
            Arrive(Reach.CLUSTER, op.has("relaxed"), whole) if arrives else Meet(Reach.CLUSTER, some=True, whole=whole)
        )
    elif op.has("warp"):
        yield Meet(Reach.WARP, some=True)
    elif op.has("arrive"):
        yield Arrive(Reach.CTA, whole=whole)
    else:
        yield Meet(Reach.CTA, op.operands > 1 + 2 * op.has("red"), whole)
        if op.has("red"):
            yield Exchange()


def _fence(op: _Spelled) -> Iterator[Effect]:
    releases, acquires = not op.has("acquire"), not op.has("release")
    if op.has("mbarrier_init"):
        yield Fence(INITS, releases, acquires)
    elif not op.has("proxy"):
        yield Fence("", releases, acquires, total=op.opcode == "membar" or op.has("sc"))
    elif op.has("async", "async::generic"):
        spaces = tuple(q for q in op.qualifiers if q == "global" or "shared" in q)
        yield Fence(ASYNC, releases, acquires, spaces=spaces)
    else:
        yield Fence(MAPS if op.has("tensormap::generic") else OTHER, releases, acquires)


def _copy(op: _Spelled) -> Iterator[Effect]:
    what = BULK if op.has("bulk") else COPIES
    if op.has("commit_group"):
        yield Commit(what)
    elif op.has("wait_group", "wait_all"):
        yield Wait(what, 0 if op.has("wait_group") else None, op.has("read"))
    elif op.has("mbarrier") and op.has("arrive"):
        yield Commit(what, tells=True)
    elif not op.has("prefetch"):
        tells = op.has("mbarrier::complete_tx::bytes")
        yield Issue(what, what == BULK, tells)


def _store(op: _Spelled) -> Iterator[Effect]:
    if op.has("async") and op.operands > 2:  # those to global memory have no mbarrier operand
        yield Issue(STORES, tells=True)


def _mbarrier(op: _Spelled) -> Iterator[Effect]:
    if not op.has("pending_count"):
        yield Count(makes=op.has("init"))


def _wgmma(op: _Spelled) -> Iterator[Effect]:
    if op.has("mma_async"):
        yield Multiply()
        yield Issue(PRODUCTS, by_async_proxy=True)
    elif op.has("commit_group"):
        yield Commit(PRODUCTS)
    elif op.has("wait_group"):
        yield Meet(Reach.WARPGROUP)
        yield Wait(PRODUCTS, 0)
    else:
        yield Fence(REGISTERS)


def _tensor(op: _Spelled) -> Iterator[Effect]:
    if op.has("alloc", "dealloc", "relinquish_alloc_permit"):
        yield Reserve(TENSOR)
    elif op.has("commit"):
        yield Commit(TENSOR, tells=True)
    elif op.has("wait::ld", "wait::st"):
        yield Wait(TENSOR, only_reads=op.has("wait::ld"))
    elif op.has("fence::before_thread_sync", "fence::after_thread_sync"):
        yield Fence(TENSOR, op.has("fence::before_thread_sync"), op.has("fence::after_thread_sync"))
    else:
        if op.has("mma"):
            yield Multiply()
        yield Issue(TENSOR, by_async_proxy=op.has("mma", "cp"))


def _map(op: _Spelled) -> Iterator[Effect]:
    yield Fence(MAPS, acquires=False, behind=True) if op.has("cp_fenceproxy") else Remap()


def _request(op: _Spelled) -> Iterator[Effect]:
    if op.has("try_cancel"):
        yield Issue(REQUESTS, by_async_proxy=True, tells=True)


def _wmma(op: _Spelled) -> Iterator[Effect]:
    if not op.has("load", "store"):
        yield Multiply()


def _dependency(op: _Spelled) -> Iterator[Effect]:
    yield Commit(GRIDS) if op.has("launch_dependents") else Wait(GRIDS)


def _multicast(op: _Spelled) -> Iterator[Effect]:
    return _copy(op) if op.has("cp") else iter(())


def _always(*effects: Effect) -> Callable[[_Spelled], Iterator[Effect]]:
    return lambda _: iter(effects)


_ROWS: Final[dict[str, Callable[[_Spelled], Iterator[Effect]]]] = {
    "bar": _barrier,
    "barrier": _barrier,
    "fence": _fence,
    "membar": _fence,
    "cp": _copy,
    "multimem": _multicast,
    "st": _store,
    "red": _store,
    "mbarrier": _mbarrier,
    "wgmma": _wgmma,
    "tcgen05": _tensor,
    "tensormap": _map,
    "clusterlaunchcontrol": _request,
    "wmma": _wmma,
    "griddepcontrol": _dependency,
    **dict.fromkeys(("vote", "match", "redux", "elect"), _always(Exchange())),
    "mma": _always(Multiply()),
    **dict.fromkeys(("shfl", "movmatrix"), _always(Exchange(moves=True))),
    **dict.fromkeys(("alloca", "stackrestore"), _always(Reserve(STACK))),
    "setmaxnreg": _always(Reserve(REGISTERS)),
    "nanosleep": _always(Reserve(TIME)),
    "bra": _always(Branch()),
    "brx": _always(Branch(listed=True)),
    "call": _always(Call()),
    "ret": _always(Leave(whole=False)),
    "exit": _always(Leave(whole=True)),
    "trap": _always(Fault()),
    "brkpt": _always(Fault(goes_on=True)),
}
