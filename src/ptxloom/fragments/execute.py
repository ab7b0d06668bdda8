"""ldmatrix, stmatrix and movmatrix on NumPy arrays, many warps at once; PTX ISA 9.7.14.5.15 to 9.7.14.5.17.

Memory is little-endian bytes, as on the device; addresses are byte offsets into it. Batches that are large are cut
into pieces that stay in cache, and the pieces are spread over the cores.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.fragments.arguments import as_addresses, as_memory, as_registers, batch_of, prove_apart, prove_rows
from ptxloom.fragments.derive import fragment
from ptxloom.fragments.formats import unpack
from ptxloom.fragments.model import WARP_LANES
from ptxloom.fragments.rearrange import rearrangement
from ptxloom.isa.matrix import MatrixMove, matrix_move

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ptxloom.fragments.arguments import Batch, Integers, Memory
    from ptxloom.fragments.model import Fragment

    Registers = npt.NDArray[np.uint32]

_PIECE: Final = 1024  # warps whose rows and registers fit a core's cache together


def ldmatrix(form: str | MatrixMove, memory: npt.NDArray[np.uint8], addresses: Integers) -> Registers:
    """What each lane's registers hold after an ldmatrix.

    Args:
        form: The spelling, full or short: `m8n8.x4.trans.b16`.
        memory: (..., bytes) uint8. Warps that share a memory share its leading dimensions by broadcasting.
        addresses: (..., 32) byte offsets, uint32 or another integer type; those of lanes that name no row are ignored.

    Returns:
        (..., 32, registers) uint32, C-contiguous: `[..., lane, r]` is register r of a lane.

    Raises:
        UnsupportedForm: There is no such ldmatrix.
        UsageError: An array has the wrong type or shape.
        UndefinedBehavior: A used address is not a multiple of 16, or its row leaves the memory.

    Example:
        >>> memory = np.arange(128, dtype=np.uint8)
        >>> addresses = np.arange(32, dtype=np.uint32) * 16
        >>> ldmatrix("m8n8.x1.b16", memory, addresses)[5].view(np.uint8)  # lane 5 holds (1, 2) and (1, 3)
        array([20, 21, 22, 23], dtype=uint8)
    """
    move, held = _move("ldmatrix", form)
    data = as_memory(memory, written=False)
    batch = batch_of(held, data, as_addresses(addresses))
    row_bytes = move.row_bytes
    prove_rows(batch, held, row_bytes)
    rows_of_memory = _rows(np.ascontiguousarray(_whole_rows(data, row_bytes)), row_bytes)
    registers = np.empty((len(batch), WARP_LANES, held.registers), np.uint32)
    arrange = rearrangement(held)

    def piece(warps: slice) -> None:
        index = _row_index(batch, warps, row_bytes, held)
        rows = rows_of_memory.take(index, mode="clip").view(np.uint8).reshape(*index.shape, row_bytes)
        if move.source.bits != move.destination.bits:
            rows = unpack(rows, move.source, held.columns)
        arrange.to_registers(rows, registers[warps])

    _in_pieces(len(batch), piece)
    return registers.reshape(*batch.shape, WARP_LANES, held.registers)


def stmatrix(form: str | MatrixMove, memory: npt.NDArray[np.uint8], addresses: Integers, registers: Registers) -> None:
    """Store each lane's registers to memory, in place, as an stmatrix does.

    Several warps may write one memory: they then store one after the other, in the order of their indices.

    Args:
        form: The spelling, full or short: `m8n8.x4.b16`.
        memory: (..., bytes) uint8, writeable; its leading dimensions broadcast to those of the warps.
        addresses: (..., 32) byte offsets, uint32 or another integer type; those of lanes that name no row are ignored.
        registers: (..., 32, registers) uint32.

    Raises:
        UnsupportedForm: There is no such stmatrix.
        UsageError: An array has the wrong type or shape, or memory is read-only.
        UndefinedBehavior: A used address is not a multiple of 16, its row leaves the memory, or two rows of one warp
            are the same. Memory is then unchanged.
    """
    move, held = _move("stmatrix", form)
    data = as_memory(memory, written=True)
    values = as_registers(registers, held.registers)
    batch = batch_of(held, data, as_addresses(addresses), values.shape[:-2])
    row_bytes = move.row_bytes
    prove_rows(batch, held, row_bytes)
    prove_apart(batch, held)
    spread = np.broadcast_to(values, (*batch.shape, *values.shape[-2:])).reshape(len(batch), *values.shape[-2:])
    whole = _whole_rows(data, row_bytes)
    target = np.ascontiguousarray(whole)
    rows_of_memory = _rows(target, row_bytes)
    arrange = rearrangement(held)
    for start in range(0, len(batch), _PIECE):
        warps = slice(start, start + _PIECE)
        index = _row_index(batch, warps, row_bytes, held)
        rows = np.empty((*index.shape, row_bytes), np.uint8)
        arrange.to_rows(np.ascontiguousarray(spread[warps]), rows)
        rows_of_memory[arrange.warps_first(index)] = arrange.warps_first(rows.view(rows_of_memory.dtype)[..., 0])
    if target is not whole:
        whole[...] = target


def movmatrix(registers: Registers) -> Registers:
    """Transpose the 8x8 matrix of 16-bit elements that each warp holds, as `movmatrix.sync.aligned.m8n8.trans.b16`.

    Args:
        registers: (..., 32, 1) uint32.

    Returns:
        (..., 32, 1) uint32, C-contiguous.

    Raises:
        UsageError: The array has the wrong type or shape.
    """
    values = np.ascontiguousarray(as_registers(registers, 1))
    halves = values.view(np.uint16).reshape(-1, 64)
    return halves.take(_transposition(), axis=1).view(np.uint32).reshape(values.shape)


@cache
def _transposition() -> npt.NDArray[np.intp]:
    """For each half of the destination, by lane, the half of the source that it takes."""
    form = "movmatrix.sync.aligned.m8n8.trans.b16"
    source, destination = fragment(form, "a"), fragment(form, "d")
    halves = (source.holder(row=e.row, column=e.column) for e in destination)
    return np.array([2 * half.lane + source.value_of(half) for half in halves], np.intp)


def _move(opcode: str, form: str | MatrixMove) -> tuple[MatrixMove, Fragment]:
    move = form if isinstance(form, MatrixMove) else matrix_move(form, opcode)
    if move.opcode != opcode:
        move = matrix_move(move.spelling, opcode)
    return move, fragment(move)


def _whole_rows(memory: Memory, row_bytes: int) -> Memory:
    """Memory without what is left after the last whole row, where no aligned row fits."""
    return memory[..., : memory.shape[-1] // row_bytes * row_bytes]


def _rows(memory: Memory, row_bytes: int) -> npt.NDArray[Any]:
    """C-contiguous memory as rows, one item each: every aligned row of every memory in turn."""
    return memory.reshape(-1).view(np.complex128 if row_bytes == 16 else np.uint64)


def _row_index(batch: Batch, warps: slice, row_bytes: int, held: Fragment) -> npt.NDArray[np.intp]:
    """Which row of memory each row of a piece of the batch is, in gather order."""
    addresses = batch.addresses[warps]
    index = np.empty(addresses.shape, np.intp)
    np.floor_divide(addresses, row_bytes, out=index, casting="unsafe")
    if batch.memories is not None:
        index += (batch.memories[warps] * (batch.memory_bytes // row_bytes))[:, None]
    return np.ascontiguousarray(rearrangement(held).gather_order(index))


def _in_pieces(warps: int, work: Callable[[slice], None]) -> None:
    """Do the work piece by piece, on as many cores as there are pieces for."""
    pieces = [slice(start, start + _PIECE) for start in range(0, warps, _PIECE)]
    if len(pieces) < 4:
        for piece in pieces:
            work(piece)
        return
    with ThreadPoolExecutor(min(os.cpu_count() or 1, len(pieces) // 2)) as pool:
        for _ in pool.map(work, pieces):
            pass
