"""Arrays of other libraries as NumPy sees them, not copied: PyTorch, JAX, all with DLPack or an array interface.

DLPack is read here rather than by NumPy, which knows neither its bfloat16 nor its 8-bit floats.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Final, cast

import ml_dtypes
import numpy as np

from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_IN_HOST_MEMORY: Final = {1, 3, 11, 13}  # DLDeviceType: the CPU, pinned for CUDA, pinned for ROCm, managed
_READ_ONLY: Final = 1  # a flag of versioned capsules
_IMMUTABLE: Final = ("jax", "jaxlib")  # whose arrays must not change, which capsules before DLPack 1.0 cannot express
_LETTERS: Final = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # DLDataTypeCode, as in typestr of the array interface
_FLOATS: Final = {
    (4, 16): ml_dtypes.bfloat16,
    (7, 8): ml_dtypes.float8_e3m4,
    (8, 8): ml_dtypes.float8_e4m3,
    (9, 8): ml_dtypes.float8_e4m3b11fnuz,
    (10, 8): ml_dtypes.float8_e4m3fn,
    (11, 8): ml_dtypes.float8_e4m3fnuz,
    (12, 8): ml_dtypes.float8_e5m2,
    (13, 8): ml_dtypes.float8_e5m2fnuz,
    (14, 8): ml_dtypes.float8_e8m0fnu,
}


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_uint64),
        ("device", _Device),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),  # in elements; null if the array is compact
        ("offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_NAME_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", ctypes.pythonapi))
_POINTER_OF: Final = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Lent:
    """Memory of another library's object, which stays alive as long as a NumPy array shows it."""

    def __init__(self, owner: object, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None,
                 typestr: str, *, read_only: bool) -> None:  # fmt: skip
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (address, read_only), "shape": shape, "strides": strides, "typestr": typestr,
        }  # fmt: skip


def host_array(value: object, where: str, wanted: str) -> NDArray[Any] | None:
    """An array of any library as a NumPy array, in the same memory; None for what is not an array.

    Args:
        value: An argument of a call.
        where: Its name in messages, such as `args[2]`.
        wanted: Its purpose, such as `c, a .u64`.

    Raises:
        UsageError: It is an array whose memory a kernel on this CPU cannot share, and why.
    """
    if isinstance(value, np.ndarray):
        return cast("NDArray[Any]", value)
    if isinstance(value, np.generic):
        return None
    if callable(getattr(value, "__dlpack__", None)):
        return _by_dlpack(value, where, wanted)
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    if hasattr(value, "__cuda_array_interface__"):
        raise _on_a_gpu(value, where, wanted)
    return None


def must_be_array(value: object, what: str) -> NDArray[Any]:
    """The argument `array` of a call, as NumPy sees it.

    Args:
        value: The argument.
        what: Its purpose, such as `a tensor map`.

    Raises:
        UsageError: It is not an array, or one whose memory a kernel on this CPU cannot share.
    """
    array = host_array(value, "array", what)
    if array is None:
        raise UsageError("array", value, "a NumPy array, or one that another library shares by DLPack")
    return array


def brief(value: object) -> str:
    """An array in a few words, without its elements."""
    kind: type[object] = type(value)
    named = "" if kind is np.ndarray else f"{kind.__module__.partition('.')[0]}.{kind.__qualname__} of "
    shape = tuple(cast("tuple[int, ...]", getattr(value, "shape", ())))
    return f"{named}{getattr(value, 'dtype', 'unknown type')} array of shape {shape}"


def _on_a_gpu(value: object, where: str, wanted: str) -> UsageError:
    return UsageError(where, brief(value), f"an array in host memory for {wanted}: it is on a GPU; copy it first")


def _by_dlpack(value: Any, where: str, wanted: str) -> NDArray[Any]:
    """The array in a DLPack capsule; each keeps the memory alive, as long as it is referenced.

    Raises:
        UsageError: It does not share its memory, or is elsewhere, or its elements are not a whole number of bytes.
    """
    if getattr(value, "requires_grad", False):
        legal = f"a tensor without gradients for {wanted}: `.detach()` returns one, in the same memory"
        raise UsageError(where, brief(value), legal)
    try:
        on_host = int(value.__dlpack_device__()[0]) in _IN_HOST_MEMORY
        capsule = _capsule(value) if on_host else None
    except (BufferError, RuntimeError, TypeError, ValueError, AttributeError) as problem:  # each library has its own
        said = str(problem).partition("\n")[0].rstrip(".")
        raise UsageError(where, brief(value), f"an array whose memory can be shared, for {wanted} ({said})") from None
    if capsule is None:
        raise _on_a_gpu(value, where, wanted)
    name = _NAME_OF(capsule)
    address = _POINTER_OF(capsule, name)
    if name == b"dltensor_versioned":
        managed = _Versioned.from_address(address)
        return _shown(value, capsule, managed.tensor, where, wanted, read_only=bool(managed.flags & _READ_ONLY))
    immutable = type(value).__module__.partition(".")[0] in _IMMUTABLE
    return _shown(value, capsule, _Tensor.from_address(address), where, wanted, read_only=immutable)


def _capsule(value: Any) -> object:
    """A capsule of DLPack 1, or of before where the library knows no other."""
    try:
        return value.__dlpack__(max_version=(1, 0))
    except TypeError:
        return value.__dlpack__()


def _shown(
    value: object, capsule: object, tensor: _Tensor, where: str, wanted: str, *, read_only: bool
) -> NDArray[Any]:
    """A DLTensor as NumPy sees it.

    Raises:
        UsageError: An element is not a whole number of bytes.
    """
    size, rest = divmod(tensor.bits * tensor.lanes, 8)
    if rest:
        raise UsageError(where, brief(value), f"an array of elements of whole bytes for {wanted}")
    count = tensor.dimensions
    shape = tuple(tensor.shape[:count])
    strides = tuple(size * step for step in tensor.strides[:count]) if tensor.strides else None
    letter = _LETTERS.get(tensor.code, "V") if tensor.lanes == 1 else "V"
    typestr = f"{'<' if size > 1 and letter != 'V' else '|'}{letter}{size}"
    if 0 in shape:
        found = np.zeros(shape, typestr)
    else:
        at = tensor.data + tensor.offset
        found = np.asarray(_Lent(capsule, at, shape, strides, typestr, read_only=read_only))
    narrow = _FLOATS.get((tensor.code, tensor.bits)) if tensor.lanes == 1 else None
    return found if narrow is None else found.view(narrow)
