"""What is asked of launches beside their arguments, judged once; launches that differ in their parameters alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ptxloom.isa.limits import LOCAL_BYTES, SHARED_BYTES
from ptxloom.machine.instruments.provenance import words_of
from ptxloom.machine.launch.facts import Facts
from ptxloom.machine.launch.launch_limits import shape_of
from ptxloom.machine.launch.launch_state import LaunchState, compile_first
from ptxloom.machine.launch.options import MEMORY_LIMIT, PRINTF_BYTES, PRINTF_LIMIT, THREADS_LIMIT, integer
from ptxloom.machine.launch.runnable import Runnable
from ptxloom.machine.launch.watching import tell, watched_checks, watched_provenance
from ptxloom.machine.memory.arena import Budget
from ptxloom.machine.memory.arguments import Memory, pack
from ptxloom.machine.memory.heap import MOST_BYTES
from ptxloom.machine.native import interrupts
from ptxloom.machine.results.provenance_choice import Provenance

if TYPE_CHECKING:
    from ptxloom.machine.launch.grid import Progress
    from ptxloom.machine.launch.launch_limits import Shape
    from ptxloom.machine.launch.warm import WarmLaunches
    from ptxloom.machine.memory.device_memory import MemoryHolder
    from ptxloom.machine.results.outcome import LaunchResult
    from ptxloom.machine.results.recording import Recording
    from ptxloom.syntax.tree import PerformanceDirective

STACK_BYTES = 16384


class Launchable(Runnable, Protocol):
    """A kernel, with what it says of its launches and keeps of them."""

    name: str
    directives: tuple[PerformanceDirective, ...]
    warm: WarmLaunches


@dataclass(frozen=True, slots=True)
class Asked:
    """What `Kernel.launch` is asked for in numbers, and has found right.

    Attributes:
        shape: The extents.
        shared_bytes: Dynamic shared memory.
        seed: The order of warps.
        stack_bytes: Local memory of a thread for calls.
        printf_bytes: What may be printed.
        heap_bytes: What `malloc` can give, if that was said.
        memory_limit: What the launch may have of the host's memory, if that was said.
        threads: Of the host, if that was said.
    """

    shape: Shape
    shared_bytes: int
    seed: int
    stack_bytes: int
    printf_bytes: int
    heap_bytes: int | None
    memory_limit: int | None
    threads: int | None

    def facts(self, watched: frozenset[str]) -> Facts:
        """What such a launch is, with these tools."""
        return Facts(self.shape, self.shared_bytes, self.seed, self.stack_bytes, watched, self.printf_bytes)

    def budget(self, kernel: Launchable, touched: Memory) -> Budget:
        """What pays for such a launch, with what is known beforehand taken off.

        Raises:
            UsageError: It is more than the launch may have.
        """
        budget = Budget(self.memory_limit)
        calls = kernel.needs.runtime_calls
        budget.charge("the arrays of args", touched.nbytes)
        kernel.memory.charge(budget, calls, self.heap_bytes)
        if "vprintf" in calls:
            budget.charge("what is printed", self.printf_bytes)
        return budget


def asked_of(
    kernel: Launchable,
    grid: object,
    block: object,
    cluster: object = None,
    *,
    shared_bytes: object = 0,
    schedule_seed: object = 0,
    stack_bytes: object = STACK_BYTES,
    printf_bytes: object = PRINTF_BYTES,
    heap_bytes: object = None,
    memory_limit: object = None,
    threads: object = None,
) -> Asked:
    """Judge what a launch of a kernel is asked for; the arguments are those of `Kernel.launch`.

    Raises:
        UsageError: One of them is wrong.
    """
    shape = shape_of(grid, block, cluster, kernel.directives)
    static = kernel.needs.shared_bytes - kernel.needs.reserved_bytes
    room = max(SHARED_BYTES - static, 0)
    return Asked(
        shape,
        integer("shared_bytes", shared_bytes, 0, room, f" beside the kernel's own {static}"),
        integer("schedule_seed", schedule_seed),
        integer("stack_bytes", stack_bytes, 0, LOCAL_BYTES),
        integer("printf_bytes", printf_bytes, 0, PRINTF_LIMIT),
        None if heap_bytes is None else integer("heap_bytes", heap_bytes, 0, MOST_BYTES),
        None if memory_limit is None else integer("memory_limit", memory_limit, 1, MEMORY_LIMIT),
        None if threads is None else integer("threads", threads, 1, THREADS_LIMIT),
    )


def launched(
    kernel: Launchable,
    facts: Facts,
    params: bytes,
    touched: Memory,
    budget: Budget,
    *,
    threads: int | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
    recording: Recording | None = None,
    provenance: Provenance | None = None,
) -> LaunchResult:
    """Run a launch in which all is as it must be.

    Raises:
        LaunchError: The kernel was ended.
    """
    if deadline is None and kernel.code.expects(facts.shape.warps):  # a time limit is not spent on better code
        kernel.warm.forget()

    def make() -> LaunchState:
        with interrupts.until(deadline):
            compile_first(kernel, facts.checks, facts.shape.threads)
        return LaunchState(kernel, facts, params, touched, budget, recording=recording, provenance=provenance)

    with interrupts.guarded():
        return kernel.warm.run(
            facts, params, touched, budget, make=make, result=lambda grid: grid.result(threads, deadline, progress)
        )


class Prepared:
    """Launches of a kernel on a device that are alike in all but their parameters, so that all else is judged once.

    Args:
        kernel: The kernel.
        asked: What its launches are asked for.
        memory: The device.

    Raises:
        UnsupportedInstruction: A variable is `.extern`, and nobody has filled it.
    """

    def __init__(self, kernel: Launchable, asked: Asked, memory: MemoryHolder) -> None:
        kernel.memory.must_be_defined(kernel.needs.variables)
        self._kernel = kernel
        self._asked = asked
        self._memory = memory.memory
        self._following = Provenance() if watched_provenance() else None
        checks = frozenset((*memory.checks, *watched_checks(), *(words_of(()) if self._following else ())))
        self._facts = asked.facts(checks)
        self._threads = 1 if "racecheck:global" in checks or self._following else asked.threads

    def launch(self, params: bytes) -> LaunchResult:
        """Run one, with all its parameters as bytes.

        Raises:
            UsageError: They are not as many as the kernel takes, or there is no memory for it; nothing has run.
            LaunchError: The kernel was ended by an error.
        """
        kernel = self._kernel
        touched = Memory(device=self._memory, looks_up=kernel.needs.looks_up)
        params = pack(kernel.needs, params, touched)
        budget = self._asked.budget(kernel, touched)
        kernel.memory.show(touched)
        result = launched(
            kernel, self._facts, params, touched, budget, threads=self._threads, provenance=self._following
        )
        return tell(kernel.name, result)
