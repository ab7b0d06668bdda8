"""What packed bytes may be."""

from __future__ import annotations


class DamagedError(ValueError):
    """Packed bytes violate their format, are cut off, or unpack to more than they announced."""


def part(data: bytes, at: int, count: int) -> bytes:
    """Some bytes of a packed text.

    Raises:
        DamagedError: They are not all there.
    """
    if not 0 <= count <= len(data) - at:
        raise DamagedError
    return data[at : at + count]


def number(data: bytes, at: int, count: int) -> int:
    """The number that some bytes are, the lowest first."""
    return int.from_bytes(part(data, at, count), "little")


def repeat(out: bytearray, back: int, count: int, limit: int) -> None:
    """Append a copy of earlier bytes; it may overlap its own output.

    Raises:
        DamagedError: It begins before the beginning, or there would be more than `limit`.
    """
    if not 0 < back <= len(out) or count > limit - len(out):
        raise DamagedError
    start = len(out) - back
    while count:  # what there is from `start` on is twice as long each time, and goes on as it began
        piece = out[start : start + count]
        out += piece
        count -= len(piece)
