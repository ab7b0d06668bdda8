"""Checked reads of packed bytes."""

from __future__ import annotations


class DamagedError(ValueError):
    """Packed bytes violate their format, are truncated, or unpack to more than they announced."""


def part(data: bytes, at: int, count: int) -> bytes:
    """Some bytes of a packed text.

    Raises:
        DamagedError: They are truncated.
    """
    if not 0 <= count <= len(data) - at:
        raise DamagedError
    return data[at : at + count]


def number(data: bytes, at: int, count: int) -> int:
    """A little-endian number."""
    return int.from_bytes(part(data, at, count), "little")


def repeat(out: bytearray, back: int, count: int, limit: int) -> None:
    """Append a copy of earlier bytes; it may overlap its own output.

    Raises:
        DamagedError: It starts before the beginning, or the output would exceed `limit`.
    """
    if not 0 < back <= len(out) or count > limit - len(out):
        raise DamagedError
    start = len(out) - back
    while count:  # the repeated part doubles each time
        piece = out[start : start + count]
        out += piece
        count -= len(piece)
