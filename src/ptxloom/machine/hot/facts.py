"""Facts about a kernel that rewriting needs and the code does not contain."""

from __future__ import annotations

from typing import NamedTuple


class Facts(NamedTuple):
    """Facts that the code does not contain.

    Attributes:
        shared: The places of registers that lanes read from each other: these are always live.
        strong: The sites of loads and stores that other threads may observe while the kernel runs: these are not
            changed.
    """

    shared: frozenset[int]
    strong: frozenset[int]
