"""LZ4's block format, as in fatbins (`lz4_Block_format.md` of the LZ4 project)."""

from __future__ import annotations

from typing import Final

from ptxloom.files.packed.damage import DamagedError, number, part, repeat

_LEAST_MATCH: Final = 4
_GOES_ON: Final = 15  # a length with this value continues in the bytes that follow


def decompress(data: bytes, size: int) -> bytes:
    """Unpack a block.

    Args:
        data: The block.
        size: The most bytes that it may unpack to.

    Raises:
        DamagedError: It is truncated, refers to bytes before its beginning, or unpacks to more.
    """
    out = bytearray()
    at = 0
    while at < len(data):
        token = data[at]
        literals, at = _length(data, at + 1, token >> 4)
        if literals > size - len(out):
            raise DamagedError
        out += part(data, at, literals)
        at += literals
        if at == len(data):  # the last sequence has no match
            break
        back = number(data, at, 2)
        count, at = _length(data, at + 2, token & 15)
        repeat(out, back, count + _LEAST_MATCH, size)
    return bytes(out)


def _length(data: bytes, at: int, length: int) -> tuple[int, int]:
    """A length whose first four bits are known, and the end of its bytes."""
    more = 255 if length == _GOES_ON else 0
    while more == 255:
        more = number(data, at, 1)
        length += more
        at += 1
    return length, at
