"""Memory for initcheck: marks of written bytes, and the poison of registers."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import TYPE_CHECKING, Any

from ptxloom.isa.limits import LANES
from ptxloom.machine.analysis.definite_assignment import unsure_registers
from ptxloom.machine.launch.shadows.shadow import ShadowMaker, warps_of
from ptxloom.machine.native import language
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.initcheck import slow_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.machine.memory.arena import Arena
    from ptxloom.machine.memory.piece import Piece
    from ptxloom.machine.program.model import Program


class InitShadow(ShadowMaker):
    """Initcheck's state: for shared and local memory and registers, and for initially unwritten global memory."""

    def __init__(
        self, arena: Arena, program: Program, checks: frozenset[str], unwritten: Sequence[NDArray[Any]]
    ) -> None:
        self._arena = arena
        self._registers = program.register_bytes
        self._near, self._far = "initcheck" in checks, "initcheck:global" in checks
        self._poison = poison_bytes(program, checks)
        self._pieces: list[tuple[int, int, int]] = []  # start, end, marks
        self.warp_bytes = self._poison * (1 + state.SOURCE_BYTES)
        for array in unwritten if self._far else ():
            self._add(array)

    def start(self, launch: Any) -> None:
        """Set the place of registers' poison for native code."""
        launch.poison = state.REGISTERS + self._registers
        launch.poison_bytes, launch.unsure = self._poison, self._registers
        launch.watches_global = int(self._far)

    def add_heap(self, region: NDArray[Any], written: Iterable[Piece]) -> None:
        """Memory from `malloc` is unwritten, except for blocks of earlier launches."""
        if self._far:
            self._add(region, written)

    def mark(self, spans: NDArray[np.uint64]) -> None:
        """Attach marks to the spans that lie in a piece of unwritten memory."""
        for row in spans:
            for start, end, marks in self._pieces:
                if start <= row[0] and row[1] <= end and row[0] < row[1]:
                    row[3] = marks + int(row[0]) - start

    def renew(self, address: int, size: int) -> None:
        """Mark the bytes as unwritten."""
        for start, end, marks in self._pieces:
            if start <= address < end:
                ctypes.memset(marks + address - start, slow_path.UNWRITTEN_BYTE, size)

    def cluster(self, launch: Any, ctas: Sequence[int]) -> None:
        """Allocate the marks of shared and local memory."""
        if not self._near:
            return
        take = partial(self._arena.take, what="initcheck's marks of shared and local memory")
        for at in ctas:
            cta: Any = language.structure(state.Cta).from_address(at)
            cta.written = take(launch.shared_bytes + 1)
            for warp in warps_of(launch, cta):
                warp.written = cta.written
                if launch.local_bytes:
                    warp.local_written = _unwritten(take, LANES * launch.local_bytes)

    def _add(self, array: NDArray[Any], written: Iterable[Piece] = ()) -> None:
        """Add a piece of global memory, of which parts are written."""
        start = array.ctypes.data
        marks = _unwritten(partial(self._arena.take, what="initcheck's marks of global memory"), array.nbytes + 1)
        self._pieces.append((start, start + array.nbytes, marks))
        for part in written:
            ctypes.memset(marks + part.start - start, slow_path.WRITTEN, part.size)


def poison_bytes(program: Program, checks: frozenset[str]) -> int:
    """The poison of a warp's registers, in bytes; that of unsure ones comes last."""
    return program.register_bytes + (unsure_registers(program).bytes if "initcheck" in checks else 0)


def _unwritten(take: Callable[[int], int], size: int) -> int:
    """Allocate the marks of unwritten memory."""
    at = take(size)
    ctypes.memset(at, slow_path.UNWRITTEN_BYTE, size)
    return at
