"""Checks the arguments of batch execution: types and shapes of arrays, and addresses of whole rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.fragments.errors import UndefinedBehavior
from ptxloom.isa.limits import LANES

if TYPE_CHECKING:
    import numpy.typing as npt

    from ptxloom.fragments.model import Fragment

    Memory = npt.NDArray[np.uint8]
    Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The warps of one call.

    Attributes:
        shape: Their leading dimensions.
        addresses: (warps, lanes that name a row), integers, legal.
        memories: For each warp the number of its memory; None if there is one memory for all.
        memory_bytes: The size of each memory.
    """

    shape: tuple[int, ...]
    addresses: Integers
    memories: npt.NDArray[np.intp] | None
    memory_bytes: int

    def __len__(self) -> int:
        return len(self.addresses)


def as_memory(memory: object, *, written: bool) -> Memory:
    """The memory argument, checked to be bytes.

    Raises:
        UsageError: It is not a uint8 array, or is read-only where it must be written.
    """
    array = _array(memory)
    if array is None or array.dtype != np.uint8 or array.ndim < 1:
        raise UsageError("memory", _described(memory), "a NumPy array of uint8 with shape (..., bytes)")
    if written and not array.flags.writeable:
        raise UsageError("memory", "a read-only array", "writeable, for it is written in place")
    return array


def as_addresses(addresses: object) -> Integers:
    """The address argument, checked to hold one integer per lane.

    Raises:
        UsageError: It is not an integer array, or its last dimension is not 32.
    """
    array = _array(addresses)
    if array is None or array.dtype.kind not in "iu" or array.ndim < 1 or array.shape[-1] != LANES:
        raise UsageError("addresses", _described(addresses), "a NumPy array of uint32 with shape (..., 32)")
    return array


def as_registers(registers: object, count: int) -> npt.NDArray[np.uint32]:
    """The register argument, checked to hold `count` uint32 per lane.

    Raises:
        UsageError: Its type or its last two dimensions are wrong.
    """
    array = _array(registers)
    if array is None or array.dtype != np.uint32 or array.ndim < 2 or array.shape[-2:] != (LANES, count):
        legal = f"a NumPy array of uint32 with shape (..., 32, {count})"
        raise UsageError("registers", _described(registers), legal)
    return array


def as_result(out: object, shape: tuple[int, ...]) -> npt.NDArray[np.uint32]:
    """The array for a result: the given one, after checks, or a new one.

    Raises:
        UsageError: Its type, shape or order in memory is wrong, or it is read-only.
    """
    if out is None:
        return np.empty(shape, np.uint32)
    array = _array(out)
    fits = array is not None and array.dtype == np.uint32 and array.shape == shape
    if array is None or not fits or not array.flags.c_contiguous or not array.flags.writeable:
        raise UsageError("out", _described(out), f"a writeable, C-contiguous NumPy array of uint32 with shape {shape}")
    return array


def batch_of(fragment: Fragment, memory: Memory, addresses: Integers, *leading: tuple[int, ...]) -> Batch:
    """Broadcast memory, addresses and further leading dimensions, and check every used address.

    Raises:
        UsageError: The leading dimensions do not broadcast.
        UndefinedBehavior: A used address is misaligned or its row leaves the memory.
    """
    shapes = (memory.shape[:-1], addresses.shape[:-1], *leading)
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(str(one) for one in shapes)
        raise UsageError("leading dimensions", listed, "such that they broadcast") from None
    used = fragment.address_lanes
    spread = np.broadcast_to(addresses[..., :used], (*shape, used)).reshape(-1, used)
    memories = None
    if memory.ndim > 1 and memory.size != memory.shape[-1]:
        numbers = np.arange(memory[..., 0].size, dtype=np.intp).reshape(memory.shape[:-1])
        memories = np.broadcast_to(numbers, shape).reshape(-1)
    return Batch(shape, spread, memories, memory.shape[-1])


def prove_rows(batch: Batch, fragment: Fragment, row_bytes: int) -> None:
    """Check that every used address is a multiple of its row's size and every row is in memory.

    Raises:
        UndefinedBehavior: One is not; the first by warp and lane is named.
    """
    addresses = batch.addresses
    if not addresses.size:
        return
    low, high = int(addresses.min()), int(addresses.max())
    last = batch.memory_bytes - row_bytes
    if not int(np.bitwise_or.reduce(addresses, axis=None)) % row_bytes and low >= 0 and high <= last:
        return
    misaligned = addresses % row_bytes != 0
    wrong = misaligned | (addresses < 0) | (addresses > last)
    warp, lane = (int(place) for place in np.argwhere(wrong)[0])
    if misaligned[warp, lane]:
        reason = f"is not a multiple of {row_bytes} bytes"
    else:
        reason = f"names a row of {row_bytes} bytes that leaves the memory of {batch.memory_bytes} bytes"
    raise _undefined(batch, fragment, warp, lane, reason)


def prove_apart(batch: Batch, fragment: Fragment) -> None:
    """Check that no warp stores two rows to one place.

    Raises:
        UndefinedBehavior: One does; the later lane is named.
    """
    ordered = np.sort(batch.addresses, axis=-1)
    meeting = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=-1))
    if not meeting.size:
        return
    warp = int(meeting[0])
    seen: dict[int, int] = {}
    for lane, address in enumerate(batch.addresses[warp].tolist()):
        if address in seen:
            raise _undefined(batch, fragment, warp, lane, f"names the row that lane {seen[address]} stores to as well")
        seen[address] = lane


def _undefined(batch: Batch, fragment: Fragment, warp: int, lane: int, reason: str) -> UndefinedBehavior:
    matrix, row = divmod(lane, fragment.rows)
    where = tuple(int(place) for place in np.unravel_index(warp, batch.shape)) if batch.shape else ()
    address = int(batch.addresses[warp, lane])
    return UndefinedBehavior(reason, warp=where, lane=lane, address=address, matrix=matrix, row=row)


def _array(value: object) -> npt.NDArray[Any] | None:
    return cast("npt.NDArray[Any]", value) if isinstance(value, np.ndarray) else None


def _described(value: object) -> str:
    array = _array(value)
    return f"of type {type(value).__name__}" if array is None else f"an array of {array.dtype} with shape {array.shape}"
