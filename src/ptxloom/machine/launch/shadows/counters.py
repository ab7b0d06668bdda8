"""Memory for the counters of a profile and the records of a trace."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ptxloom.machine.launch.shadows.shadow import ShadowMaker
from ptxloom.machine.memory.address_map import shared_arrays

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.machine.memory.arena import Arena
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.profile import Countable, Profile
    from ptxloom.machine.results.recording import Recording


class ProfileShadow(ShadowMaker):
    """The counters of each worker."""

    def __init__(self, arena: Arena, countable: Countable) -> None:
        self._arena = arena
        self._countable = countable
        self._areas: dict[int, NDArray[np.uint8]] = {}

    def worker(self, address: int) -> None:
        """Give each worker its own counters."""
        self._areas[address] = self._countable.make_room(self._arena)

    def warp(self, warp: Any) -> None:
        """The warps of a worker share its counters."""
        counters = self._countable.counters
        warp.profile = self._areas[warp.worker].ctypes.data
        warp.moved, warp.moved_counters = warp.profile + counters.moved, 2 * counters.sites

    def profile(self, program: Program, shared_bytes: int) -> Profile:
        """The profile of the run."""
        locate = partial(shared_arrays, program, shared_bytes)
        return self._countable.profile(program.entry.name, self._areas.values(), locate)


class TraceShadow(ShadowMaker):
    """The records of a launch, for its caller to read."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def warp(self, warp: Any) -> None:
        """All warps write into the same buffers."""
        warp.trace, warp.trace_sites = self._recording.address, self._recording.sites
