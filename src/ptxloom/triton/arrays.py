"""NumPy arrays as arguments of Triton kernels, which ask a tensor where it lies and what its elements are."""

from __future__ import annotations

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
        """Where its first element lies."""
        return int(self.array.ctypes.data)

    def stride(self, dimension: int | None = None) -> Any:
        """From one element to the next, in elements: along one dimension, or along all."""
        strides = tuple(stride // self.array.itemsize for stride in self.array.strides)
        return strides if dimension is None else strides[dimension]

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.array.itemsize


def from_numpy(array: NDArray[Any]) -> ArrayArgument:
    """A NumPy array, to be given to a `@triton.jit` kernel.

    Args:
        array: Contiguous or not: kernels are given strides by their callers.

    Returns:
        The argument.

    Raises:
        UsageError: It is no array of numbers in this machine's byte order.
    """
    if not isinstance(array, np.ndarray) or array.dtype.hasobject or not array.dtype.isnative:  # pyright: ignore[reportUnnecessaryIsInstance] - users may give anything
        raise UsageError("array", array, "a NumPy array of numbers, in this machine's byte order")
    return ArrayArgument(array)
