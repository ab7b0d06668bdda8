"""Many launches of a kernel that differ in their parameters alone, and those who watch all launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.machine.launch.asked import asked_of
from ptxloom.machine.launch.device_launches import MOST_PENDING, PENDING_LAUNCHES
from ptxloom.machine.launch.options import NO_OPTIONS, wanted_provenance
from ptxloom.machine.launch.running import launched
from ptxloom.machine.launch.wanted import words_followed
from ptxloom.machine.launch.watching import present, tell, watched_checks, watched_provenance, watching
from ptxloom.machine.memory.arguments import Memory, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.launch.asked import Launchable
    from ptxloom.machine.launch.options import LaunchOptions
    from ptxloom.machine.memory.arguments import Lent
    from ptxloom.machine.memory.device_memory import MemoryHolder
    from ptxloom.machine.results.outcome import LaunchResult

__all__ = ["Prepared", "watching"]

_TAKEN: Final = frozenset({
    "cluster", "schedule_seed", "stack_bytes", "printf_bytes", "heap_bytes", "memory_limit", "threads", "profile",
    "provenance",
})  # fmt: skip


class Prepared:
    """Launches of a kernel on a device that differ only in their parameters, so that everything else is judged once.

    Args:
        kernel: The kernel.
        grid: CTAs in x, y, z.
        block: Threads of a CTA in x, y, z.
        device: The device, whose tools watch, with those of watchers (`watching`).
        options: Of `LaunchOptions`, those that are numbers, `profile` and `provenance`.
        shared_bytes: Dynamic shared memory.
        pending_launches: How many launches by kernels may wait to begin; more than 2^20 count as 2^20.

    Raises:
        UsageError: One of them is wrong.
        UnsupportedInstruction: A variable is `.extern` and has not been filled.
    """

    def __init__(
        self,
        kernel: Launchable,
        grid: object,
        block: object,
        device: MemoryHolder,
        options: LaunchOptions = NO_OPTIONS,
        *,
        shared_bytes: int = 0,
        pending_launches: int = PENDING_LAUNCHES,
    ) -> None:
        for name in options.keys() - _TAKEN:
            raise UsageError("options", name, f"any of {', '.join(sorted(_TAKEN))}")
        pending = min(pending_launches, MOST_PENDING)
        self._kernel = kernel
        self._device = device
        self._memory = device.memory
        self._asked = asked_of(kernel, grid, block, options, shared_bytes=shared_bytes, pending_launches=pending)
        self._own = ("profile",) if options.get("profile") else ()
        self._provenance = options.get("provenance", False)
        kernel.memory.must_be_defined(kernel.needs.variables)
        self._judge()

    def _judge(self) -> None:
        """Find out what the tools of the device and of those who watch now take."""
        self._watchers = present()
        self._following = wanted_provenance(self._provenance or watched_provenance())
        words = words_followed(self._following, self._kernel.planned.program) if self._following else frozenset[str]()
        checks = words.union(self._device.checks, watched_checks(), self._own)
        self._facts = self._asked.facts(checks)
        self._threads = 1 if "racecheck:global" in checks or self._following else self._asked.threads

    def launch(self, params: bytes, lent: Sequence[Lent] = ()) -> LaunchResult:
        """Run one, with all its parameters as bytes.

        Args:
            params: The bytes.
            lent: Memory that it may touch besides the device's.

        Raises:
            UsageError: Their number is wrong, or there is no memory for the launch; nothing has run.
            LaunchError: The kernel was ended by an error.
        """
        if self._watchers != present():
            self._judge()
        kernel = self._kernel
        touched = Memory(device=self._memory, looks_up=kernel.needs.looks_up)
        for one in lent:
            touched.lend(one)
        params = pack(kernel.needs, params, touched)
        budget = self._asked.budget(kernel, touched)
        kernel.memory.show(touched)
        result = launched(
            kernel, self._asked, self._facts, params, touched, budget, threads=self._threads, provenance=self._following
        )
        return tell(kernel.name, result)
