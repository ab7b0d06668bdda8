"""Running a grid: the state of workers and CTAs in memory, threads over them, and what Python does for them."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ptxloom.machine.instruments import racecheck
from ptxloom.machine.instruments.poison import POISON
from ptxloom.machine.launch import deadlock, host_calls, shadow_memory
from ptxloom.machine.launch.printing import Printed
from ptxloom.machine.memory.address_map import Atlas, shared_arrays
from ptxloom.machine.memory.arena import Arena, OverBudget
from ptxloom.machine.native import interrupts, jit, language
from ptxloom.machine.program.signatures import FRAME_HEAD
from ptxloom.machine.program.variables import function_codes
from ptxloom.machine.results.hazard import Hazard, Hazards, LaunchError
from ptxloom.machine.results.reporter import Reporter, joined
from ptxloom.machine.runtime import scheduler, state
from ptxloom.machine.runtime.calls import HEAD_CELLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine.kernel import Kernel
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.machine.memory.heap import Maker
    from ptxloom.machine.results.profile import Profile
    from ptxloom.machine.results.trace import Recording

_RUN: Final = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64)
_CTA_BYTES: Final = language.record(state.Cta).size
_WORKSPACE_BYTES: Final = 4096
_CELL_BYTES: Final = 8  # of a control stack
LEAKS: Final = "memcheck:leaks"
_PLENTY: Final = 1 << 28  # bytes that the CTAs of one thread may take before another is admitted reluctantly

PROGRESS_SECONDS = 0.25  # between two calls of `progress`
Progress: TypeAlias = "Callable[[int, int], None]"  # CTAs started, of how many


class Shape(NamedTuple):
    """The extents of a launch in x, y, z."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clustered: bool  # whether it is a launch with clusters, of one CTA even

    @property
    def threads(self) -> int:
        """The threads of a CTA."""
        return self.block[0] * self.block[1] * self.block[2]


class Grid:
    """One launch on its way: what native code reads, and the workers."""

    def __init__(  # noqa: PLR0917 - one launch has as many facts
        self,
        kernel: Kernel,
        shape: Shape,
        shared_bytes: int,
        params: bytes,
        memory: Memory,
        seed: int,
        stack_bytes: int,
        checks: frozenset[str],
        budget: Budget,
        printf_bytes: int,
    ) -> None:
        self.kernel = kernel
        self.checks = checks
        self.program = kernel.program
        self.budget = budget
        self.arena = Arena(budget)
        self.lock = threading.Lock()
        self.hazards = Hazards()
        self.noted: list[Hazard] = []  # by Python; what native code notes stays with its worker
        self.printed = Printed(printf_bytes)
        self.memory = memory
        self.heap = kernel.memory.heap
        self.workers: list[Worker] = []
        self.failure: BaseException | None = None
        self.recording: Recording | None = None
        self.instructions = 0
        self.shared_bytes = self.program.shared_bytes + shared_bytes
        members = shape.cluster[0] * shape.cluster[1] * shape.cluster[2]
        self.atlas = Atlas(self.program, kernel.memory, memory, self.shared_bytes, members)
        self.reporter = Reporter(self.program, self.atlas)
        self.local_bytes = -(-kernel.local_bytes(stack_bytes) // 16) * 16  # hardly more: beyond is out of bounds
        # frames of nothing but their heads fill both stacks at once
        self.control_cells = stack_bytes // FRAME_HEAD * HEAD_CELLS if self.program.calls else 0
        self.poison_bytes, self.unsure = shadow_memory.poison_bytes(self.program, checks)
        room = self.program.register_bytes + self.poison_bytes * (1 + state.SOURCE_BYTES)
        self.warp_bytes = state.REGISTERS + room
        self.launch: Any = language.structure(state.Launch).from_address(
            self.arena.take(language.record(state.Launch).size)
        )
        self.unwritten = shadow_memory.Unwritten(self.arena, memory.unwritten)
        self.races = shadow_memory.GlobalRaces(self.arena) if "racecheck:global" in checks else None
        self.launch.watches_global = int("initcheck:global" in checks)
        self._fill(shape, params, memory, seed)

    def _fill(self, shape: Shape, params: bytes, memory: Memory, seed: int) -> None:
        launch, arena = self.launch, self.arena
        grid, block, cluster, launch.clustered = shape
        launch.threads = shape.threads
        launch.members = self.members = cluster[0] * cluster[1] * cluster[2]
        launch.total = grid[0] * grid[1] * grid[2] // self.members  # clusters
        launch.grid[:3], launch.block[:3], launch.cluster[:3] = grid, block, cluster
        launch.warps = -(-launch.threads // 32)
        launch.warp_bytes = self.warp_bytes
        launch.shared_bytes = self.shared_bytes
        launch.static_shared = self.program.shared_bytes
        launch.reserved_shared = self.program.reserved_bytes
        launch.local_bytes = self.local_bytes
        launch.entry = self.program.entry.first
        launch.poison = state.REGISTERS + self.program.register_bytes
        launch.poison_bytes, launch.unsure = self.poison_bytes, self.unsure
        launch.first_frame = self.program.entry.frame_bytes
        launch.has_calls = int(self.program.has_calls)
        launch.seed = seed & 0xFFFFFFFF
        launch.full, launch.masked = self.code(whole=True), self.kernel.compiled_masked(compiled_checks(self.checks))
        launch.params = arena.put(params)
        launch.params_end = launch.params + len(params)
        module = self.kernel.memory
        constants = module.memory["const"]
        launch.constants = constants.ctypes.data
        launch.constants_end = launch.constants + constants.nbytes
        memory.add(module.memory["global"])
        memory.add(constants, constant=True)
        if self.kernel.has_workspace:
            launch.workspace = memory.add(np.zeros(_WORKSPACE_BYTES, np.uint8))
        self._publish()
        launch.tids = arena.put(_thread_ids(block, launch.warps))
        launch.symbols = arena.put(module.addresses)
        if self.races is not None:
            self.races.start(launch, self.members)
        if not self.checks.isdisjoint(("racecheck", "racecheck:global")):
            launch.strengths = arena.put(bytes(racecheck.strength_of(op) for op in self.program.ops))
        launch.functions = self._functions()
        launch.function_count = len(self.program.module.functions)

    def _functions(self) -> int:
        """Where the module's functions are listed for calls through addresses; kernels cannot be called."""
        program = self.program
        kind = language.structure(state.Function)
        table = (kind * len(program.module.functions))(*[kind(block=state.NONE)] * len(program.module.functions))
        codes = function_codes(program.module)
        for f in program.functions:
            if not f.is_entry:
                table[codes[f.name]] = kind(f.first, program.signature_number(f.signature), f.frame_bytes)
        return self.arena.put(bytes(table))

    @property
    def cta_bytes(self) -> int:
        """What a resident CTA takes: its state, shared memory, local memory and warps; control stacks apart."""
        return _CTA_BYTES + self.shared_bytes + self.launch.warps * (32 * self.local_bytes + self.warp_bytes)

    @property
    def control_bytes(self) -> int:
        """What the control stacks of a warp take."""
        return 32 * _CELL_BYTES * self.control_cells

    def run(self, threads: int, deadline: float | None, progress: Progress | None = None) -> None:
        """Run the grid to its end, or to a time on `time.monotonic`.

        `progress` is told now and then how many CTAs have been started, of how many.

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
        while not ended.wait(PROGRESS_SECONDS):
            started = min(int(self.launch.next), int(self.launch.total))
            try:
                progress(started * self.members, int(self.launch.total) * self.members)
            except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that launched
                self.fail(error)
                return

    def _work(self, threads: int, deadline: float | None) -> None:
        before = self.budget.taken
        workers = self.workers = [Worker(self, 0)]
        room = (self.budget.limit - self.budget.taken) // (self.budget.taken - before)
        workers += [Worker(self, n) for n in range(1, min(threads, self.launch.total, 1 + room))]
        helpers = [threading.Thread(target=w.run, args=(deadline,), daemon=True) for w in workers[1:]]
        for helper in helpers:
            helper.start()
        try:
            workers[0].run(deadline)
            for helper in helpers:
                while helper.is_alive():
                    helper.join(0.05)
                    interrupts.check()
        finally:
            if any(h.is_alive() for h in helpers):
                self.launch.stop = 1
                for helper in helpers:
                    helper.join()
        self.instructions = sum(w.state.instructions for w in workers)
        leaks = self.reporter.leaks(self.heap) if self.heap and LEAKS in self.checks and not self.failure else ()
        self.hazards = joined([*self.noted, *(h for w in workers for h in w.hazards()), *leaks])
        missed = 0
        for worker in workers:
            missed |= int.from_bytes(bytes(worker.state.missed), sys.byteorder)
        self.hazards.more = missed.bit_count()
        if isinstance(self.failure, LaunchError):
            ends = {h.span.start for h in self.failure.hazards if h.tool == "memcheck"}
            told = ("initcheck.", "memcheck.overrun")  # what ended it says as much of its instruction
            before = (h for h in self.hazards if not h.rule.startswith(told) or h.span.start not in ends)
            raise LaunchError(self.failure.reason, (*self.failure.hazards, *before))
        if self.failure is not None:
            raise self.failure

    def profile(self) -> Profile | None:
        """What the run cost, if that was counted."""
        areas = [w.counted for w in self.workers if w.counted is not None]
        if not areas:
            return None
        locate = partial(shared_arrays, self.program, self.shared_bytes)
        return self.kernel.countable.profile(self.program.entry.name, areas, locate)

    def provide(self, wanted: int) -> None:
        """Compile the variant that a worker came to need."""
        if wanted == state.WANT_MASKED:
            self.launch.masked = self.code(whole=False)
        else:
            self.launch.poisoned = self.code(whole=False, poisoned=True)

    def code(self, *, whole: bool, poisoned: bool = False) -> int:
        """The code of one variant for this launch's checks."""
        checks = compiled_checks(self.checks)
        return self.kernel.code(whole=whole, checks=checks | {POISON} if poisoned else checks)

    def _publish(self) -> None:
        """Show native code the memory it may touch."""
        heap = self.heap
        if heap is not None:
            self.memory.add(heap.region)
            if self.launch.watches_global:
                self.unwritten.add(heap.region, (b.piece for b in heap.live))
        spans = self.memory.table()
        table = np.zeros((len(spans), 6), np.uint64)
        table[:, :3] = spans
        self.unwritten.mark(table)
        if self.races is not None:
            self.races.mark(table)
        if heap is not None:
            table[table[:, 0] == heap.region.ctypes.data, 5] = heap.address
        head = np.zeros(state.SPANS_HEAD // 8, np.uint64)
        head[0] = len(spans)
        self.launch.spans = self.arena.put(head.tobytes() + table.tobytes())

    def allocate(self, size: int, maker: Maker) -> int:
        """The address of new memory for the kernel; 0 if there is none."""
        address = self.heap.allocate(size, maker) if self.heap is not None else 0
        if address:
            self.unwritten.renew(address, size)
            if self.races is not None:
                self.races.renew(address, size)
        return address

    def release(self, address: int) -> bool:
        """Take memory back, False if none starts here; what still points at it is out of bounds."""
        if self.heap is None or self.heap.release(address) is None:
            return False
        for worker in self.workers:
            worker.forget_blocks()
        return True

    def bytes_at(self, address: int, size: int) -> bytes:
        """Bytes of global memory; fewer where it ends."""
        block = self.heap.at(address) if self.heap is not None else None
        spans = self.memory.spans if block is None else [(block.start, block.start + block.size, True)]
        for start, end, _ in spans:
            if start <= address < end:
                return ctypes.string_at(address, min(size, end - address))
        return b""

    def fail(self, error: BaseException) -> None:
        """Stop every worker; the first failure is the one reported."""
        with self.lock:
            if self.failure is None:
                self.failure = error
        self.launch.stop = 1


class Worker:
    """One thread's part of a launch."""

    def __init__(self, grid: Grid, number: int) -> None:
        self.grid = grid
        arena = grid.arena
        self.address = arena.take(language.record(state.Worker).size)
        self.state: Any = language.structure(state.Worker).from_address(self.address)
        self.state.launch = ctypes.addressof(grid.launch)
        self.state.random = (grid.launch.seed * 0x9E3779B97F4A7C15 + number) & 0xFFFFFFFFFFFFFFFF
        self.site_bytes = max(len(grid.program.ops), 1) * language.record(state.Span).size
        self.state.sites = arena.take(self.site_bytes)
        self.state.events = arena.take(state.EVENTS_KEPT * language.record(state.Event).size)
        self.state.event_limit = state.EVENTS_KEPT
        self.state.slice = state.SLICE_ROUNDS
        self.state.patience = state.PATIENCE
        self.counted = grid.kernel.countable.make_room(arena) if "profile" in grid.checks else None
        self.ctas: list[int] = []
        self.table = arena.take(8)
        self.room = 1
        self.add_cluster()

    def run(self, deadline: float | None) -> None:
        """Run CTAs until the grid is done; errors go to the grid."""
        try:
            self._run(deadline)
        except BaseException as error:  # noqa: BLE001 - it is raised again in the thread that launched
            self.grid.fail(error)

    def _run(self, deadline: float | None) -> None:
        entry = _RUN(jit.native_address(scheduler.run_worker))
        while True:
            status = entry(self.address)
            interrupts.check()
            match status:
                case state.DONE | state.STOPPED:
                    return
                case state.SLICE:
                    if deadline is not None and time.monotonic() > deadline:
                        raise self._too_slow()
                case state.WANT_MASKED | state.WANT_POISONED:
                    self._compile(status, deadline)
                case state.WANT_CTA:
                    self._admit()
                case state.DEADLOCK:
                    raise LaunchError(
                        "the kernel is deadlocked: no thread can go on", self._waiting("synccheck.deadlock")
                    )
                case state.FAULT:
                    hazard = self.grid.reporter.fault(self.state.fault[0])
                    raise LaunchError("the kernel was ended by an error", (hazard,))
                case state.SERVICE:
                    self._serve()
                case _:
                    raise AssertionError(f"the machine lost its way: status {status}")

    def _serve(self) -> None:
        """Do what a warp asks for."""
        cta: Any = language.structure(state.Cta).from_address(self.state.service_cta)
        at = cta.warps + self.state.service_warp * self.grid.warp_bytes
        lanes = tuple(lane for lane in range(32) if self.state.service_lanes >> lane & 1)
        warp: Any = language.structure(state.Warp).from_address(at)
        request = host_calls.Request(self, warp, lanes, self.state.service_frame)
        with self.grid.lock:
            host_calls.serve(self.state.service, request)

    def block_of(self, warp: Any) -> tuple[int, int, int]:
        """The index of the CTA a warp belongs to."""
        cta: Any = language.structure(state.Cta).from_address(warp.cta)
        return cta.ctaid[0], cta.ctaid[1], cta.ctaid[2]

    def forget_blocks(self) -> None:
        """Let no memory instruction go on with the block of the device heap that it hit last."""
        if self.state.in_heap:
            self.state.in_heap = 0
            ctypes.memset(self.state.sites, 0, self.site_bytes)

    def hazards(self) -> list[Hazard]:
        """What native code noted."""
        kind = language.structure(state.Event)
        size = language.record(state.Event).size
        count: int = self.state.event_count
        return [self.grid.reporter.event(kind.from_address(self.state.events + n * size)) for n in range(count)]

    def add_cluster(self) -> None:
        """Make room for one more resident cluster."""
        members = self.grid.members
        self.ctas += [self._cta(rank) for rank in range(members)]
        if len(self.ctas) > self.room:
            self.room = max(2 * self.room, len(self.ctas))
            self.table = self.grid.arena.take(8 * self.room)
        (ctypes.c_uint64 * len(self.ctas)).from_address(self.table)[:] = self.ctas
        for number, at in enumerate(self.ctas):
            cta: Any = language.structure(state.Cta).from_address(at)
            cta.peers = self.table + 8 * (number - number % members)
        if not self.grid.checks.isdisjoint(("racecheck", "racecheck:global")):
            shadow_memory.watch_races(self.grid, self.ctas[-members:])
        if "initcheck" in self.grid.checks:
            shadow_memory.watch_first_reads(self.grid, self.ctas[-members:])
        self.state.ctas, self.state.cta_count = self.table, len(self.ctas)

    def _admit(self) -> None:
        """Make room for CTAs that those which spin may be waiting for: as many again, while memory is plenty."""
        members, launch = self.grid.members, self.grid.launch
        clusters = len(self.ctas) // members
        each = self.grid.cta_bytes + launch.warps * self.grid.control_bytes
        plenty = len(self.ctas) * each < _PLENTY
        for _ in range(max(1, min(clusters if plenty else 1, launch.total - launch.next))):
            try:
                self.add_cluster()
            except OverBudget as error:
                reason = f"the kernel waits for CTAs that have no room: {error}"
                raise LaunchError(reason, self._waiting("synccheck.no-progress")) from None
        self.state.patience *= 2 if plenty else 1

    def _cta(self, rank: int) -> int:
        """The address of a new place for a CTA."""
        grid = self.grid
        launch = grid.launch
        take = grid.arena.take
        at = take(language.record(state.Cta).size)
        cta: Any = language.structure(state.Cta).from_address(at)
        cta.worker, cta.launch = self.address, ctypes.addressof(launch)
        cta.shared = take(grid.shared_bytes, "shared memory of CTAs")
        cta.local = take(launch.warps * 32 * grid.local_bytes, "local memory of threads")
        cta.warps = take(launch.warps * grid.warp_bytes, "registers of threads")
        control = take(launch.warps * grid.control_bytes, "the stacks of calls") if grid.control_bytes else 0
        for index in range(launch.warps):
            self._warp(cta, index, control)
        cta.rank = rank
        return at

    def _warp(self, cta: Any, index: int, control: int) -> None:
        grid, launch = self.grid, self.grid.launch
        w: Any = language.structure(state.Warp).from_address(cta.warps + index * grid.warp_bytes)
        w.index = index
        w.cta, w.launch, w.worker = ctypes.addressof(cta), cta.launch, cta.worker
        w.shared, w.shared_bytes = cta.shared, grid.shared_bytes
        w.sites = self.state.sites
        w.local, w.local_bytes = cta.local + index * 32 * grid.local_bytes, grid.local_bytes
        w.control, w.control_cells = control + index * grid.control_bytes, grid.control_cells
        w.params, w.params_end = launch.params, launch.params_end
        w.tids = launch.tids + index * 3 * 32 * 4
        w.symbols = launch.symbols
        if self.counted is not None:
            w.profile = self.counted.ctypes.data
        if self.grid.recording is not None:
            w.trace = self.grid.recording.address

    def _compile(self, wanted: int, deadline: float | None) -> None:
        try:
            with interrupts.until(deadline):
                self.grid.provide(wanted)
        except interrupts.TimeIsUp:
            raise self._too_slow() from None

    def _too_slow(self) -> LaunchError:
        return LaunchError("the kernel did not end within its time limit", self._waiting("synccheck.no-progress"))

    def _waiting(self, rule: str) -> tuple[Hazard, ...]:
        """Who waits where; a hazard of this rule for each place."""
        ctas = (language.structure(state.Cta).from_address(at) for at in self.ctas)
        return deadlock.waiting(self.grid.reporter, (cta for cta in ctas if cta.running), rule)


def compiled_checks(checks: frozenset[str]) -> frozenset[str]:
    """The tools that need code of their own."""
    return checks - {LEAKS}


@lru_cache(64)
def _thread_ids(block: tuple[int, int, int], count: int) -> bytes:
    """The thread indices: (warp, axis, lane) uint32."""
    linear = np.arange(count * 32, dtype=np.uint32).reshape(count, 32)
    x, y, z = linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])
    return np.stack([x, y, z], axis=1).astype(np.uint32).tobytes()


def default_threads() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
