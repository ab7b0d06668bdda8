"""Deferred canonicalisations of NaNs (`hot/nans.py`), where the contents of their slots are used or left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.machine.hot.moves import Moves
    from ptxloom.machine.hot.nans import Nans


class Deferred:
    """Canonicalisations that are due.

    Attributes:
        edges: Blocks between an access and where the second form continues.
    """

    def __init__(self, nans: Nans, moves: Moves) -> None:
        self._nans = nans
        self._moves = moves
        self.edges: list[str] = []

    def settled(self, several: Iterable[int]) -> Iterator[str]:
        """Canonicalise what slots contain at some bytes of the register file."""
        for at in several:
            place = self._moves.value()
            yield f"{place} = {self._moves.in_slot(at)}"
            yield from self._nans.settled(at, place)

    def edge(self, other: str) -> str:
        """The label that enters the second form, at a block, after the canonicalisations that are due."""
        several = self._nans.open()
        if not several:
            return other
        label = self._moves.label()
        self.edges += [f"{label}:", *self.settled(several), f"br label %{other}"]
        return label
