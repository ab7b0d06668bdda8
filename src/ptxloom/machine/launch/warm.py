"""Warm launches: the state of one that has ended is put back to how it began, for the next one like it."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Final

from ptxloom.machine.launch.grid import Grid
from ptxloom.machine.launch.worker import Worker
from ptxloom.machine.memory.arena import STATE, put_back
from ptxloom.machine.memory.arguments import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.launch.launch_limits import LaunchFacts
    from ptxloom.machine.launch.launch_state import LaunchState
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.results.outcome import LaunchResult

_MOST_BYTES: Final = 1 << 19  # of state that is restored: making more of it anew takes no longer
_MOST_KEPT: Final = 4  # states of a kernel
_MOST_MET: Final = 64  # facts that it remembers
_NOTHING: Final = Memory()


class Warm:
    """A launch made ready, and the bytes with which its state in memory begins.

    Launches with the same `LaunchFacts` differ in parameters and in the memory that they may touch, and in nothing
    else, as long as no tool keeps notes, nothing is allocated or printed, and no texture is bound.

    Attributes:
        launch: Its state.
        first: The worker that this thread is.
    """

    def __init__(self, launch: LaunchState, first: Worker) -> None:
        """Remember how a launch begins that has not begun yet."""
        self.launch = launch
        self.first = first
        self._image = launch.arena.image()
        self._nbytes = launch.arena.taken
        self._codes = launch.native.full, launch.native.masked
        self._params: int = launch.native.params
        self._spans: int = launch.native.spans
        self._seen = launch.memory.snapshot.table, launch.memory.spans
        self._table: bytes = launch.table()

    @staticmethod
    def suits(launch: LaunchState) -> bool:
        """Whether a launch is of those that can be put back."""
        plain = launch.is_plain and launch.heap is None and not launch.shadows and not launch.memory.images
        return plain and launch.arena.taken <= _MOST_BYTES

    def begin(self, params: bytes, memory: Memory, budget: Budget) -> bool:
        """Become another launch; False if it is not like this one, or lacks the memory for it."""
        launch = self.launch
        if memory.images or launch.variables.heap is not None or self._nbytes > budget.limit - budget.taken:
            return False
        launch.touch(memory)
        device, spans = self._seen
        if memory.snapshot.table is not device or memory.spans != spans:
            table = launch.table()
            if len(table) != len(self._table):
                return False
            self._seen, self._table = (memory.snapshot.table, memory.spans), table
        budget.charge(STATE, self._nbytes)
        launch.budget = launch.arena.budget = budget
        put_back(self._image)
        ctypes.memmove(self._params, params, len(params))
        ctypes.memmove(self._spans, self._table, len(self._table))
        return True

    def end(self) -> bool:
        """Release what belongs to the launch; False if the launch has changed more than can be put back."""
        launch = self.launch
        launch.touch(_NOTHING)
        return launch.arena.taken == self._nbytes and self._codes == (launch.native.full, launch.native.masked)


class WarmLaunches:
    """What a kernel keeps of its launches: the state of one for each of the last `LaunchFacts` that came twice."""

    def __init__(self) -> None:
        self._met: set[LaunchFacts] = set()
        self._kept: dict[LaunchFacts, Warm] = {}

    def run(
        self,
        facts: LaunchFacts,
        params: bytes,
        memory: Memory,
        budget: Budget,
        *,
        make: Callable[[], LaunchState],
        result: Callable[[Grid], LaunchResult],
    ) -> LaunchResult:
        """Run a launch, a warm one if one like it is kept and no other thread has taken it.

        Args:
            facts: Its properties, except for parameters and memory.
            params: Its parameters.
            memory: The memory that it may touch.
            budget: Pays for it.
            make: Makes its state, if no state is kept.
            result: Runs it.
        """
        kept = self._kept
        warm = kept.pop(facts, None)
        if warm is not None and warm.begin(params, memory, budget):
            told = result(Grid(warm.launch, warm.first))
        else:
            launch = make()
            first = Worker(launch, 0)
            warm = Warm(launch, first) if self._comes_again(facts) and Warm.suits(launch) else None
            told = result(Grid(launch, first))
        if warm is not None and warm.end():
            if len(kept) >= _MOST_KEPT:
                kept.clear()
            kept[facts] = warm
        return told

    def forget(self) -> None:
        """Reuse no state from before, nor that of launches that still run: it names code for which there is better."""
        self._kept = {}

    def _comes_again(self, facts: LaunchFacts) -> bool:
        """Whether there was a launch like this one before: only then is state kept."""
        if facts in self._met:
            return True
        if len(self._met) >= _MOST_MET:
            self._met.clear()
        self._met.add(facts)
        return False
