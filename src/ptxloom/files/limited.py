"""Reads files that ptxloom finds by itself, or that anyone may have made: regular ones, up to a size."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, Final

from ptxloom.files.errors import OutOfReach
from ptxloom.files.names import is_file
from ptxloom.files.regular import opened

if TYPE_CHECKING:
    from pathlib import Path

MOST_SETTINGS: Final = 1 << 20
"""The most bytes of a hand-written file: settings, a launch file, patterns of files."""
MOST_BYTES: Final = 1 << 32
"""The most bytes of a compiler's output file."""
MOST_PIPED: Final = 1 << 28
"""The most bytes of a named source that may have no end: standard input, a pipe or a device."""
_PIECE: Final = 1 << 20


def content(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file; links are followed.

    Raises:
        OutOfReach: It is a folder, a pipe, a socket or a device, or holds more than `most_bytes`.
        OSError: It does not exist, or may not be read.
        ValueError: No file can have this name.
    """
    with opened(path) as file:
        return content_of(file, most_bytes, os.fstat(file.fileno()).st_size)


def named(path: Path, most_bytes: int) -> bytes:
    """The bytes of a file that a user has named: also of a pipe or a device; otherwise raises as `content` does."""
    if is_file(path):
        return content(path, most_bytes)
    with path.open("rb") as file:
        return content_of(file, min(most_bytes, MOST_PIPED))


def content_of(file: BinaryIO, most_bytes: int, expected: int = 0) -> bytes:
    """The remaining bytes of an open file, a pipe or a device.

    Args:
        file: Open for reading.
        most_bytes: The most bytes that it may hold.
        expected: The expected number.

    Raises:
        OutOfReach: It holds more than `most_bytes`, or more than fits in memory.
        OSError: It may not be read.
    """
    pieces: list[bytes] = []
    room = most_bytes
    try:
        while piece := file.read(min(room, max(expected, _PIECE)) + 1):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                raise OutOfReach(f"it holds more than {most_bytes:,} bytes, the limit")
        return b"".join(pieces)  # no copy for a single piece
    except MemoryError:
        pieces.clear()
        raise OutOfReach("it does not fit into memory") from None
