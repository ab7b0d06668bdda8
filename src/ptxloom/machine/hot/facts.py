"""What rewriting code has to know of a kernel beside the code."""

from __future__ import annotations

from typing import NamedTuple


class Facts(NamedTuple):
    """Facts that the code does not contain.

    Attributes:
        shared: Where registers lie that lanes read of each other: these are always kept.
        strong: The sites of loads and stores that others look at while the kernel runs: each is made as it stands.
    """

    shared: frozenset[int]
    strong: frozenset[int]
