"""The shadow memory of instruments: their state beside the memory that they watch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxloom.machine.native import language
from ptxloom.machine.runtime import state

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.machine.memory.piece import Piece


class ShadowMaker:
    """Allocates memory for one instrument from the launch's arena; the base class allocates nothing.

    Attributes:
        warp_bytes: The memory that it needs per warp, after the registers.
    """

    warp_bytes = 0

    def start(self, launch: Any) -> None:
        """The launch (`state.Launch`) has its shape; nothing else is there yet."""

    def add_heap(self, region: NDArray[Any], written: Iterable[Piece]) -> None:
        """The device heap is part of global memory; blocks of it have come from launches before."""

    def mark(self, spans: NDArray[np.uint64]) -> None:
        """The table of global memory (`spans.Span`) is about to be published."""

    def renew(self, address: int, size: int) -> None:
        """Bytes of the heap have a new owner from now on."""

    def worker(self, address: int) -> None:
        """A worker (`state.Worker`) is made."""

    def warp(self, warp: Any) -> None:
        """A warp (`state.Warp`) of it is made."""

    def cluster(self, launch: Any, ctas: Sequence[int]) -> None:
        """The CTAs of a cluster are made (the addresses of each `state.Cta`, by rank)."""

    def limits(self) -> tuple[str, ...]:
        """A sentence for each thing that did not fit, once the launch is over."""
        return ()


def warps_of(launch: Any, cta: Any) -> Iterator[Any]:
    """The warps of a CTA, as native code reads them."""
    for index in range(launch.warps):
        yield language.structure(state.Warp).from_address(cta.warps + index * launch.warp_bytes)
