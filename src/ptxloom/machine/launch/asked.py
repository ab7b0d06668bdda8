"""Validates the options of launches, apart from their arguments, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import LOCAL_BYTES, SHARED_BYTES
from ptxloom.machine.launch.device_launches import MOST_PENDING, PENDING_LAUNCHES
from ptxloom.machine.launch.launch_limits import LaunchFacts, shape_of
from ptxloom.machine.launch.options import NO_OPTIONS, PRINTF_BYTES, PRINTF_LIMIT, THREADS_LIMIT, integer
from ptxloom.machine.launch.runnable import Runnable
from ptxloom.machine.memory.arena import MEMORY_LIMIT, Budget
from ptxloom.machine.memory.heap import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.machine.launch.launch_limits import Dim3
    from ptxloom.machine.launch.options import LaunchOptions
    from ptxloom.machine.launch.warm import WarmLaunches
    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import PerformanceDirective

STACK_BYTES = 16384
#: By option: the number's name here, its least and its most, and whether None stands for the default.
_NUMBERS: Final[Mapping[str, tuple[str, int | None, int | None, bool]]] = {
    "schedule_seed": ("seed", None, None, False),
    "stack_bytes": ("stack_bytes", 0, LOCAL_BYTES, False),
    "printf_bytes": ("printf_bytes", 0, PRINTF_LIMIT, False),
    "heap_bytes": ("heap_bytes", 0, MOST_BYTES, True),
    "memory_limit": ("memory_limit", 1, MEMORY_LIMIT, True),
    "threads": ("threads", 1, THREADS_LIMIT, True),
}


class Launchable(Runnable, Protocol):
    """A kernel, with its facts for launches and its caches."""

    name: str
    module: Module
    directives: tuple[PerformanceDirective, ...]
    warm: WarmLaunches

    def sibling(self, name: str) -> Launchable:
        """Another kernel of its module, prepared in the same way."""
        ...


@dataclass(frozen=True, slots=True)
class LaunchNumbers:
    """The validated numbers among the options of `Kernel.launch`.

    Attributes:
        shape: The extents.
        shared_bytes: Dynamic shared memory.
        seed: The order of warps.
        stack_bytes: Local memory of a thread for calls.
        printf_bytes: The most that `printf` can print.
        heap_bytes: The most that `malloc` can allocate, if given.
        memory_limit: The most memory of the host that the launch may take, if given.
        threads: Threads of the host, if given.
        pending_launches: How many launches by kernels may wait to begin.
    """

    shape: Dim3
    shared_bytes: int
    seed: int = 0
    stack_bytes: int = STACK_BYTES
    printf_bytes: int = PRINTF_BYTES
    heap_bytes: int | None = None
    memory_limit: int | None = None
    threads: int | None = None
    pending_launches: int = PENDING_LAUNCHES

    def facts(self, watched: frozenset[str]) -> LaunchFacts:
        """The facts of such a launch, with these tools."""
        return LaunchFacts(self.shape, self.shared_bytes, self.seed, self.stack_bytes, watched, self.printf_bytes)

    def budget(self, kernel: Launchable, touched: Memory) -> Budget:
        """The memory budget of such a launch, minus what is known beforehand.

        Raises:
            UsageError: The launch exceeds its memory limit.
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
    options: LaunchOptions = NO_OPTIONS,
    *,
    shared_bytes: object = 0,
    pending_launches: object = PENDING_LAUNCHES,
) -> LaunchNumbers:
    """Validate the numbers among the options of a launch of a kernel.

    Raises:
        UsageError: One of them is wrong.
    """
    shape = shape_of(grid, block, options.get("cluster"), kernel.directives)
    static = kernel.needs.static_shared_bytes
    room = max(SHARED_BYTES - static, 0)
    numbers = {"pending_launches": integer("pending_launches", pending_launches, 0, MOST_PENDING)}
    for option, value in options.items():
        if option in _NUMBERS:
            name, low, high, may_lack = _NUMBERS[option]
            if value is not None or not may_lack:
                numbers[name] = integer(option, value, low, high)
    own = integer("shared_bytes", shared_bytes, 0, room, f" beside the kernel's own {static}")
    return LaunchNumbers(shape, own, **numbers)
