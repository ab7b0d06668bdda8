"""Launches that differ only in their parameters: everything else is validated once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.launch.running import launched
from ptxloom.machine.launch.wanted import words_followed
from ptxloom.machine.launch.watching import tell, watched_checks, watched_provenance
from ptxloom.machine.memory.arguments import Memory, pack
from ptxloom.machine.results.provenance_choice import Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.launch.asked import Launchable, LaunchNumbers
    from ptxloom.machine.memory.arguments import Lent
    from ptxloom.machine.memory.device_memory import MemoryHolder
    from ptxloom.machine.results.outcome import LaunchResult


class Prepared:
    """Launches of a kernel on a device that differ only in their parameters, so that everything else is checked once.

    Args:
        kernel: The kernel.
        asked: The validated options of its launches.
        memory: The device.
        profile: Whether each counts what its instructions cost.
        provenance: Whether each follows where bytes come from.

    Raises:
        UnsupportedInstruction: A variable is `.extern` and has not been filled.
    """

    def __init__(
        self,
        kernel: Launchable,
        asked: LaunchNumbers,
        memory: MemoryHolder,
        *,
        profile: bool = False,
        provenance: bool = False,
    ) -> None:
        kernel.memory.must_be_defined(kernel.needs.variables)
        self._kernel = kernel
        self._asked = asked
        self._memory = memory.memory
        self._following = Provenance() if provenance or watched_provenance() else None
        words = words_followed(self._following, kernel.planned.program) if self._following else frozenset[str]()
        checks = words.union(memory.checks, watched_checks(), ("profile",) if profile else ())
        self._facts = asked.facts(checks)
        self._threads = 1 if "racecheck:global" in checks or self._following else asked.threads

    def launch(self, params: bytes, lent: Sequence[Lent] = ()) -> LaunchResult:
        """Run one, with all its parameters as bytes.

        Args:
            params: The bytes.
            lent: Memory that it may touch besides the device's.

        Raises:
            UsageError: Their number is wrong, or there is no memory for the launch; nothing has run.
            LaunchError: The kernel was ended by an error.
        """
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
