"""`cuTensorMapEncode...`, implemented with `ptxloom.descriptors`."""

from __future__ import annotations

import struct
from typing import Any, Final

from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.protocol import TENSOR_MAP
from ptxloom.descriptors import encode_im2col, encode_tiled
from ptxloom.descriptors.tensor_map import MOST_RANK
from ptxloom.descriptors.tensor_types import DATA_TYPES, INTERLEAVES, L2_PROMOTIONS, OOB_FILLS, SWIZZLES
from ptxloom.diagnostics import UsageError

_TYPES: Final = tuple(DATA_TYPES)  # in the order of `CUtensorMapDataType`
_INTERLEAVES: Final = tuple(INTERLEAVES)


def encoded(data: bytes, architecture: int) -> bytes:
    """The map for a request (`libcuda/arrays/tensor_maps.c`), for an architecture such as 90.

    Raises:
        Refused: The map is not valid.
    """
    numbers: tuple[int, ...] = TENSOR_MAP.unpack_from(data)
    im2col, type_, rank, address, interleave, swizzle, promotion, fill, channels, pixels = numbers
    count = 5 * rank - 5 if im2col else 4 * rank - 1  # fields that depend on the rank
    if not (3 if im2col else 1) <= rank <= MOST_RANK or len(data) != TENSOR_MAP.size + 8 * count:
        raise Refused(CudaError.INVALID_VALUE)
    lists: tuple[int, ...] = struct.unpack_from(f"<{count}q", data, TENSOR_MAP.size)
    rest = iter(lists)

    def taken(count: int) -> list[int]:
        return [next(rest) for _ in range(count)]

    try:
        if min(interleave, swizzle, promotion, fill, type_) < 0:
            raise Refused(CudaError.INVALID_VALUE)
        kinds: dict[str, Any] = {
            "architecture": architecture,
            "interleave": _INTERLEAVES[interleave],
            "swizzle": SWIZZLES[swizzle],
            "l2_promotion": L2_PROMOTIONS[promotion],
            "oob_fill": OOB_FILLS[fill],
        }
        head = (_TYPES[type_], address, taken(rank), taken(rank - 1))
        if im2col:
            lower, upper = taken(rank - 2), taken(rank - 2)
            return encode_im2col(*head, lower, upper, channels, pixels, taken(rank), **kinds).to_bytes()
        return encode_tiled(*head, taken(rank), taken(rank), **kinds).to_bytes()
    except (UsageError, IndexError) as error:
        raise Refused(CudaError.INVALID_VALUE, f"ptxloom: tensor map: {error}") from None
