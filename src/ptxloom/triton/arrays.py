"""NumPy arrays as arguments of Triton kernels, which need a tensor's address and element type."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


class ArrayArgument:
    """An array as Triton sees it; kernels write in place.

    Attributes:
        array: The array.
        dtype: Its elements' type.
        shape: Its shape.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.dtype = array.dtype
        self.shape = array.shape

    def data_ptr(self) -> int:
        """The address of its first element."""
        return int(self.array.ctypes.data)

    def stride(self, dimension: int | None = None) -> Any:
        """The stride in elements: along one dimension, or along all."""
        strides = tuple(stride // self.array.itemsize for stride in self.array.strides)
        return strides if dimension is None else strides[dimension]

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.array.itemsize


def from_numpy(array: NDArray[Any]) -> ArrayArgument:
    """Wrap a NumPy array as an argument of a `@triton.jit` kernel.

    Args:
        array: Contiguous or not: callers pass strides to kernels.

    Returns:
        The argument.

    Raises:
        UsageError: It is not an array of numbers in this machine's byte order.
    """
    if not isinstance(array, np.ndarray) or array.dtype.hasobject or not array.dtype.isnative:  # pyright: ignore[reportUnnecessaryIsInstance] - users may pass anything
        raise UsageError("array", array, "a NumPy array of numbers, in this machine's byte order")
    return ArrayArgument(array)


def said_bounds(array: Any, element_bytes: int) -> tuple[int, int] | None:
    """The memory of an object with `data_ptr()`, from its shape and strides, its `nbytes`, or its shape alone.

    Args:
        array: The object; strides are in elements from `stride()`, as in PyTorch, and in bytes from `strides`, as in
            NumPy.
        element_bytes: The size of an element for the kernel.

    Returns:
        The start and end; None if it has none of these.
    """
    start = int(array.data_ptr())
    shape: Any = getattr(array, "shape", None)
    size: Any = getattr(array, "nbytes", None)
    own = getattr(getattr(array, "dtype", None), "itemsize", element_bytes)
    strides = _strides_in_bytes(array, own)
    if shape is not None and strides is not None:
        steps = [(int(length) - 1) * stride for length, stride in zip(shape, strides, strict=True)]
        if not all(shape):
            return start, start
        return start + sum(min(step, 0) for step in steps), start + sum(max(step, 0) for step in steps) + own
    if size is not None:
        given: Any = size() if callable(size) else size
        return start, start + int(given)
    return None if shape is None else (start, start + prod(map(int, shape)) * own)


def _strides_in_bytes(array: Any, element_bytes: int) -> list[int] | None:
    if callable(getattr(array, "stride", None)):
        return [int(stride) * element_bytes for stride in array.stride()]
    strides = getattr(array, "strides", None)
    return None if strides is None else [int(stride) for stride in strides]
