"""The effects of instructions: what they do besides computing values (PTX ISA 9.7.9 to 9.7.16).

What an instruction computes is a row of words (`meaning.words`); what it does to the rest of the world is a tuple of
effects, each a value of a closed set; `meaning.deeds` has them for every instruction. Code that watches, draws or
judges a run matches effects and names no opcode. Registers are read and written as in `binding.effects`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, TypeAlias

from ptxloom.binding.touches import Touch
from ptxloom.dataclass import dataclass


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
GRIDS: Final = "grids"  # that depend on each other

STACK: Final = "stack"
TIME: Final = "time"

# What a fence orders besides plain accesses.
ASYNC: Final = "async"  # accesses through the async proxy
MAPS: Final = "tensormap"  # what is done to tensor maps
INITS: Final = "mbarrier_init"
REGISTERS: Final = "registers"  # of products
OTHER: Final = "other"  # proxies that the machine does not have


@dataclass(frozen=True, slots=True)
class Issue:
    """An operation starts that continues after the instruction.

    Attributes:
        what: COPIES, BULK, STORES, PRODUCTS, TENSOR or REQUESTS.
        by_async_proxy: It touches memory through the async proxy.
        tells: Its end is reported to an mbarrier, named here; else it belongs to a group.
    """

    what: str
    by_async_proxy: bool = False
    tells: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """What has been issued of a kind becomes a group, or what is reported to an mbarrier."""

    what: str
    tells: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """The thread waits for operations that it has issued.

    Attributes:
        what: The kind that is waited for.
        keeps: The operand with the number of groups that may continue; None if all are waited for.
        only_reads: Only until sources have been read; for TENSOR memory, only for loads, and else for stores.
    """

    what: str
    keeps: int | None = None
    only_reads: bool = False


@dataclass(frozen=True, slots=True)
class Arrive:
    """The thread is counted, and goes on.

    Attributes:
        reach: Who is waited for elsewhere.
        relaxed: It orders nothing.
        whole: All lanes of a warp come together.
    """

    reach: Reach
    relaxed: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Meet:
    """Threads wait for each other.

    Attributes:
        reach: How far off these may be.
        some: Not all that are within reach.
        whole: All lanes of a warp come together.
    """

    reach: Reach
    some: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """An mbarrier is changed or asked; `makes`: it begins to be one."""

    makes: bool = False


@dataclass(frozen=True, slots=True)
class Fence:
    """Accesses are ordered.

    Attributes:
        proxy: ASYNC, MAPS, INITS, REGISTERS, TENSOR, OTHER; empty for plain accesses.
        releases: What came before is ordered.
        acquires: What comes behind is ordered.
        total: All such fences have one order.
        spaces: The state spaces whose accesses it orders, where only some.
        behind: It comes behind what the instruction itself does to memory.
    """

    proxy: str = ""
    releases: bool = True
    acquires: bool = True
    total: bool = False
    spaces: tuple[str, ...] = ()
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Remap:
    """A tensor map changes."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Results are made of the values of several lanes; `moves`: each bit of them is a bit of one lane's value."""

    moves: bool = False


@dataclass(frozen=True, slots=True)
class Multiply:
    """Matrices are multiplied, whose elements several lanes hold, or memory."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Control goes to a label; `listed`: one that an index picks out of a list."""

    listed: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function is called."""


@dataclass(frozen=True, slots=True)
class Leave:
    """A function ends, or `whole` threads do."""

    whole: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """The kernel is aborted, or handed to a debugger, and `goes_on`."""

    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Reserve:
    """What a thread or a CTA has of the machine changes: STACK, REGISTERS, TIME, or TENSOR memory."""

    what: str


Effect: TypeAlias = (
    Touch
    | Issue
    | Commit
    | Wait
    | Arrive
    | Meet
    | Count
    | Fence
    | Remap
    | Exchange
    | Multiply
    | Branch
    | Call
    | Leave
    | Fault
    | Reserve
)
