"""The effects of instructions: what they do that is no value (PTX ISA 9.7.9 to 9.7.16).

What an instruction computes is a row of words (`meaning.words`); what it does to the rest of the world is a tuple of
effects, each a value of a closed set. Who watches a run, draws it or judges it matches effects and names no opcode.
Registers are read and written as `binding.effects` says, memory is touched as the ISA data says (`binding.touches`).
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import NAMES, READS, Touch, touches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.syntax.tree import Instruction


class Reach(IntEnum):
    """Who waits for each other, the nearest first."""

    NOBODY = 0
    WARP = 1
    WARPGROUP = 2
    CTA = 3
    CLUSTER = 4
    GRID = 5


# What goes on while its thread runs on.
COPIES: Final = "copies"  # `cp.async`
BULK: Final = "bulk copies"
STORES: Final = "stores"  # and reductions, in the cluster
PRODUCTS: Final = "products"  # whose sums are in registers
TENSOR: Final = "tensor memory"
REQUESTS: Final = "requests"  # for clusters that have not started

# What a fence orders accesses through, besides plain memory.
ASYNC: Final = "async"
MAPS: Final = "tensormap"
INITS: Final = "mbarrier_init"
REGISTERS: Final = "registers"
OTHER: Final = "other"


class Issue(NamedTuple):
    """An operation begins that goes on behind the instruction.

    Attributes:
        what: COPIES, BULK, STORES, PRODUCTS, TENSOR or REQUESTS.
        by_async_proxy: It touches memory through the async proxy.
        tells: An mbarrier, named here, is told of its end; else it belongs to a group.
    """

    what: str
    by_async_proxy: bool = False
    tells: bool = False


class Commit(NamedTuple):
    """What has been issued of a kind becomes a group, or what an mbarrier is told of."""

    what: str
    tells: bool = False


class Wait(NamedTuple):
    """The thread waits for what it has issued.

    Attributes:
        what: The kind that is waited for.
        keeps: Which operand says how many groups may go on; None if all are waited for.
        only_reads: Until sources have been read, no longer.
    """

    what: str
    keeps: int | None = None
    only_reads: bool = False


class Arrive(NamedTuple):
    """The thread is counted, and goes on; `relaxed`: that orders nothing."""

    reach: Reach
    relaxed: bool = False


class Meet(NamedTuple):
    """Threads wait for each other; `some`: not all that are within reach."""

    reach: Reach
    some: bool = False


class Count(NamedTuple):
    """An mbarrier is changed or asked; `makes`: it begins to be one."""

    makes: bool = False


class Fence(NamedTuple):
    """Accesses are ordered.

    Attributes:
        proxy: ASYNC, MAPS, INITS, REGISTERS, OTHER; empty for plain accesses.
        releases: What came before is ordered.
        acquires: What comes behind is ordered.
        total: All such fences have one order.
        spaces: The state spaces whose accesses it orders, where only some.
    """

    proxy: str = ""
    releases: bool = True
    acquires: bool = True
    total: bool = False
    spaces: tuple[str, ...] = ()


class Exchange(NamedTuple):
    """Results are made of the values of several lanes; `moves`: each bit of them is a bit of one lane's value."""

    moves: bool = False


class Branch(NamedTuple):
    """Control goes to a label; `listed`: one that an index picks out of a list."""

    listed: bool = False


class Call(NamedTuple):
    """A function is called."""


class Leave(NamedTuple):
    """A function ends, or `whole` threads do."""

    whole: bool


class Fault(NamedTuple):
    """The kernel is aborted."""


class Reserve(NamedTuple):
    """What a thread or a CTA has of the machine changes: its stack, its registers, its time."""


Effect: TypeAlias = (
    Touch | Issue | Commit | Wait | Arrive | Meet | Count | Fence | Exchange | Branch | Call | Leave | Fault | Reserve
)


def effects_of(instruction: Instruction) -> tuple[Effect, ...]:
    """What an instruction does that is no value: memory first, then the rest.

    Example:
        >>> from ptxloom.syntax import parse
        >>> [one] = parse("bar.sync 0;").statements
        >>> effects_of(one)
        (Meet(reach=<Reach.CTA: 3>, some=False),)
    """
    beside = deeds(instruction.opcode, instruction.qualifiers, len(instruction.operands))
    return (*touches(instruction), *beside)


@lru_cache(maxsize=4096)
def deeds(opcode: str, qualifiers: tuple[str, ...], operands: int) -> tuple[Effect, ...]:
    """The effects beside accesses to memory, by how an instruction is spelled and how many operands it has."""
    row = _ROWS.get(opcode)
    return () if row is None else tuple(row(_Spelled(opcode, qualifiers, operands)))


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


def _stays(effect: Effect) -> bool:
    match effect:
        case Touch(does=does):
            return does in {READS, NAMES}
        case Exchange(moves=moves):
            return moves
        case _:
            return False


class _Spelled(NamedTuple):
    opcode: str
    qualifiers: tuple[str, ...]
    operands: int

    def has(self, *words: str) -> bool:
        """Whether it carries any of these qualifiers."""
        return any(word in self.qualifiers for word in words)


# -- the rows


def _barrier(op: _Spelled) -> Iterator[Effect]:
    if op.has("cluster"):
        yield Arrive(Reach.CLUSTER, op.has("relaxed")) if op.has("arrive") else Meet(Reach.CLUSTER, some=True)
    elif op.has("warp"):
        yield Meet(Reach.WARP, some=True)
    elif op.has("arrive"):
        yield Arrive(Reach.CTA)
    else:
        yield Meet(Reach.CTA, some=op.operands > 1 + 2 * op.has("red"))
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
    if op.has("async") and op.operands > 2:  # those to global memory name no mbarrier
        yield Issue(STORES, tells=True)


def _mbarrier(op: _Spelled) -> Iterator[Effect]:
    if not op.has("pending_count"):
        yield Count(makes=op.has("init"))


def _wgmma(op: _Spelled) -> Iterator[Effect]:
    if op.has("mma_async"):
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
        yield Reserve()
    elif op.has("commit"):
        yield Commit(TENSOR, tells=True)
    elif op.has("wait::ld", "wait::st"):
        yield Wait(TENSOR)
    elif op.has("fence::before_thread_sync", "fence::after_thread_sync"):
        yield Fence(OTHER, op.has("fence::before_thread_sync"), op.has("fence::after_thread_sync"))
    else:
        yield Issue(TENSOR, by_async_proxy=op.has("mma"))


def _map(op: _Spelled) -> Iterator[Effect]:
    if op.has("cp_fenceproxy"):
        yield Fence(MAPS, acquires=False)


def _request(op: _Spelled) -> Iterator[Effect]:
    if op.has("try_cancel"):
        yield Issue(REQUESTS, by_async_proxy=True, tells=True)


def _wmma(op: _Spelled) -> Iterator[Effect]:
    if not op.has("load", "store"):
        yield Exchange()


def _dependency(op: _Spelled) -> Iterator[Effect]:
    yield Arrive(Reach.GRID) if op.has("launch_dependents") else Meet(Reach.GRID)


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
    **dict.fromkeys(("vote", "match", "redux", "elect", "mma"), _always(Exchange())),
    **dict.fromkeys(("shfl", "movmatrix"), _always(Exchange(moves=True))),
    **dict.fromkeys(("alloca", "stackrestore", "setmaxnreg", "nanosleep"), _always(Reserve())),
    "bra": _always(Branch()),
    "brx": _always(Branch(listed=True)),
    "call": _always(Call()),
    "ret": _always(Leave(whole=False)),
    "exit": _always(Leave(whole=True)),
    "trap": _always(Fault()),
}
