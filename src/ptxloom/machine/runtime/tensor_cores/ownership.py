"""The allocation of tensor memory's columns, and its bounds (PTX ISA 9.7.16.7)."""

from __future__ import annotations

from ptxloom.machine.native.language import fill, u32
from ptxloom.machine.native.standalone import seldom
from ptxloom.machine.runtime.tensor_cores.model import BLOCK_COLUMNS, BLOCKS, TENSOR_COLUMNS, TensorMemory

NOWHERE = 0xFFFFFFFF


def start_tensor_memory(memory: TensorMemory) -> None:
    """A CTA begins: it has no tensor memory."""
    if memory.used != 0:
        fill(memory.owners, 0)
        fill(memory.written, 0)
    memory.used = 0
    memory.last = 0
    memory.relinquished = 0
    memory.pairs = 0
    memory.collected = 0


def is_count(columns: u32) -> u32:
    """Whether `columns` columns can be allocated: a power of 2 from 32 to 512."""
    return u32(columns >= BLOCK_COLUMNS and columns <= TENSOR_COLUMNS and columns & columns - 1 == 0)


def free_columns(memory: TensorMemory, other: TensorMemory, columns: u32) -> u32:
    """The first of `columns` columns side by side that are free in both; NOWHERE if there are not as many."""
    wanted = columns // BLOCK_COLUMNS
    found: u32 = 0
    for block in range(BLOCKS):
        if memory.owners[block] | other.owners[block] != 0:
            found = 0
        else:
            found = found + 1
            if found == wanted:
                return (block + 1 - wanted) * BLOCK_COLUMNS
    return NOWHERE


def take_columns(memory: TensorMemory, first: u32, columns: u32) -> None:
    """Allocate columns: what they hold is undefined."""
    memory.used = 1
    memory.last = columns
    block = first // BLOCK_COLUMNS
    for number in range(columns // BLOCK_COLUMNS):
        memory.owners[block + number] = block + 1
    forget_marks(memory, first, columns)


def forget_marks(memory: TensorMemory, first: u32, columns: u32) -> None:
    """Mark these columns as unwritten."""
    assert columns <= TENSOR_COLUMNS
    for column in range(columns):
        for quarter in range(4):
            memory.written[(first + column) * 4 + quarter] = 0


def give_columns(memory: TensorMemory, first: u32, columns: u32) -> u32:
    """Free an allocation; 0 if no allocation of `columns` columns starts there."""
    if holds_columns(memory, first, columns) == 0 or first % BLOCK_COLUMNS != 0:
        return 0
    block = first // BLOCK_COLUMNS
    count = columns // BLOCK_COLUMNS
    for number in range(count):
        if memory.owners[block + number] != block + 1:
            return 0
    if block + count < BLOCKS and memory.owners[block + count] == block + 1:
        return 0  # it is longer
    for number in range(count):
        memory.owners[block + number] = 0
    return 1


def holds_columns(memory: TensorMemory, first: u32, columns: u32) -> u32:
    """Whether columns are all allocated: the one bound of tensor memory."""
    if columns == 0 or columns > TENSOR_COLUMNS or first > TENSOR_COLUMNS - columns:
        return 0
    last = (first + columns - 1) // BLOCK_COLUMNS
    block = first // BLOCK_COLUMNS
    for number in range(BLOCKS):
        if number >= block and number <= last and memory.owners[number] == 0:
            return 0
    return 1


@seldom
def first_held(memory: TensorMemory) -> u32:
    """The first column that is allocated; NOWHERE if all are free."""
    for block in range(BLOCKS):
        if memory.owners[block] != 0:
            return block * BLOCK_COLUMNS
    return NOWHERE
