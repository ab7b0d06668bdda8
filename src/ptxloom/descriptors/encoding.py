"""`cuTensorMapEncodeTiled`, `cuTensorMapEncodeIm2col`, `...Im2colWide`: parameters, every check of the driver on sm_90.

Features of sm_100 (types of 4 and 6 bits, swizzles of more than 16 bytes at once) are checked by the driver's
documentation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.descriptors.tensor_map import MOST_RANK, Im2col, TensorMap
from ptxloom.descriptors.tensor_types import (
    INTERLEAVES,
    L2_PROMOTIONS,
    NARROW_SINCE,
    OOB_FILLS,
    PADDED_ELEMENTS,
    PADDED_SWIZZLES,
    SWIZZLES,
    data_type,
    swizzle_bytes,
)
from ptxloom.diagnostics import UsageError, must_be, must_be_several
from ptxloom.isa.limits import SHARED_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.descriptors.tensor_types import DataType

_ADDRESS_BITS: Final = 57
_MOST_EXTENT: Final = 1 << 32
_STRIDE_END: Final = 1 << 40
_MOST_BOX: Final = 256
_MOST_STEP: Final = 8
_MOST_PIXELS: Final = 1024
_CORNER_SIGNS: Final = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}


def encode_tiled(  # noqa: PLR0917 - in the driver's order
    data_type: str,
    global_address: int,
    global_dim: Sequence[int],
    global_strides: Sequence[int],
    box_dim: Sequence[int],
    element_strides: Sequence[int] | None = None,
    interleave: str = "none",
    swizzle: str = "none",
    l2_promotion: str = "none",
    oob_fill: str = "none",
    *,
    architecture: int = NARROW_SINCE,
) -> TensorMap:
    """A tiled map, by the parameters of `cuTensorMapEncodeTiled`.

    Args:
        data_type: Such as "FLOAT16".
        global_address: The start of the tensor, a multiple of 16.
        global_dim: The number of elements, by dimension, the contiguous one first.
        global_strides: The strides in bytes, of all dimensions but the first.
        box_dim: The number of elements that a copy spans, by dimension.
        element_strides: The step between copied elements, by dimension; by default 1.
        interleave: "none", "16B" or "32B".
        swizzle: One of `SWIZZLES`, such as "none" or "128B".
        l2_promotion: "none", "64B", "128B" or "256B".
        oob_fill: "none" or "nan".
        architecture: The device's number, such as 90, which has no types of 4 and 6 bits and no swizzles with an atom.

    Returns:
        The map.

    Raises:
        UsageError: The driver would refuse it.

    Example:
        >>> made = encode_tiled("FLOAT16", 0x1000, (64, 32), (128,), (64, 8), swizzle="128B")
        >>> made.transaction_bytes, TensorMap.from_bytes(made.to_bytes()) == made
        (1024, True)
    """
    rank = _common(data_type, global_address, global_dim, global_strides, interleave, swizzle, l2_promotion, oob_fill)
    box = _numbers("box_dim", box_dim, rank, 1, _MOST_BOX)
    steps = _numbers(
        "element_strides", (1,) * rank if element_strides is None else element_strides, rank, 1, _MOST_STEP
    )
    _judge_architecture(data_type, swizzle, architecture)
    made = TensorMap(
        data_type, global_address, tuple(global_dim), tuple(global_strides), box, steps,
        interleave, swizzle, l2_promotion, oob_fill,
    )  # fmt: skip
    _judge_box(made, "box_dim", box[0])
    return made


def encode_im2col(  # noqa: PLR0917 - likewise
    data_type: str,
    global_address: int,
    global_dim: Sequence[int],
    global_strides: Sequence[int],
    pixel_box_lower_corner: Sequence[int],
    pixel_box_upper_corner: Sequence[int],
    channels_per_pixel: int,
    pixels_per_column: int,
    element_strides: Sequence[int] | None = None,
    interleave: str = "none",
    swizzle: str = "none",
    l2_promotion: str = "none",
    oob_fill: str = "none",
    *,
    architecture: int = NARROW_SINCE,
) -> TensorMap:
    """An im2col map, by the parameters of `cuTensorMapEncodeIm2col`.

    Args:
        data_type: Such as "FLOAT16".
        global_address: The start of the tensor, a multiple of 16.
        global_dim: The number of elements: C, W, then H and D if present, N.
        global_strides: The strides in bytes, of all dimensions but the first.
        pixel_box_lower_corner: The start of the bounding box: W, H, D.
        pixel_box_upper_corner: Its end, relative to the tensor's end: W, H, D.
        channels_per_pixel: The number of elements of C.
        pixels_per_column: The number of pixels.
        element_strides: The step between copied elements, by dimension; by default 1.
        interleave: "none", "16B" or "32B".
        swizzle: One of `SWIZZLES`, such as "none" or "128B".
        l2_promotion: "none", "64B", "128B" or "256B".
        oob_fill: "none" or "nan".
        architecture: The device's number, such as 90, which has no types of 4 and 6 bits and no swizzles with an atom.

    Returns:
        The map.

    Raises:
        UsageError: The driver would refuse it.
    """
    rank = _common(data_type, global_address, global_dim, global_strides, interleave, swizzle, l2_promotion, oob_fill)
    if rank not in _CORNER_SIGNS:
        raise UsageError("global_dim", tuple(global_dim), "of 3, 4 or 5 dimensions for im2col: C, W, H, D, N")
    sign = _CORNER_SIGNS[rank]
    lower = _numbers("pixel_box_lower_corner", pixel_box_lower_corner, rank - 2, -sign, sign - 1)
    upper = _numbers("pixel_box_upper_corner", pixel_box_upper_corner, rank - 2, -sign, sign - 1)
    (channels,) = _numbers("channels_per_pixel", (channels_per_pixel,), 1, 1, _MOST_BOX)
    (pixels,) = _numbers("pixels_per_column", (pixels_per_column,), 1, 1, _MOST_PIXELS)
    steps = _numbers(
        "element_strides", (1,) * rank if element_strides is None else element_strides, rank, 1, _MOST_STEP
    )
    first = 0 if interleave != "none" else 1
    for extent, low, high in zip(global_dim[first : first + rank - 2], lower, upper, strict=True):
        if _signed(extent + high - low) <= 0:
            legal = f"of a box that has pixels: {extent:,} of them, from {low} on, to {high} after the last, are zero"
            raise UsageError("pixel_box_upper_corner", upper, legal)
    _judge_architecture(data_type, swizzle, architecture)
    made = TensorMap(
        data_type, global_address, tuple(global_dim), tuple(global_strides), (), steps,
        interleave, swizzle, l2_promotion, oob_fill, Im2col(lower, upper, channels, pixels),
    )  # fmt: skip
    _judge_box(made, "channels_per_pixel", channels)
    return made


def encode_im2col_wide(  # noqa: PLR0917 - likewise
    data_type: str,
    global_address: int,
    global_dim: Sequence[int],
    global_strides: Sequence[int],
    pixel_box_lower_corner_width: int,
    pixel_box_upper_corner_width: int,
    channels_per_pixel: int,
    pixels_per_column: int,
    element_strides: Sequence[int] | None = None,
    interleave: str = "none",
    swizzle: str = "none",
    l2_promotion: str = "none",
    oob_fill: str = "none",
    *,
    architecture: int = NARROW_SINCE,
) -> TensorMap:
    """A map for `.im2col::w` and `.im2col::w::128`, by the parameters of `cuTensorMapEncodeIm2colWide`.

    An H200's driver encodes it as an im2col map with corners of 0 in H and D, whatever the mode (465 recorded),
    with the same number of bits for W. The documentation has the function for sm_100 only, with 16 bits for W: the
    driver's encoding there is unknown.

    Args:
        data_type: As in `encode_im2col`, like all parameters without a description here.
        global_address: Likewise.
        global_dim: Likewise.
        global_strides: Likewise.
        pixel_box_lower_corner_width: The start of the bounding box in W.
        pixel_box_upper_corner_width: Its end, relative to the tensor's end.
        channels_per_pixel: Likewise.
        pixels_per_column: The number of pixels; `.im2col::w::128` copies 128.
        element_strides: Likewise.
        interleave: Likewise.
        swizzle: Likewise.
        l2_promotion: Likewise.
        oob_fill: Likewise.
        architecture: Likewise.

    Returns:
        The map.

    Raises:
        UsageError: The driver would refuse it.
    """
    must_be_several("global_dim", global_dim, "numbers")
    still = (0,) * (len(global_dim) - 3)
    corners = (pixel_box_lower_corner_width, *still), (pixel_box_upper_corner_width, *still)
    tensor = data_type, global_address, global_dim, global_strides
    kinds = element_strides, interleave, swizzle, l2_promotion, oob_fill
    return encode_im2col(*tensor, *corners, channels_per_pixel, pixels_per_column, *kinds, architecture=architecture)


def packed_strides(kind: str, global_dim: Sequence[int], interleave: str = "none") -> tuple[int, ...]:
    """The strides of a tensor without gaps: `global_strides` of all dimensions but the first.

    Args:
        kind: The data type.
        global_dim: The number of elements, by dimension.
        interleave: "none", "16B" or "32B".

    Raises:
        UsageError: There is no such type or slice.

    Example:
        >>> packed_strides("FLOAT16", (64, 32, 8))
        (128, 4096)
    """
    _one_of("interleave", interleave, INTERLEAVES)
    strides = [8 * INTERLEAVES[interleave] or data_type(kind).bits]
    for extent in global_dim[:-1]:
        strides.append(strides[-1] * extent)
    return tuple(stride // 8 for stride in strides[1:])


def encode_again(made: TensorMap) -> TensorMap:
    """The driver's encoding of a map's own parameters.

    Raises:
        UsageError: It would refuse them.
    """
    kinds = made.element_strides, made.interleave, made.swizzle, made.l2_promotion, made.oob_fill
    tensor = made.data_type, made.global_address, made.global_dim, made.global_strides
    if made.im2col is None:
        return encode_tiled(*tensor, made.box_dim, *kinds)
    box = made.im2col
    corners = box.pixel_box_lower_corner, box.pixel_box_upper_corner
    return encode_im2col(*tensor, *corners, box.channels_per_pixel, box.pixels_per_column, *kinds)


def _common(  # noqa: PLR0917 - likewise
    kind: str, address: int, dim: Sequence[int], strides: Sequence[int],
    interleave: str, swizzle: str, l2_promotion: str, oob_fill: str,
) -> int:  # fmt: skip
    """Check the common parameters; returns the rank."""
    found = data_type(kind)
    _one_of("interleave", interleave, INTERLEAVES)
    _one_of("swizzle", swizzle, SWIZZLES)
    _one_of("l2_promotion", l2_promotion, L2_PROMOTIONS)
    _one_of("oob_fill", oob_fill, OOB_FILLS)
    unit = 32 if interleave == "32B" else found.unit_bytes
    must_be(int, "global_address", address, "an address")
    if address % unit or not 0 <= address < 1 << _ADDRESS_BITS:
        raise UsageError("global_address", hex(address), f"a multiple of {unit}, of at most {_ADDRESS_BITS} bits")
    must_be_several("global_dim", dim, "numbers")
    rank = len(dim)
    if not 1 <= rank <= MOST_RANK:
        raise UsageError("global_dim", tuple(dim), f"of 1 to {MOST_RANK} dimensions")
    if interleave != "none" and rank < 3:
        raise UsageError(
            "interleave", interleave, f"none for a tensor of {rank} dimensions; interleaved ones have 3 or more"
        )
    _numbers("global_dim", dim, rank, 1, _MOST_EXTENT)
    for stride in _numbers("global_strides", strides, rank - 1, 0, _STRIDE_END - 1):
        if stride % unit:
            raise UsageError("global_strides", tuple(strides), f"multiples of {unit}, in bytes")
    if found.is_narrow:
        _judge_narrow(found, dim[0], interleave, swizzle)
    if oob_fill == "nan" and not found.is_float:
        raise UsageError("oob_fill", oob_fill, f"none for {kind}: only floating-point types have NaN")
    return rank


def _judge_architecture(kind: str, swizzle: str, architecture: int) -> None:
    """Refuse features of sm_100 on older devices."""
    if architecture < NARROW_SINCE:
        if data_type(kind).is_narrow:
            raise UsageError("data_type", kind, f"one that sm_{architecture} has; those of 4 and 6 bits are sm_100's")
        if "ATOM" in swizzle:
            raise UsageError("swizzle", swizzle, f"one that sm_{architecture} has; those with an atom are sm_100's")


def _judge_narrow(kind: DataType, extent: int, interleave: str, swizzle: str) -> None:
    """Check the requirements of types of 4 and 6 bits."""
    several = PADDED_ELEMENTS if kind.is_padded else 2
    if extent % several:
        raise UsageError("global_dim", extent, f"a multiple of {several} in dimension 0 for {kind.name}")
    if kind.bits == 6 and interleave != "none":
        raise UsageError("interleave", interleave, f"none for {kind.name}")
    legal = PADDED_SWIZZLES.get(kind.name, SWIZZLES)
    if swizzle not in legal:
        raise UsageError("swizzle", swizzle, f"one of {', '.join(legal)} for {kind.name}")


def _judge_box(made: TensorMap, argument: str, inner: int) -> None:
    """Check the size of the box: of its rows, and in total."""
    of = made.type
    if of.is_padded and inner != PADDED_ELEMENTS:
        raise UsageError(argument, inner, f"{PADDED_ELEMENTS} elements of {of.name}")
    if inner * of.box_bits % 128:
        raise UsageError(argument, inner, f"a multiple of {128 // of.box_bits}: 16 bytes of {of.name}")
    span = swizzle_bytes(made.swizzle)
    if span and made.interleave == "none" and inner * of.box_bits > 8 * span:
        most = 8 * span // of.box_bits
        raise UsageError(
            argument, inner, f"at most {most}: {most} elements of {of.name} are the {span} bytes of the swizzle"
        )
    if made.encoded_box_bytes > SHARED_BYTES:
        whole = "box_dim" if made.im2col is None else "pixels_per_column"
        value = made.box_dim if made.im2col is None else made.im2col.pixels_per_column
        raise UsageError(whole, value, f"of at most {SHARED_BYTES:,} bytes, the size of shared memory; here are "
                         f"{made.encoded_box_bytes:,}")  # fmt: skip


def _signed(number: int) -> int:
    """A number as the driver's signed 32-bit integer."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def _one_of(argument: str, value: str, legal: Iterable[str]) -> None:
    if value not in tuple(legal):
        raise UsageError(argument, value, f"one of {', '.join(legal)}")


def _numbers(argument: str, values: Sequence[int], count: int, least: int, most: int) -> tuple[int, ...]:
    """`count` numbers within bounds."""
    must_be_several(argument, values, "numbers")
    if len(values) != count:
        raise UsageError(argument, tuple(values), f"{count} number{'s' * (count != 1)} for a tensor of this rank")
    for value in values:
        must_be(int, argument, value, "whole numbers")
        if not least <= value <= most:
            shown = value if len(values) == 1 else tuple(values)
            raise UsageError(argument, shown, f"from {least:,} to {most:,}" + " each" * (len(values) > 1))
    return tuple(values)
