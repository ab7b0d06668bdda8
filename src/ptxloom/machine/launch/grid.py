"""Runs a grid: threads run its clusters, and their results are merged."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, TypeAlias

from ptxloom.machine.launch.launch_state import LEAKS
from ptxloom.machine.launch.worker import Worker
from ptxloom.machine.native import interrupts
from ptxloom.machine.results.hazard import Hazards, joined
from ptxloom.machine.results.outcome import LaunchError, LaunchResult
from ptxloom.machine.runtime import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ptxloom.machine.launch.launch_state import LaunchState
    from ptxloom.machine.results.profile import Profile

PROGRESS_SECONDS = 0.25  # between two calls of `progress`
HELPER = "ptxloom helper"  # what the names of threads that run CTAs beside the first one begin with
_WORTH_SECONDS = 1e-3  # of work left are worth a thread, which takes a tenth to start
Progress: TypeAlias = "Callable[[int, int], None]"  # CTAs started, of how many


class _Crew:
    """The threads that help the first one: `threads` in all, or one for each core."""

    def __init__(self, grid: Grid, threads: int | None, share: int, deadline: float | None) -> None:
        self._grid = grid
        self._threads = threads
        self._share = share  # bytes that a worker takes
        self._deadline = deadline
        self._helpers: list[threading.Thread] = []

    def start(self) -> None:
        """Start as many threads as memory allows."""
        launch, budget = self._grid.launch, self._grid.launch.budget
        most = min(self._threads or default_threads(), launch.native.total)
        room = (budget.limit - budget.taken) // self._share
        more = [Worker(launch, number) for number in range(1, min(most, 1 + room))]
        self._grid.workers += more
        self._helpers = [
            threading.Thread(target=w.run, args=(self._deadline,), name=f"{HELPER} {n}", daemon=True)
            for n, w in enumerate(more, 1)
        ]
        for helper in self._helpers:
            helper.start()

    def look(self) -> Generator[int]:
        """Yields the rounds until the first worker's next check; starts the other threads when much work is left."""
        native = self._grid.launch.native
        start = time.perf_counter()
        rounds = 1
        while True:
            yield rounds
            started = max(1, native.next)
            left = (native.total - started) / started * (time.perf_counter() - start)
            if left > _WORTH_SECONDS:
                break
            rounds = min(2 * rounds, turns.SLICE_ROUNDS)
        self.start()

    def join(self) -> None:
        """Wait for them."""
        for helper in self._helpers:
            while helper.is_alive():
                helper.join(0.05)
                interrupts.check()

    def end(self) -> None:
        """Stop those that still run."""
        if any(helper.is_alive() for helper in self._helpers):
            self._grid.launch.native.stop = 1
            for helper in self._helpers:
                helper.join()


class Grid:
    """A launch and the threads that run it, of which the first is the caller's."""

    def __init__(self, launch: LaunchState, first: Worker) -> None:
        self.launch = launch
        self.workers = [first]
        self.instructions = 0
        self.hazards = Hazards()

    def result(self, threads: int | None, deadline: float | None, progress: Progress | None = None) -> LaunchResult:
        """Run the grid as `run` does, and collect the result."""
        launch = self.launch
        recording = launch.recording
        try:
            self.run(threads, deadline, progress)
        except LaunchError as error:
            error.trace = recording.records(launch.atlas) if recording else ()
            error.provenance = launch.provenance.record() if launch.provenance else None
            raise
        finally:
            profiled = None if launch.failure else self._profile()
            self.workers.clear()
            launch.failure = None  # its traceback leads back here: memory goes now, not when it is collected
        records = recording.records(launch.atlas) if recording else ()
        printed = launch.printed
        followed = launch.provenance.record() if launch.provenance else None
        return LaunchResult(self.instructions, self.hazards, str(printed), profiled, records, printed.cut, followed)

    def run(self, threads: int | None, deadline: float | None, progress: Progress | None = None) -> None:
        """Run the grid to its end, or to a time on `time.monotonic`.

        Without a number of threads, further threads start once there is a millisecond of work for them. `progress` is
        called periodically with the number of CTAs started and the total.

        Raises:
            LaunchError: The kernel was ended by a fault, a deadlock or the time limit.
        """
        if progress is None:
            self._work(threads, deadline)
            return
        ended = threading.Event()
        teller = threading.Thread(target=self._tell, args=(progress, ended), daemon=True)
        teller.start()
        try:
            self._work(threads, deadline)
        finally:
            ended.set()
            teller.join()

    def _tell(self, progress: Progress, ended: threading.Event) -> None:
        launch = self.launch
        while not ended.wait(PROGRESS_SECONDS):
            started = min(int(launch.native.next), int(launch.native.total))
            try:
                progress(started * launch.members, int(launch.native.total) * launch.members)
            except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that launched
                launch.fail(error)
                return

    def _work(self, threads: int | None, deadline: float | None) -> None:
        first = self.workers[0]
        crew = _Crew(self, threads, first.nbytes, deadline)
        if threads is not None:
            crew.start()
        try:
            if threads is None and self.launch.native.total > 1:
                first.run(deadline, crew.look())
            else:
                first.run(deadline)
            crew.join()
        finally:
            crew.end()
        self._conclude()

    def _conclude(self) -> None:
        """Collect the workers' results, and raise the error that ended them.

        Raises:
            LaunchError: The kernel was ended.
        """
        launch, workers = self.launch, self.workers
        self.instructions = sum(w.state.instructions for w in workers)
        looks = LEAKS in launch.checks and not launch.failure and launch.is_last
        leaks = launch.reporter.leaks(launch.heap) if launch.heap and looks else ()
        self.hazards = joined([*launch.noted, *(h for w in workers for h in w.hazards()), *leaks])
        missed = 0
        for worker in workers:
            if worker.state.event_count >= worker.state.event_limit:
                missed |= int.from_bytes(bytes(worker.state.missed), sys.byteorder)
        self.hazards.more = missed.bit_count()
        self.hazards.limits = tuple(text for shadow in launch.shadows for text in shadow.limits())
        failure = launch.failure
        if isinstance(failure, LaunchError):
            ends = {h.span.start for h in failure.hazards if h.tool == "memcheck"}
            told = ("initcheck.", "memcheck.overrun")  # what ended it says as much of its instruction
            before = (h for h in self.hazards if not h.rule.startswith(told) or h.span.start not in ends)
            raise LaunchError(failure.reason, (*failure.hazards, *before))
        try:
            if failure is not None:
                raise failure
        finally:
            del failure  # likewise

    def _profile(self) -> Profile | None:
        """The profile of the run, if it was counted."""
        launch = self.launch
        return launch.profile.profile(launch.program, launch.shared_bytes) if launch.profile is not None else None


def default_threads() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
