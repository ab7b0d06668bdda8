"""The effects of instructions besides computing values (PTX ISA 9.7.9 to 9.7.16).

The results of an instruction are a row of words (`meaning.words`); its effects on the rest of the world are a tuple of
values of a closed set; `meaning.deeds` has them for every instruction. Code that watches, draws or
checks a run matches effects and names no opcode. Registers are read and written as in `binding.effects`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, TypeAlias

from ptxloom.binding.touches import Touch
from ptxloom.dataclass import dataclass


class Reach(IntEnum):
    """The threads that synchronise, the nearest first."""

    NOBODY = 0
    WARP = 1
    WARPGROUP = 2
    CTA = 3
    CLUSTER = 4
    GRID = 5


# Operations that continue while their thread proceeds.
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
MAPS: Final = "tensormap"  # modifications of tensor maps
INITS: Final = "mbarrier_init"
REGISTERS: Final = "registers"  # of products
OTHER: Final = "other"  # proxies that the machine does not have


@dataclass(frozen=True, slots=True)
class Issue:
    """Starts an operation that continues after the instruction.

    Attributes:
        what: COPIES, BULK, STORES, PRODUCTS, TENSOR or REQUESTS.
        by_async_proxy: Whether it accesses memory through the async proxy.
        tells: Whether an mbarrier operand tracks its completion; else it belongs to a group.
    """

    what: str
    by_async_proxy: bool = False
    tells: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """Makes the issued operations of a kind a group, or lets an mbarrier track them."""

    what: str
    tells: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Waits for operations that the thread has issued.

    Attributes:
        what: The kind of operations.
        keeps: The operand with the number of groups that may continue; None to wait for all.
        only_reads: Wait only until sources have been read; for TENSOR memory, wait for loads instead of stores.
    """

    what: str
    keeps: int | None = None
    only_reads: bool = False


@dataclass(frozen=True, slots=True)
class Arrive:
    """Counts the thread's arrival; the thread continues.

    Attributes:
        reach: The threads that synchronise.
        relaxed: Whether it orders no memory accesses.
        whole: Whether all lanes of a warp take part together.
    """

    reach: Reach
    relaxed: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Meet:
    """Makes threads wait for each other.

    Attributes:
        reach: The extent of these threads.
        some: Whether only some of the threads within reach take part.
        whole: Whether all lanes of a warp take part together.
    """

    reach: Reach
    some: bool = False
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """Changes or queries an mbarrier; `makes`: initialises it."""

    makes: bool = False


@dataclass(frozen=True, slots=True)
class Fence:
    """Orders accesses.

    Attributes:
        proxy: ASYNC, MAPS, INITS, REGISTERS, TENSOR, OTHER; empty for plain accesses.
        releases: Whether earlier accesses are ordered.
        acquires: Whether later accesses are ordered.
        total: Whether all such fences have a single order.
        spaces: The state spaces whose accesses it orders, if not all.
        behind: Whether it follows the instruction's own accesses.
    """

    proxy: str = ""
    releases: bool = True
    acquires: bool = True
    total: bool = False
    spaces: tuple[str, ...] = ()
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Remap:
    """Changes a tensor map."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """Computes results from the values of several lanes; `moves`: each bit is copied from one lane's value."""

    moves: bool = False


@dataclass(frozen=True, slots=True)
class Multiply:
    """Multiplies matrices, whose elements are in several lanes, or in memory."""


@dataclass(frozen=True, slots=True)
class Branch:
    """Branches to a label; `listed`: one selected from a list by an index."""

    listed: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """Calls a function."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Ends a function, or (`whole`) threads."""

    whole: bool


@dataclass(frozen=True, slots=True)
class Fault:
    """Aborts the kernel, or stops it for a debugger (`goes_on`)."""

    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Reserve:
    """Changes the resources of a thread or CTA: STACK, REGISTERS, TIME, or TENSOR memory."""

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
