"""From the bytes of an addressed row to its elements: the packed source formats, PTX ISA 9.7.14.5.15."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ptxloom.isa.types import ElementType

    Bytes = npt.NDArray[np.uint8]


def unpack(rows: Bytes, source: ElementType, count: int) -> Bytes:
    """Take packed elements out of rows, each into a byte of its own.

    Element i is bits [i * bits, (i + 1) * bits) of its row, little-endian; what follows the last is padding. A
    signed element is extended by its sign, any other by zeros.

    Args:
        rows: (..., bytes of a row) uint8.
        source: The packed type; its elements have fewer than 8 bits.
        count: Elements in a row.

    Returns:
        (..., count) uint8.
    """
    bits = source.bits
    elements = np.empty((*rows.shape[:-1], count), np.uint8)
    for i in range(count):
        byte, bit = divmod(i * bits, 8)
        value = rows[..., byte] >> np.uint8(bit)
        if bit + bits > 8:
            value |= rows[..., byte + 1] << np.uint8(8 - bit)
        value &= np.uint8((1 << bits) - 1)
        elements[..., i] = value
    if source.signed:
        sign = np.uint8(1 << (bits - 1))
        elements ^= sign
        elements -= sign
    return elements
