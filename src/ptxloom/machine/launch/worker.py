"""One thread's part of a launch: its state, its CTAs, and what it does when native code asks for something."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from ptxloom.machine.instruments.wanted import is_watched
from ptxloom.machine.launch.request import Request
from ptxloom.machine.memory.arena import OverBudget
from ptxloom.machine.native import interrupts, jit, language
from ptxloom.machine.results.outcome import LaunchError
from ptxloom.machine.runtime import state, turns
from ptxloom.machine.runtime.tensor_cores.model import JOB_BYTES, MEMORY_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.machine.launch.launch_state import LaunchState
    from ptxloom.machine.results.hazard import Hazard

_RUN: Final = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64)
_PLENTY: Final = 1 << 28  # bytes that the CTAs of one thread may take before another is admitted reluctantly
_NEVER: Final = iter(())
_LOOKS: Final = frozenset((turns.DONE, turns.SLICE))  # at which what has run is counted


class Worker:
    """One thread's part of a launch."""

    def __init__(self, launch: LaunchState, number: int) -> None:
        self.launch = launch
        arena = launch.arena
        before = arena.taken
        self.address = arena.take(language.record(state.Worker).size)
        self.state: Any = language.structure(state.Worker).from_address(self.address)
        self.state.launch = ctypes.addressof(launch.native)
        self.state.random = (launch.native.seed * 0x9E3779B97F4A7C15 + number) & 0xFFFFFFFFFFFFFFFF
        self.state.sites = arena.take(launch.site_bytes)
        self.state.events = arena.take(state.EVENTS_KEPT * language.record(state.HazardEvent).size)
        self.state.event_limit = state.EVENTS_KEPT
        self.state.slice = turns.SLICE_ROUNDS
        self.state.patience = turns.PATIENCE
        if launch.needs.uses_tensor_memory:
            self.state.job = arena.take(JOB_BYTES)
        for shadow in launch.shadows:
            shadow.worker(self.address)
        self.ctas: list[int] = []
        self.table = arena.take(8)
        self.room = 1
        self.add_cluster()
        self.nbytes = arena.taken - before

    def run(self, deadline: float | None, looks: Iterator[int] = _NEVER) -> None:
        """Run CTAs until the grid is done; errors go to the launch.

        Args:
            deadline: When to give up, on `time.monotonic`.
            looks: Asked now and then; yields the rounds until it is to be asked again.
        """
        try:
            with interrupts.until(deadline):
                self._run(looks)
        except interrupts.TimeIsUp:
            self.launch.fail(self._too_slow())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that launched
            self.launch.fail(error)

    def _run(self, looks: Iterator[int]) -> None:
        self._start_slice(looks)
        watched = is_watched(self.launch.checks)
        told = 0
        while True:
            status = _entry(jit.replaced(), watched=watched)(self.address)
            if status in _LOOKS and not interrupts.is_limited():  # a time limit is for the kernel
                told, before = int(self.state.instructions), told
                self.launch.ran(told - before)
            match status:
                case turns.DONE | turns.STOPPED:
                    return
                case turns.SLICE:
                    interrupts.check()
                    self._start_slice(looks)
                case turns.WANT_WHOLE | turns.WANT_MASKED | turns.WANT_POISONED:
                    self.launch.provide(status)
                case turns.WANT_CTA:
                    self._admit()
                case turns.DEADLOCK:
                    raise LaunchError(
                        "the kernel is deadlocked: no thread can continue", self._waiting("synccheck.deadlock")
                    )
                case turns.FAULT:
                    hazard = self.launch.reporter.fault(self.state.fault[0])
                    raise LaunchError("the kernel was ended by an error", (hazard,))
                case turns.SERVICE:
                    self._serve()
                case _:
                    raise AssertionError(f"internal error: status {status}")

    def _start_slice(self, looks: Iterator[int]) -> None:
        """Ask what `looks` has to be told, and set after how many rounds it wants to be asked again, if it does."""
        rounds = next(looks, None)
        self.state.least = turns.SLICE_CYCLES if rounds is None else 0
        if rounds is not None:
            self.state.slice = rounds

    def _serve(self) -> None:
        """Do what a warp asks for."""
        cta: Any = language.structure(state.Cta).from_address(self.state.service_cta)
        at = cta.warps + self.state.service_warp * self.launch.warp_bytes
        lanes = tuple(lane for lane in range(32) if self.state.service_lanes >> lane & 1)
        warp: Any = language.structure(state.Warp).from_address(at)
        op = self.launch.program.ops[int(self.state.service_site)]
        request = Request(self.launch, warp, lanes, self.state.service_frame, op, self.state.wanted)
        from ptxloom.machine.launch import host_calls  # noqa: PLC0415 - few kernels ask for anything

        with self.launch.lock:
            host_calls.serve(self.state.service, request)

    def hazards(self) -> list[Hazard]:
        """What native code noted."""
        kind = language.structure(state.HazardEvent)
        size = language.record(state.HazardEvent).size
        count: int = self.state.event_count
        return [self.launch.reporter.event(kind.from_address(self.state.events + n * size)) for n in range(count)]

    def add_cluster(self) -> None:
        """Make room for one more resident cluster."""
        launch, members = self.launch, self.launch.members
        self.ctas += [self._cta(rank) for rank in range(members)]
        if len(self.ctas) > self.room:
            self.room = max(2 * self.room, len(self.ctas))
            self.table = self.launch.arena.take(8 * self.room)
        (ctypes.c_uint64 * len(self.ctas)).from_address(self.table)[:] = self.ctas
        for number, at in enumerate(self.ctas):
            cta: Any = language.structure(state.Cta).from_address(at)
            cta.peers = self.table + 8 * (number - number % members)
        for shadow in launch.shadows:
            shadow.cluster(launch.native, self.ctas[-members:])
        self.state.ctas, self.state.cta_count = self.table, len(self.ctas)

    def _admit(self) -> None:
        """Make room for CTAs that those which spin may be waiting for: as many again, while memory is plenty."""
        with self.launch.lock:  # the memory comes from the launch's arena, of which other workers take, too
            self._add_clusters()

    def _add_clusters(self) -> None:
        members, native = self.launch.members, self.launch.native
        clusters = len(self.ctas) // members
        each = self.launch.cta_bytes + native.warps * self.launch.control_bytes
        plenty = len(self.ctas) * each < _PLENTY
        for _ in range(max(1, min(clusters if plenty else 1, native.total - native.next))):
            try:
                self.add_cluster()
            except OverBudget as error:
                reason = f"the kernel waits for CTAs that have no room: {error}"
                raise LaunchError(reason, self._waiting("synccheck.no-progress")) from None
        self.state.patience *= 2 if plenty else 1

    def _cta(self, rank: int) -> int:
        """The address of a new place for a CTA."""
        launch = self.launch
        native, take = launch.native, launch.arena.take
        at = take(language.record(state.Cta).size)
        cta: Any = language.structure(state.Cta).from_address(at)
        cta.worker, cta.launch = self.address, ctypes.addressof(native)
        cta.shared = take(launch.shared_bytes, "shared memory of CTAs")
        cta.local = take(native.warps * 32 * launch.local_bytes, "local memory of threads")
        cta.warps = take(native.warps * launch.warp_bytes, "registers of threads")
        if launch.needs.uses_tensor_memory:
            cta.tensor = take(MEMORY_BYTES, "tensor memory of CTAs")
        control = take(native.warps * launch.control_bytes, "the stacks of calls") if launch.control_bytes else 0
        cta.rank = rank
        for index in range(native.warps):
            self._warp(cta, index, control)
        return at

    def _warp(self, cta: Any, index: int, control: int) -> None:
        launch, native = self.launch, self.launch.native
        w: Any = language.structure(state.Warp).from_address(cta.warps + index * launch.warp_bytes)
        w.index = index
        w.rank_bits = int(cta.rank) << state.CLUSTER_SHIFT
        w.cta, w.launch, w.worker = ctypes.addressof(cta), cta.launch, cta.worker
        w.shared, w.shared_bytes = cta.shared, launch.shared_bytes
        w.sites = self.state.sites
        w.local, w.local_bytes = cta.local + index * 32 * launch.local_bytes, launch.local_bytes
        w.control, w.control_cells = control + index * launch.control_bytes, launch.control_cells
        w.params, w.params_end = native.params, native.params_end
        w.tids = native.tids + index * 3 * 32 * 4
        w.symbols = native.symbols
        for shadow in launch.shadows:
            shadow.warp(w)

    def _too_slow(self) -> LaunchError:
        return LaunchError("the kernel did not end within its time limit", self._waiting("synccheck.no-progress"))

    def _waiting(self, rule: str) -> tuple[Hazard, ...]:
        """Which lanes wait where; a hazard of this rule for each place."""
        from ptxloom.machine.launch import deadlock  # noqa: PLC0415 - few kernels end so

        ctas = (language.structure(state.Cta).from_address(at) for at in self.ctas)
        return deadlock.waiting(self.launch.reporter, (cta for cta in ctas if cta.running), rule)


@cache
def _entry(_replaced: int, *, watched: bool) -> Callable[[int], int]:
    """The native function that runs a worker; another one once it has been replaced."""
    return _RUN(jit.named_address("ptxloom.machine.runtime.warps.scheduler", "run_worker", watched=watched))
