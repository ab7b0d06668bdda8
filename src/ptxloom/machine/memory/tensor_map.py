"""Tensor maps of arrays, as arguments of a launch: what `cuTensorMapEncodeTiled` and `...Im2col` make on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.descriptors import TensorMap, encode_im2col, encode_tiled
from ptxloom.descriptors.tensor_types import DATA_TYPES, INTERLEAVES
from ptxloom.descriptors.tensor_types import data_type as find_type
from ptxloom.diagnostics import UsageError
from ptxloom.machine.memory.foreign_arrays import must_be_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SIGNED: Final = {"int8": "UINT8", "bool": "UINT8", "int16": "UINT16"}  # the driver has no types of their own for these


@dataclass(frozen=True, slots=True, eq=False)
class MappedArray:
    """An array and a tensor map of it: an argument of a launch that passes both to the kernel.

    For a parameter of 128 bytes it is the map itself, `const __grid_constant__ CUtensorMap`; for a pointer, the address
    of a map in global memory; a list of them is an array of maps there.

    Attributes:
        array: What copies by the map read and write, in place.
        map: The map; `map.to_bytes()` are its 128 bytes.
    """

    array: NDArray[Any]
    map: TensorMap

    def __repr__(self) -> str:
        return f"MappedArray({self.map})"

    def to_bytes(self) -> bytes:
        """The 128 bytes of the map."""
        return self.map.to_bytes()


def tensor_map(
    array: object,
    box_dim: Sequence[int],
    *,
    data_type: str | None = None,
    global_dim: Sequence[int] | None = None,
    global_strides: Sequence[int] | None = None,
    element_strides: Sequence[int] | None = None,
    interleave: str = "none",
    swizzle: str = "none",
    l2_promotion: str = "none",
    oob_fill: str = "none",
) -> MappedArray:
    """A tensor map of an array for copies of boxes, by the parameters of `cuTensorMapEncodeTiled`.

    As there, dimensions go from the contiguous one on: of an array of shape (rows, columns), `box_dim` is (columns,
    rows). For an interleaved array the last axis is a slice of 16 or 32 bytes, not a dimension.

    Args:
        array: The tensor, or the memory that holds it, which copies by the map read and write in place; from NumPy, or
            from a library that shares its memory by DLPack.
        box_dim: The elements that a copy spans, by dimension.
        data_type: Such as "FLOAT16" or "TFLOAT32"; by default that of the array (bytes for types of 8 bits). Elements
            of 4 and 6 bits ("16U4_ALIGN8B", "16U4_ALIGN16B", "16U6_ALIGN16B") are packed in the array's bytes.
        global_dim: The elements of the tensor, by dimension; by default those of the array.
        global_strides: In bytes, of all dimensions but the first; by default those of the array.
        element_strides: The step between the elements that a copy takes, by dimension; ones by default.
        interleave: "none", "16B" or "32B".
        swizzle: One of `ptxloom.descriptors.tensor_types.SWIZZLES`, such as "none" or "128B".
        l2_promotion: "none", "64B", "128B" or "256B": changes no result.
        oob_fill: "none" (zeros) or "nan".

    Returns:
        The array with its map, to be passed to a launch.

    Raises:
        UsageError: The driver would refuse it.

    Example:
        >>> import numpy as np
        >>> made = tensor_map(np.zeros((32, 64), np.float16), (64, 8), swizzle="128B")
        >>> made.map.global_dim, made.map.global_strides, made.map.transaction_bytes
        ((64, 32), (128,), 1024)
    """
    found = must_be_array(array, "a tensor map")
    tensor = _tensor(found, data_type, global_dim, global_strides, interleave)
    modes = (element_strides, interleave, swizzle, l2_promotion, oob_fill)
    return MappedArray(found, encode_tiled(*tensor, box_dim, *modes))


def tensor_map_im2col(
    array: object,
    pixel_box_lower_corner: Sequence[int],
    pixel_box_upper_corner: Sequence[int],
    channels_per_pixel: int,
    pixels_per_column: int,
    *,
    data_type: str | None = None,
    global_dim: Sequence[int] | None = None,
    global_strides: Sequence[int] | None = None,
    element_strides: Sequence[int] | None = None,
    interleave: str = "none",
    swizzle: str = "none",
    l2_promotion: str = "none",
    oob_fill: str = "none",
) -> MappedArray:
    """A tensor map of an array for copies of im2col's columns, by the parameters of `cuTensorMapEncodeIm2col`.

    Args:
        array: The tensor, of shape (N, D, H, W, C) or without D, or H and D; whose, as of `tensor_map`.
        pixel_box_lower_corner: Where the bounding box begins, in pixels: W, H, D.
        pixel_box_upper_corner: Where it ends, from the tensor's end: W, H, D.
        channels_per_pixel: How many elements of C a copy takes.
        pixels_per_column: How many pixels.
        data_type: As of `tensor_map`, like all that follow.
        global_dim: C, W, H, D, N, as far as there are.
        global_strides: In bytes, of all dimensions but the first.
        element_strides: Of how many elements one is taken, by dimension.
        interleave: "none", "16B" or "32B".
        swizzle: One of `ptxloom.descriptors.tensor_types.SWIZZLES`, such as "none" or "128B".
        l2_promotion: "none", "64B", "128B" or "256B".
        oob_fill: "none" (zeros) or "nan".

    Returns:
        The array with its map, to be passed to a launch.

    Raises:
        UsageError: The driver would refuse it.

    Example:
        >>> import numpy as np
        >>> images = np.zeros((2, 8, 8, 32), np.float16)
        >>> tensor_map_im2col(images, (-1, -1), (-1, -1), 32, 64).map.transaction_bytes
        4096
    """
    found = must_be_array(array, "a tensor map")
    tensor = _tensor(found, data_type, global_dim, global_strides, interleave)
    columns = (pixel_box_lower_corner, pixel_box_upper_corner, channels_per_pixel, pixels_per_column)
    modes = (element_strides, interleave, swizzle, l2_promotion, oob_fill)
    return MappedArray(found, encode_im2col(*tensor, *columns, *modes))


class _Tensor(NamedTuple):
    """The parameters of the tensor in both kinds of maps, in the order of the driver."""

    data_type: str
    global_address: int
    global_dim: Sequence[int]
    global_strides: Sequence[int]


def _tensor(
    array: NDArray[Any],
    data_type: str | None,
    global_dim: Sequence[int] | None,
    global_strides: Sequence[int] | None,
    interleave: str,
) -> _Tensor:
    kind = _type_of(array) if data_type is None else data_type
    whole = _pixels(array, interleave) if global_dim is None and INTERLEAVES.get(interleave) else array
    if global_dim is None and whole.ndim and whole.strides[-1] != whole.itemsize and whole.shape[-1] > 1:
        raise UsageError("array", f"strides of {array.strides} bytes", "an array whose last axis is contiguous")
    dims: Sequence[int] = whole.shape[::-1] if global_dim is None else global_dim
    if global_dim is None and dims and data_type is not None and find_type(data_type).is_narrow:
        dims = dims[0] * whole.itemsize * 8 // find_type(data_type).bits, *dims[1:]
    return _Tensor(
        kind,
        array.ctypes.data,
        dims,
        whole.strides[-2::-1] if global_strides is None else global_strides,
    )


def _pixels(array: NDArray[Any], interleave: str) -> NDArray[Any]:
    """An array whose elements are the slices of an interleaved one.

    Raises:
        UsageError: Its last axis is not a slice.
    """
    size = INTERLEAVES[interleave]
    if not array.ndim or array.shape[-1] * array.itemsize != size or array.strides[-1] != array.itemsize:
        raise UsageError("array", f"shape {array.shape} of {array.dtype}", f"a last axis of {size} contiguous bytes")
    return array.view(f"V{size}")[..., 0]


def _type_of(array: NDArray[Any]) -> str:
    """The driver's name of an array's type.

    Raises:
        UsageError: The driver has no such type.
    """
    name = array.dtype.name
    if array.dtype.itemsize == 1:
        return "UINT8"
    found = _SIGNED.get(name, name.upper())
    if found not in DATA_TYPES:
        raise UsageError("array", f"{array.dtype} array", "one of a type that tensors have, or `data_type` given")
    return found
