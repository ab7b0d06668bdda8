"""Reading files that ptxloom finds by itself, or that anybody may have made: regular ones, up to a size."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, BinaryIO, Final

from ptxloom.files.errors import OutOfReach
from ptxloom.files.names import is_file
from ptxloom.files.regular import opened

if TYPE_CHECKING:
    from pathlib import Path

MOST_SETTINGS: Final = 1 << 20
"""Bytes of a file that people write by hand: settings, a launch file, patterns of files."""
MOST_BYTES: Final = 1 << 32
"""Bytes of a file that compilers write."""
MOST_PIPED: Final = 1 << 28
"""Bytes of what is not a regular file and may have no end: standard input, a pipe or a device that was named."""
_PIECE: Final = 1 << 20


def content(path: Path, most_bytes: int) -> bytes:
    """The bytes of a regular file; links are followed.

    Raises:
        OutOfReach: It is a folder, a pipe, a socket or a device, or holds more than `most_bytes`.
        OSError: It is not there, or may not be read.
        ValueError: No file can have this name.
    """
    with opened(path) as file:
        return content_of(file, most_bytes, os.fstat(file.fileno()).st_size)


def named(path: Path, most_bytes: int) -> bytes:
    """The bytes of a file that a user has named: it may be a pipe or a device, too; else raises as `content` does."""
    if is_file(path):
        return content(path, most_bytes)
    with path.open("rb") as file:
        return content_of(file, min(most_bytes, MOST_PIPED))


def content_of(file: BinaryIO, most_bytes: int, expected: int = 0) -> bytes:
    """What is left of an open file, a pipe or a device.

    Args:
        file: Open for reading.
        most_bytes: How many bytes it may hold.
        expected: How many it should.

    Raises:
        OutOfReach: It holds more than `most_bytes`, or more than memory does.
        OSError: It may not be read.
    """
    pieces: list[bytes] = []
    room = most_bytes
    try:
        while piece := file.read(min(room, max(expected, _PIECE)) + 1):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                raise OutOfReach(f"it holds more than {most_bytes:,} bytes, which is the most that is read")
        return b"".join(pieces)  # of one, no copy is made
    except MemoryError:
        pieces.clear()
        raise OutOfReach("it does not fit into memory") from None
