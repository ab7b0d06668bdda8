"""ldmatrix, stmatrix and movmatrix on NumPy arrays, many warps at once; PTX ISA 9.7.14.5.15 to 9.7.14.5.17.

Memory is little-endian bytes, as on the device; addresses are byte offsets into it.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.fragments.arguments import (
    as_addresses,
    as_memory,
    as_registers,
    as_result,
    batch_of,
    prove_apart,
    prove_rows,
)
from ptxloom.fragments.derive import fragment, transposition
from ptxloom.fragments.native import native
from ptxloom.isa.limits import LANES
from ptxloom.isa.matrix import MatrixMove, matrix_move
from ptxloom.isa.spelled import spelling_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ptxloom.fragments.arguments import Batch, Integers
    from ptxloom.fragments.model import Fragment
    from ptxloom.isa.spelled import Spelled

    Registers = npt.NDArray[np.uint32]

_HIGHEST_ADDRESS: Final = 0xFFFFFFFF
_WARPS_WORTH_A_THREAD: Final = 16_384
_EVERY: Final = slice(None)


def ldmatrix(
    form: str | Spelled | MatrixMove,
    memory: npt.NDArray[np.uint8],
    addresses: Integers,
    out: Registers | None = None,
) -> Registers:
    """Each lane's registers after an ldmatrix.

    Args:
        form: The spelling, full or short: `m8n8.x4.trans.b16`; or an instruction of a parsed module.
        memory: (..., bytes) uint8. Warps that share a memory share its leading dimensions by broadcasting.
        addresses: (..., 32) byte offsets, uint32 or another integer type; those of lanes that name no row are ignored.
        out: Where to put the result: (..., 32, registers) uint32, C-contiguous; a new array if left out.

    Returns:
        (..., 32, registers) uint32, C-contiguous: `[..., lane, r]` is register r of a lane.

    Raises:
        UnsupportedForm: There is no such ldmatrix.
        UsageError: An array has the wrong type or shape.
        UndefinedBehavior: A used address is not a multiple of 16 (of 8 for `.s8.s4`), or its row leaves the memory.

    Example:
        >>> memory = np.arange(128, dtype=np.uint8)
        >>> addresses = np.arange(32, dtype=np.uint32) * 16
        >>> ldmatrix("m8n8.x1.b16", memory, addresses)[5].view(np.uint8)  # lane 5 holds (1, 2) and (1, 3)
        array([20, 21, 22, 23], dtype=uint8)
    """
    move, held = _move("ldmatrix", form)
    data = as_memory(memory, written=False)
    batch = batch_of(held, data, as_addresses(addresses))
    if batch.addresses.dtype != np.uint32 or batch.memory_bytes < move.row_bytes:
        prove_rows(batch, held, move.row_bytes)
    registers = as_result(out, (*batch.shape, LANES, held.registers))
    flat = registers.reshape(len(batch), LANES, held.registers)
    if not _load(move, batch, np.ascontiguousarray(data), flat):
        prove_rows(batch, held, move.row_bytes)  # names the culprit
    return registers


def stmatrix(
    form: str | Spelled | MatrixMove, memory: npt.NDArray[np.uint8], addresses: Integers, registers: Registers
) -> None:
    """Store each lane's registers to memory, in place, as an stmatrix does.

    Several warps may write one memory: they then store one after the other, in the order of their indices.

    Args:
        form: The spelling, full or short: `m8n8.x4.b16`; or an instruction of a parsed module.
        memory: (..., bytes) uint8, writeable; its leading dimensions broadcast to those of the warps.
        addresses: (..., 32) byte offsets, uint32 or another integer type; those of lanes that name no row are ignored.
        registers: (..., 32, registers) uint32.

    Raises:
        UnsupportedForm: There is no such stmatrix.
        UsageError: An array has the wrong type or shape, or memory is read-only.
        UndefinedBehavior: A used address is not a multiple of 16, its row leaves the memory, or two rows of one warp
            are the same. Memory is then unchanged.

    Example:
        >>> memory = np.zeros(128, np.uint8)
        >>> registers = np.arange(32, dtype=np.uint32)[:, None]
        >>> stmatrix("m8n8.x1.b16", memory, np.arange(32) * 16, registers)
        >>> memory.view(np.uint32)[:8]  # rows 0 and 1
        array([0, 1, 2, 3, 4, 5, 6, 7], dtype=uint32)
    """
    move, held = _move("stmatrix", form)
    data = as_memory(memory, written=True)
    values = as_registers(registers, held.registers)
    batch = batch_of(held, data, as_addresses(addresses), values.shape[:-2])
    prove_rows(batch, held, move.row_bytes)
    prove_apart(batch, held)
    spread = np.broadcast_to(values, (*batch.shape, *values.shape[-2:])).reshape(len(batch), *values.shape[-2:])
    target = np.ascontiguousarray(data)
    _run(move, batch, target, np.ascontiguousarray(spread))
    if target is not data:
        data[...] = target


def movmatrix(registers: Registers) -> Registers:
    """Transpose the 8x8 matrix of 16-bit elements that each warp holds, as `movmatrix.sync.aligned.m8n8.trans.b16`.

    Args:
        registers: (..., 32, 1) uint32.

    Returns:
        (..., 32, 1) uint32, C-contiguous.

    Raises:
        UsageError: The array has the wrong type or shape.

    Example:
        >>> registers = np.arange(32, dtype=np.uint32)[:, None]  # lane l: elements (l, 0) of row l // 4
        >>> [hex(register) for register in movmatrix(registers)[:4, 0]]
        ['0x40000', '0xc0008', '0x140010', '0x1c0018']
    """
    values = np.ascontiguousarray(as_registers(registers, 1))
    halves = values.view(np.uint16).reshape(-1, 64)
    return halves.take(transposition(), axis=1).view(np.uint32).reshape(values.shape)


def _move(opcode: str, form: str | Spelled | MatrixMove) -> tuple[MatrixMove, Fragment]:
    move = form if isinstance(form, MatrixMove) else matrix_move(spelling_of(form), opcode)
    if move.opcode != opcode:
        move = matrix_move(move.spelling, opcode)
    return move, fragment(move)


def _load(move: MatrixMove, batch: Batch, memory: npt.NDArray[Any], registers: Registers) -> bool:
    """Load every warp's registers, on all cores if there are many warps; false if an address is illegal."""
    pieces = min(os.cpu_count() or 1, len(batch) // _WARPS_WORTH_A_THREAD)
    if pieces < 2:
        return _run(move, batch, memory, registers)
    bounds = [len(batch) * piece // pieces for piece in range(pieces + 1)]
    native(move)

    def load(low: int, high: int) -> bool:
        return _run(move, batch, memory, registers, slice(low, high))

    with ThreadPoolExecutor(pieces) as pool:
        legal = list(pool.map(load, bounds, bounds[1:]))
    return all(legal)


def _run(move: MatrixMove, batch: Batch, memory: npt.NDArray[Any], registers: Registers, warps: slice = _EVERY) -> bool:
    """Do a move for some warps on C-contiguous memory and registers; false if an address is illegal."""
    addresses, held = batch.addresses[warps], registers[warps]
    if not len(addresses):
        return True
    if addresses.dtype != np.uint32 or addresses.strides[-1] != addresses.itemsize:
        addresses = np.ascontiguousarray(addresses, np.uint32)
    numbers = np.zeros(len(addresses), np.int64) if batch.memories is None else batch.memories[warps]
    offsets = np.multiply(numbers, batch.memory_bytes, dtype=np.int64)
    illegal = native(move)(
        memory.ctypes.data,
        offsets.ctypes.data,
        addresses.ctypes.data,
        addresses.strides[0],
        held.ctypes.data,
        len(addresses),
        min(batch.memory_bytes - move.row_bytes, _HIGHEST_ADDRESS),
    )
    return illegal < 0
