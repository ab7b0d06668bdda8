"""Where PyTorch's tensors of the device lie: in memory that kernels reach by its address, wherever they have it from.

If there is a CUDA driver of ours, it allocates it, and whoever launches by the driver reaches it, too; else it is the
host's, with room before and behind each piece that nobody owns. A piece is given back some time after its last tensor:
not when that goes, as garbage is collected at any moment, but when the next one is made.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.triton.device import device

if TYPE_CHECKING:
    from collections.abc import Callable

DLPACK_CUDA: Final = 2
_DEVICE_AT: Final = {b"dltensor": 8, b"dltensor_versioned": 40}
"""Where a tensor of DLPack says which device it is on (`DLDevice`: a kind, a number), by the name of its capsule."""

_DRIVER: Final = "PTXLOOM_DRIVER"  # set for programs that `ptxloom exec` runs
_GAP: Final = 1 << 15
_ALIGNMENT: Final = 512

_held: Final[dict[int, Callable[[], object]]] = {}  # by address: what gives a piece back
_left: Final[deque[int]] = deque()  # whose last tensor has gone


def is_apart() -> bool:
    """Whether memory of the device is another than the host's."""
    return bool(os.environ.get(_DRIVER))


def on_device(torch: Any, storage: Any) -> Any:
    """A copy of a storage on the device.

    Args:
        torch: PyTorch.
        storage: What is copied.

    Raises:
        MemoryError: The device has no room.
    """
    while _left:
        _give_back(_left.popleft())
    size = int(storage.nbytes())
    address = _by_driver(size) if is_apart() else _by_host(size)
    ctypes.memmove(address, int(storage.data_ptr()), size)
    device().register(np.ctypeslib.as_array(_piece(address, size)), "a tensor of the device")
    room = _piece(address, size)
    weakref.finalize(room, _left.append, address).atexit = False
    return torch.frombuffer(room, dtype=torch.uint8).untyped_storage()


def _piece(address: int, size: int) -> ctypes.Array[ctypes.c_uint8]:
    return (ctypes.c_uint8 * size).from_address(address)


def _give_back(address: int) -> None:
    device().unregister(address)
    _held.pop(address)()


def _by_host(size: int) -> int:
    """The address of so many bytes of the host."""
    memory = np.empty(size + 2 * _GAP + _ALIGNMENT, np.uint8)
    address = int(memory.ctypes.data) + _GAP
    address += -address % _ALIGNMENT
    _held[address] = memory.view  # holds it until it is given back
    return address


def _by_driver(size: int) -> int:
    """The address of so many bytes of the driver's device.

    Raises:
        MemoryError: There is no room, or no driver.
    """
    address = ctypes.c_void_p()
    free = _driver().cuMemFree_v2
    if _driver().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) or address.value is None:
        raise MemoryError(f"the device has no room for {size} bytes more (`ptxloom exec --memory-limit`)")
    _held[address.value] = lambda: free(address)
    return address.value


@cache
def _driver() -> ctypes.CDLL:
    """The driver, with its device's context made."""
    library = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    library.cuInit(0)
    library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    library.cuCtxSetCurrent(context)
    return library


def said_to_be_on_device(capsule: object) -> object:
    """A tensor of DLPack, which PyTorch has made of one on the CPU, with the word that it is on a CUDA device.

    Args:
        capsule: Nobody has taken it.
    """
    python = ctypes.pythonapi
    python.PyCapsule_GetName.restype, python.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    python.PyCapsule_GetPointer.restype = ctypes.c_void_p
    python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = python.PyCapsule_GetName(capsule)
    at = python.PyCapsule_GetPointer(capsule, name)
    (ctypes.c_int32 * 2).from_address(at + _DEVICE_AT[name])[:] = (DLPACK_CUDA, 0)
    return capsule
