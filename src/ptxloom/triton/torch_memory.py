"""Where PyTorch's tensors of the device lie, if there is a CUDA driver of ours: in the memory that it allocates.

Whoever launches by that driver then reaches them, by the addresses that PyTorch gives.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from functools import cache
from typing import Any, Final

DLPACK_CUDA: Final = 2
_DEVICE_AT: Final = {b"dltensor": 8, b"dltensor_versioned": 40}
"""Where a tensor of DLPack says which device it is on (`DLDevice`: a kind, a number), by the name of its capsule."""

_DRIVER: Final = "PTXLOOM_DRIVER"  # set for programs that `ptxloom exec` runs


def is_apart() -> bool:
    """Whether memory of the device is another than the host's."""
    return bool(os.environ.get(_DRIVER))


def on_device(torch: Any, storage: Any) -> Any:
    """A copy of a storage in memory of the device, given back with the last tensor that lies there.

    Args:
        torch: PyTorch.
        storage: What is copied.

    Raises:
        MemoryError: The device has no room.
    """
    size = int(storage.nbytes())
    address = _allocated(size)
    ctypes.memmove(address, int(storage.data_ptr()), size)
    room = (ctypes.c_uint8 * size).from_address(address)
    weakref.finalize(room, _driver().cuMemFree_v2, ctypes.c_void_p(address)).atexit = False
    return torch.frombuffer(room, dtype=torch.uint8).untyped_storage()


@cache
def _driver() -> ctypes.CDLL:
    """The driver, with its device's context made."""
    library = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    library.cuInit(0)
    library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    library.cuCtxSetCurrent(context)
    return library


def _allocated(size: int) -> int:
    """Where so many bytes of the device lie.

    Raises:
        MemoryError: There is no room, or no driver.
    """
    address = ctypes.c_void_p()
    if _driver().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size)) or address.value is None:
        raise MemoryError(f"the device has no room for {size} bytes more (`ptxloom exec --memory-limit`)")
    return address.value


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
