"""The state of a launch: the part that native code reads, and the part that Python keeps."""

from __future__ import annotations

import ctypes
import threading
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.isa.limits import LANES
from ptxloom.lazy import cached_property
from ptxloom.machine.instruments.wanted import (
    POISON,
    PROFILE,
    is_initcheck_wanted,
    is_racecheck_wanted,
    moments_in,
)
from ptxloom.machine.launch.printing import Printed
from ptxloom.machine.launch.shadows.counters import ProfileShadow, TraceShadow
from ptxloom.machine.memory import srgb
from ptxloom.machine.memory.address_map import AddressMap
from ptxloom.machine.memory.arena import Arena
from ptxloom.machine.native import interrupts, language
from ptxloom.machine.program.signatures import FRAME_HEAD
from ptxloom.machine.results.outcome import NotReadyError
from ptxloom.machine.runtime import state, turns
from ptxloom.machine.runtime.structs.spans import SPANS_HEAD, LastSpan, Span
from ptxloom.machine.runtime.tensor_cores.model import MEMORY_BYTES, MOST_PLANS, PLAN_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.launch.device_launches import DeviceLaunches
    from ptxloom.machine.launch.launch_limits import LaunchFacts
    from ptxloom.machine.launch.runnable import Runnable
    from ptxloom.machine.launch.shadows.provenance import ProvenanceShadow
    from ptxloom.machine.launch.shadows.shadow import ShadowMaker
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.machine.memory.heap import Maker
    from ptxloom.machine.program.model import Program
    from ptxloom.machine.results.hazard import Hazard
    from ptxloom.machine.results.provenance_choice import Provenance
    from ptxloom.machine.results.recording import Recording
    from ptxloom.machine.results.reporter import Reporter

_CTA_BYTES: Final = language.record(state.Cta).size
_SPAN_BYTES: Final = language.record(Span).size
_WORKSPACE_BYTES: Final = 4096
_CELL_BYTES: Final = 8  # of a control stack
LEAKS: Final = "memcheck:leaks"
_VARIANTS: Final = {turns.WANT_WHOLE: "full", turns.WANT_MASKED: "masked", turns.WANT_POISONED: "poisoned"}


class LaunchState:
    """The state of a launch; `native` is the part that compiled code reads.

    It has no reference to its kernel, which may keep it for the next launch (`warm.Warm`).
    """

    def __init__(
        self,
        kernel: Runnable,
        facts: LaunchFacts,
        params: bytes,
        memory: Memory,
        budget: Budget,
        *,
        recording: Recording | None = None,
        provenance: Provenance | None = None,
        launches: DeviceLaunches | None = None,
    ) -> None:
        shape, checks = facts.shape, facts.checks
        self._code = kernel.code  # not the kernel itself, which may keep this
        self.needs = needs = kernel.needs
        self.is_plain = not needs.runtime_calls and not needs.has_workspace
        self.facts = facts
        self.checks = checks
        self._planned = kernel.planned
        self.budget = budget
        self.arena = Arena(budget)
        self.lock = threading.Lock()
        self.noted: list[Hazard] = []  # by Python; what native code notes stays with its worker
        self.printed = Printed(facts.printf_bytes)
        self.memory = memory
        self.variables = kernel.memory
        self.heap = kernel.memory.heap
        self.failure: BaseException | None = None
        self.recording = recording
        self.launches = launches
        self.shared_bytes = needs.shared_bytes + facts.shared_bytes
        members = shape.cluster[0] * shape.cluster[1] * shape.cluster[2]
        self.atlas = AddressMap(kernel.planned, kernel.memory, memory, self.shared_bytes, members)
        self.local_bytes = -(-kernel.local_bytes(facts.stack_bytes) // 16) * 16  # hardly more: beyond is out of bounds
        # frames of nothing but their heads fill both stacks at once
        self.control_cells = facts.stack_bytes // FRAME_HEAD * state.HEAD_CELLS if needs.has_call_sites else 0
        self.profile = ProfileShadow(self.arena, kernel.countable) if PROFILE in checks else None
        self.provenance: ProvenanceShadow | None = None
        self._wanted = provenance
        self.shadows = tuple(self._shadows(params))
        room = needs.register_bytes + sum(shadow.warp_bytes for shadow in self.shadows)
        self.warp_bytes = state.REGISTERS + room
        self.native: Any = language.structure(state.Launch).from_address(
            self.arena.take(language.record(state.Launch).size)
        )
        self.site_bytes = max(needs.sites, 1) * language.record(LastSpan).size
        self._fill(kernel, params, memory)

    @property
    def program(self) -> Program:
        """The kernel's program, for callers that look at instructions: the launch itself does not need it."""
        return self._planned.program

    @cached_property
    def reporter(self) -> Reporter:
        """The reporter that words its hazards."""
        from ptxloom.machine.results.reporter import Reporter  # noqa: PLC0415 - where there is anything to report

        return Reporter(self._planned, self.atlas)

    def _shadows(self, params: bytes) -> Iterator[ShadowMaker]:
        """The shadow makers of the watching instruments."""
        if is_racecheck_wanted(self.checks):
            from ptxloom.machine.launch.shadows.racecheck import RaceShadow  # noqa: PLC0415 - each where it is wanted

            yield RaceShadow(self.arena, self.program, self.checks)
        before = 0
        if is_initcheck_wanted(self.checks):
            from ptxloom.machine.launch.shadows.initcheck import InitShadow  # noqa: PLC0415 - likewise

            init = InitShadow(self.arena, self.program, self.checks, self.memory.unwritten)
            before = init.warp_bytes
            yield init
        if self._wanted is not None:
            from ptxloom.machine.launch.shadows.provenance import ProvenanceShadow  # noqa: PLC0415 - likewise

            self.provenance = ProvenanceShadow(
                self.arena, self.budget, self.program, self.memory,
                asked=self._wanted, shape=self.facts.shape, before=before, moments=moments_in(self.checks),
                params=params,
            )  # fmt: skip
            yield self.provenance
        if self.profile is not None:
            yield self.profile
        if self.recording is not None:
            yield TraceShadow(self.recording)

    def _fill(self, kernel: Runnable, params: bytes, memory: Memory) -> None:
        native, arena = self.native, self.arena
        shape = self.facts.shape
        grid, block, cluster, native.clustered = shape
        native.threads = shape.threads
        native.members = self.members = cluster[0] * cluster[1] * cluster[2]
        native.total = grid[0] * grid[1] * grid[2] // self.members  # clusters
        native.grid[:3], native.block[:3], native.cluster[:3] = grid, block, cluster
        native.warps = -(-native.threads // 32)
        native.warp_bytes = self.warp_bytes
        native.shared_bytes = self.shared_bytes
        native.static_shared = self.needs.shared_bytes
        native.reserved_shared = self.needs.reserved_bytes
        native.local_bytes = self.local_bytes
        native.entry = self.needs.entry
        native.sites = max(self.needs.sites, 1)
        native.first_frame = self.needs.frame_bytes
        native.has_calls = int(self.needs.has_calls)
        native.seed = self.facts.seed & 0xFFFFFFFF
        for shadow in self.shadows:
            shadow.start(native)
        checks = compiled_checks(self.checks)
        native.full, native.masked = (self._code.known_address(whole=whole, checks=checks) for whole in (True, False))
        native.params = arena.put(params)
        native.params_end = native.params + len(params)
        module = kernel.memory
        constants = module.memory["const"]
        native.constants = constants.ctypes.data
        native.constants_end = native.constants + constants.nbytes
        if self.needs.has_workspace:
            native.workspace = memory.add(np.zeros(_WORKSPACE_BYTES, np.uint8))
        if self.launches is not None:
            self.launches.show(memory, self.budget)
        if self.needs.uses_tensor_memory:
            native.plans, native.plan_room = arena.take(MOST_PLANS * PLAN_BYTES), MOST_PLANS
        self._publish()
        images = b"".join(bytes(memory.images[handle]) for handle in sorted(memory.images))
        native.images = arena.put(images) if images else 0
        native.image_count = len(memory.images)
        if any(row.srgb for row in memory.images.values()):
            native.srgb, native.srgb_count = arena.put(srgb.table()), 256
        native.tids = arena.put(_thread_ids(block, native.warps))
        native.symbols = arena.put(module.addresses)
        native.functions = arena.put(bytes.fromhex(self.needs.functions))
        native.function_count = self.needs.function_count

    @property
    def cta_bytes(self) -> int:
        """The memory of a resident CTA: its state, shared memory, local memory and warps, without control stacks."""
        tensor = MEMORY_BYTES if self.needs.uses_tensor_memory else 0
        return _CTA_BYTES + self.shared_bytes + tensor + self.native.warps * (32 * self.local_bytes + self.warp_bytes)

    @property
    def control_bytes(self) -> int:
        """The memory of a warp's control stacks."""
        return 32 * _CELL_BYTES * self.control_cells

    def provide(self, wanted: int) -> None:
        """Compile the variant that a worker needs."""
        whole, poisoned = wanted == turns.WANT_WHOLE, wanted == turns.WANT_POISONED
        setattr(self.native, _VARIANTS[wanted], self.code(whole=whole, poisoned=poisoned))

    def ran(self, instructions: int) -> None:
        """Record that a worker has executed more instructions; switch to better code if there is any."""
        if self._code.heated(instructions, checks=compiled_checks(self.checks)):
            for wanted, at in _VARIANTS.items():
                if getattr(self.native, at):
                    self.provide(wanted)

    def code(self, *, whole: bool, poisoned: bool = False) -> int:
        """The code of one variant for this launch's checks."""
        checks = compiled_checks(self.checks)
        return self._code.address(whole=whole, checks=checks | {POISON} if poisoned else checks)

    def _publish(self) -> None:
        """Publish the memory that native code may access."""
        heap = self.heap
        if heap is not None:
            self.memory.add(heap.region)
            self.native.heap = heap.address
            for shadow in self.shadows:
                shadow.add_heap(heap.region, (b.piece for b in heap.live))
        self.native.spans = self.arena.put(self.table())

    def table(self) -> bytes:
        """The memory that the kernel may touch, as native code reads it (`spans.Spans`)."""
        heap = self.heap
        spans = self.memory.table()
        words = np.zeros((SPANS_HEAD + len(spans) * _SPAN_BYTES) // 8, np.uint64)
        words[0] = len(spans)
        table = words[SPANS_HEAD // 8 :].reshape(len(spans), _SPAN_BYTES // 8)
        table[:, :3] = spans
        if self.memory.device is not None:
            self.memory.device.mark(table)
        for shadow in self.shadows:
            shadow.mark(table)
        if heap is not None:
            table[table[:, 0] == heap.region.ctypes.data, 5] = heap.address
        return words.tobytes()

    @property
    def is_last(self) -> bool:
        """Whether no further launch of its kernel's family follows, which could free memory that this one leaves."""
        return self.launches is None or self.launches.is_last

    def touch(self, memory: Memory) -> None:
        """Set another accessible memory, without publishing it to native code."""
        self.memory = self.atlas.memory = memory

    def allocate(self, size: int, maker: Maker) -> int:
        """The address of new memory for the kernel; 0 if the heap is full, or absent."""
        address = self.heap.allocate(size, maker) if self.heap is not None else 0
        if address:
            for shadow in self.shadows:
                shadow.renew(address, size)
        return address

    def release(self, address: int) -> bool:
        """Free memory; returns False if no block starts here. Remaining pointers to it are out of bounds."""
        return self.heap is not None and self.heap.release(address) is not None

    def bytes_at(self, address: int, size: int) -> bytes:
        """Bytes of global memory; fewer where it ends."""
        block = self.heap.at(address) if self.heap is not None else None
        _, end = self.memory.span_at(address) if block is None else (block.start, block.start + block.size)
        return ctypes.string_at(address, min(size, end - address)) if end else b""

    def fail(self, error: BaseException) -> None:
        """Stop every worker; the first failure is the one reported."""
        with self.lock:
            if self.failure is None:
                self.failure = error
        self.native.stop = 1


def compiled_checks(checks: frozenset[str]) -> frozenset[str]:
    """The tools that need code of their own."""
    return checks - {LEAKS} if LEAKS in checks else checks


def compile_first(kernel: Runnable, checks: frozenset[str], threads: int) -> None:
    """Compile the code that a launch with `threads` threads a CTA starts with.

    Raises:
        NotReadyError: The time limit was reached first.
    """
    try:
        kernel.code.address(whole=threads >= LANES, checks=compiled_checks(checks))
    except interrupts.TimeIsUp as error:
        raise NotReadyError(str(error)) from None


@lru_cache(64)
def _thread_ids(block: tuple[int, int, int], count: int) -> bytes:
    """The thread indices: (warp, axis, lane) uint32."""
    linear = np.arange(count * 32, dtype=np.uint32).reshape(count, 32)
    x, y, z = linear % block[0], linear // block[0] % block[1], linear // (block[0] * block[1])
    return np.stack([x, y, z], axis=1).astype(np.uint32).tobytes()
