"""Memory with a name."""

from __future__ import annotations

from typing import NamedTuple


class Piece(NamedTuple):
    """A piece of memory with a name: `size` bytes from `start`."""

    name: str
    start: int
    size: int
