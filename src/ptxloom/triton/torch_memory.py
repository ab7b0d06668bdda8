"""The memory of PyTorch's tensors on the device: kernels access it by address, wherever they got that from.

If ptxloom's CUDA driver is loaded, the driver allocates it, and its launches can access it, too; else it is the
host's, with an unused gap before and after each piece. A piece is freed some time after its last tensor:
not immediately, as garbage collection may run at any moment, but when the next piece is allocated.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.triton.device import device

if TYPE_CHECKING:
    from collections.abc import Callable

DLPACK_CUDA: Final = 2
_DEVICE_AT: Final = {b"dltensor": 8, b"dltensor_versioned": 40}
"""The place of the device in a tensor of DLPack (`DLDevice`: a kind, a number), by the name of its capsule."""

_DRIVER: Final = "PTXLOOM_DRIVER"  # set for programs that `ptxloom exec` runs
_GAP: Final = 1 << 15
_ALIGNMENT: Final = 512

_MARK: Final = "on_ptxloom"
_PINNED: Final = "pinned_by_ptxloom"


class _Piece(NamedTuple):
    """Memory of the device: its bytes, and the function that frees it."""

    size: int
    give_back: Callable[[], object]


_held: Final[dict[int, _Piece]] = {}  # by address
_left: Final[deque[int]] = deque()  # whose last tensor is gone
_bytes: Final = {"held": 0, "most": 0}


def allocated() -> int:
    """The bytes allocated for tensors of the device."""
    return _bytes["held"] - sum(_held[address].size for address in tuple(_left))


def most_allocated() -> int:
    """The peak of `allocated`."""
    return _bytes["most"]


def forget_most_allocated() -> None:
    """Reset the peak."""
    _bytes["most"] = allocated()


def is_marked(tensor: Any) -> bool:
    """Whether a tensor is on the device."""
    return _says(tensor, _MARK)


def is_pinned(tensor: Any, *_: object, **__: object) -> bool:
    """Whether a host tensor is pinned."""
    return _says(tensor, _PINNED)


def _says(tensor: Any, mark: str) -> bool:
    try:
        return hasattr(tensor.untyped_storage(), mark)
    except (AttributeError, NotImplementedError, RuntimeError):  # sparse ones, and the like, have no storage
        return False


def is_storage_marked(storage: Any) -> bool:
    """Whether a storage is on the device."""
    return hasattr(storage, _MARK)


def mark(storage: Any) -> None:
    """Mark a storage as on the device."""
    setattr(storage, _MARK, True)


def mark_pinned(tensor: Any) -> None:
    """Mark a tensor as pinned."""
    setattr(tensor.untyped_storage(), _PINNED, True)


def contents() -> list[tuple[int, _Piece, bytes]]:
    """The contents of the device's memory."""
    return [(address, piece, ctypes.string_at(address, piece.size)) for address, piece in _held.items()]


def restore(before: list[tuple[int, _Piece, bytes]]) -> None:
    """Restore the contents of each piece that still exists."""
    for address, piece, data in before:
        if _held.get(address) is piece:
            ctypes.memmove(address, data, piece.size)


def is_apart() -> bool:
    """Whether the device's memory is separate from the host's."""
    return bool(os.environ.get(_DRIVER))


def on_device(torch: Any, storage: Any) -> Any:
    """A copy of a storage on the device.

    Args:
        torch: PyTorch.
        storage: The storage to copy.

    Raises:
        MemoryError: The device is out of memory.
    """
    while _left:
        _give_back(_left.popleft())
    size = int(storage.nbytes())
    address = _by_driver(size) if is_apart() else _by_host(size)
    ctypes.memmove(address, int(storage.data_ptr()), size)
    device().register(np.ctypeslib.as_array(_piece(address, size)), "a tensor of the device")
    _bytes["held"] += size
    _bytes["most"] = max(_bytes["most"], _bytes["held"])
    room = _piece(address, size)
    weakref.finalize(room, _left.append, address).atexit = False
    return torch.frombuffer(room, dtype=torch.uint8).untyped_storage()


def _piece(address: int, size: int) -> ctypes.Array[ctypes.c_uint8]:
    return (ctypes.c_uint8 * size).from_address(address)


def _give_back(address: int) -> None:
    device().unregister(address)
    piece = _held.pop(address)
    _bytes["held"] -= piece.size
    piece.give_back()


def _by_host(size: int) -> int:
    """The address of `size` bytes of the host."""
    memory = np.empty(size + 2 * _GAP + _ALIGNMENT, np.uint8)
    address = int(memory.ctypes.data) + _GAP
    address += -address % _ALIGNMENT
    _held[address] = _Piece(size, memory.view)  # the view keeps it alive until it is freed
    return address


def _by_driver(size: int) -> int:
    """The address of `size` bytes of the driver's device.

    Raises:
        MemoryError: The device is out of memory, or there is no driver.
    """
    address = ctypes.c_void_p()
    if _driver().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) or address.value is None:
        raise MemoryError(f"the device has no room for {size} bytes more (`ptxloom exec --memory-limit`)")
    _held[address.value] = _Piece(size, lambda: _driver().cuMemFree_v2(address))
    return address.value


def _driver() -> ctypes.CDLL:
    """The driver, with a context in this thread: the program's, or that of the device."""
    library, context = _driver_and_context()
    current = ctypes.c_void_p()
    library.cuCtxGetCurrent(ctypes.byref(current))
    if current.value is None:
        library.cuCtxSetCurrent(context)
    return library


@cache
def _driver_and_context() -> tuple[ctypes.CDLL, ctypes.c_void_p]:
    """The driver, and its device's context."""
    library = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    library.cuInit(0)
    library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    return library, context


def said_to_be_on_device(capsule: object) -> object:
    """A DLPack tensor that PyTorch made from one on the CPU, relabelled as on a CUDA device.

    Args:
        capsule: Not yet consumed.
    """
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype, python.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = python.PyCapsule_GetName(capsule)
    at = python.PyCapsule_GetPointer(capsule, name)
    (ctypes.c_int32 * 2).from_address(at + _DEVICE_AT[name])[:] = (DLPACK_CUDA, 0)
    return capsule
