"""Shared memory at a point of a run, as JSON."""

from __future__ import annotations

from typing import Literal

from ptxloom.records import Natural, Record


class PieceRecord(Record):
    """A bank of a line, and the elements in it."""

    address: Natural
    bank: Natural
    array: str | None
    kind: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    regular: bool
    values: tuple[int | float | str, ...]


class SharedRecord(Record):
    """Shared memory at a point of a run."""

    version: Literal[1]
    kernel: str
    demangled: str
    moment: str
    cta: tuple[int, ...]
    start: Natural
    end: Natural
    type: str
    words: tuple[PieceRecord, ...]
