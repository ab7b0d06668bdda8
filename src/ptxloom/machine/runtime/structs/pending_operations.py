"""What may outlast its instruction, as racecheck remembers it: copies, products, accesses to tensor memory.

Native code and Python share these structs; the rings that hold them belong to a CTA's `Shadow`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language
from ptxloom.machine.runtime.tensor_boxes.model import TensorCopy

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, u32, u64


class PendingOperation:
    """An asynchronous instruction of a warp, until its lanes have waited for it."""

    stamp: u32  # as `races.stamp_of` returns it
    begun: u32  # the tick at which it began
    bulk: u32  # 1 if bulk groups count it
    reads: u32  # lanes that may still read
    writes: u32  # lanes that may still write, and themselves wait for the end of the write
    handed: u32  # lanes whose reads an mbarrier reports as done
    source_space: u32
    target_space: u32
    source: Annotated[Array[u64], 32]
    target: Annotated[Array[u64], 32]
    taken: Annotated[Array[u32], 32]  # bytes read
    given: Annotated[Array[u32], 32]  # bytes written
    group: Annotated[Array[u32], 32]
    column: Annotated[Array[u32], 32]  # of the agent of the mbarrier
    told: Annotated[Array[u32], 32]  # the tick of the agent
    in_rows: u32  # 1: in global memory it accesses the rows of a tensor, which lie between the next two addresses
    low: u64
    high: u64
    tensor: Annotated[Array[TensorCopy], 1]


class PendingFactor:
    """A factor in shared memory that a warp's `wgmma`, or a thread's `tcgen05.mma` or `.cp`, reads."""

    stamp: u32  # as `races.stamp_of` returns it
    begun: u32  # the tick at which it began
    group: u32  # the number of its group, from 1 on
    column: u32  # of the agent of the warpgroup, or of the thread
    descriptor: u64
    first: u32  # the first of its lines of core matrices
    lines: u32  # the number of lines; 0 if this entry is free
    parts: u32  # core matrices of a line
    across: u32  # 1: it is stored along M or N
    done: u32  # the tick at which its group was first seen complete; 0: not waited for yet
    rows: u32  # of a core matrix
    thread: u32  # of the cluster: the one that reads, or the first of the warp that does
    low: u32  # it lies between these two places in shared memory,
    high: u32  # possibly interleaved with other bytes


class TensorAccess:
    """What an instruction does to columns of a CTA's tensor memory, in the same lanes of each column."""

    pipe: u64  # of a product: its accumulator and shape
    serial: u64  # of the instruction; its accesses to several places share one
    stamp: u32  # as `races.stamp_of` returns it
    begun: u32  # the tick at which it began; 0 if this entry is free
    done: u32  # of a load or store: the tick at which its warp had waited for it; 0: not yet
    thread: u32  # of the cluster
    does: u32  # LOADS, STORES and so on
    writes: u32
    column: u32  # of the thread's agent, whose actions `tcgen05.commit` reports
    first: u32  # the first of its columns
    columns: u32
    lanes: Annotated[Array[u32], 4]  # one bit per lane


class ProductRegister:
    """A register of one warp that products use."""

    written: u32  # the last group, from 1 on, in which it is part of an accumulator; 0: no group
    read: u32  # the same for A
    fenced: u32  # 1: nothing but products has touched it since a `wgmma.fence`
    shape: u32  # of the product that writes it, until a fence
    site: u32  # of the last product
    spare: u32


OPERATION_BYTES: Final = language.record(PendingOperation).size
FRAGMENT_BYTES: Final = language.record(ProductRegister).size
PRODUCT_BYTES: Final = language.record(PendingFactor).size
TENSOR_ACCESS_BYTES: Final = language.record(TensorAccess).size
