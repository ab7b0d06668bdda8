"""Runs a validated launch, then the launches that its kernel has made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import SHARED_BYTES
from ptxloom.machine.launch.device_launches import DeviceLaunches, Waiting
from ptxloom.machine.launch.launch_state import LEAKS, LaunchState, compile_first, compiled_checks
from ptxloom.machine.launch.options import CHECKS
from ptxloom.machine.launch.watching import may_run
from ptxloom.machine.memory.arguments import pack
from ptxloom.machine.native import interrupts
from ptxloom.machine.program.signatures import LAUNCHES
from ptxloom.machine.results.hazard import Hazards, joined
from ptxloom.machine.results.outcome import LaunchError, LaunchResult

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.launch.asked import Launchable, LaunchNumbers
    from ptxloom.machine.launch.device_launches import DeviceLaunch
    from ptxloom.machine.launch.grid import Progress
    from ptxloom.machine.launch.launch_limits import LaunchFacts
    from ptxloom.machine.memory.arena import Budget
    from ptxloom.machine.memory.arguments import Memory
    from ptxloom.machine.results.hazard import Hazard
    from ptxloom.machine.results.provenance_choice import Provenance
    from ptxloom.machine.results.recording import Recording

_LAUNCHING: Final = frozenset(LAUNCHES)
_TOO_LATE: Final = "the launches that the kernel made did not end within its time limit"


def launched(  # noqa: PLR0917 - a launch is all of these
    kernel: Launchable,
    asked: LaunchNumbers,
    facts: LaunchFacts,
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
    """Run a launch, and those that its kernel makes; profile and trace cover only the kernel itself.

    Raises:
        LaunchError: A kernel was ended.
        UsageError: Provenance is requested for a kernel that launches others, or they cannot be launched like that.
        UnsupportedInstruction: A kernel that it launches cannot run.
    """
    if not may_run(kernel):
        return LaunchResult(0)
    if kernel.needs.runtime_calls.isdisjoint(_LAUNCHING):
        return _alone(
            kernel, facts, params, touched, budget, threads=threads, deadline=deadline, progress=progress,
            recording=recording, provenance=provenance,
        )  # fmt: skip
    if provenance is not None:
        raise UsageError("provenance", provenance, "False where a kernel launches kernels: it is not followed there")
    before = touched.again(looks_up=kernel.needs.looks_up)
    waiting = Waiting(asked.pending_launches)
    own = DeviceLaunches(kernel.module, waiting, 0)
    first = _alone(
        kernel, facts, params, touched, budget, threads=threads, deadline=deadline, progress=progress,
        recording=recording, launches=own,
    )  # fmt: skip
    waiting.add(own.made)
    return _Family(kernel, asked, facts, before, waiting).result(first, threads, deadline)


class _Family:
    """The launches of a kernel and, recursively, those of its children, one after the other."""

    def __init__(
        self, first: Launchable, asked: LaunchNumbers, facts: LaunchFacts, memory: Memory, waiting: Waiting
    ) -> None:
        self._first = first
        self._asked = asked
        self._checks = facts.checks.intersection(CHECKS)
        self._memory = memory
        self._waiting = waiting
        self._hazards: dict[str, Hazards] = {}  # of each kernel
        self._output: list[str] = []
        self._instructions = 0
        self._cut = 0

    def result(self, first: LaunchResult, threads: int | None, deadline: float | None) -> LaunchResult:
        """Run all of them; returns the result of the first launch."""
        waiting = self._waiting.launches
        with interrupts.guarded():
            while waiting:
                one = waiting.pop()
                try:
                    with interrupts.until(deadline):
                        interrupts.check()
                        kernel = self._first.sibling(one.kernel)
                except interrupts.TimeIsUp:
                    raise LaunchError(_TOO_LATE, self._all(first.hazards)) from None
                try:
                    told = self._launched(kernel, one, threads, deadline)
                except LaunchError as error:
                    reason = f"`{one.kernel}`, which a kernel launched: {error.reason}"
                    raise LaunchError(reason, (*_of(one.kernel, error.hazards), *self._all(first.hazards))) from None
                self._note(one, told)
        return replace(
            first,
            instructions=first.instructions + self._instructions,
            hazards=self._all(first.hazards),
            output=first.output + "".join(self._output),
            output_cut=first.output_cut + self._cut,
        )

    def _launched(
        self, kernel: Launchable, one: DeviceLaunch, threads: int | None, deadline: float | None
    ) -> LaunchResult:
        kernel.memory.must_be_defined(kernel.needs.variables)
        asked = replace(self._asked, shape=one.shape, shared_bytes=one.shared_bytes)
        room = SHARED_BYTES - kernel.needs.shared_bytes + kernel.needs.reserved_bytes
        if one.shared_bytes > room:
            raise LaunchError(
                f"it was launched with {one.shared_bytes:,} bytes of shared memory, of which {room:,} fit"
            )
        touched = self._memory.again(looks_up=kernel.needs.looks_up)
        params = pack(kernel.needs, one.params, touched)
        budget = asked.budget(kernel, touched)
        launches_none = kernel.needs.runtime_calls.isdisjoint(_LAUNCHING)
        own = None if launches_none else DeviceLaunches(kernel.module, self._waiting, one.depth)
        leaves = own is not None or not self._waiting.launches  # what runs behind it may free what it leaves
        facts = asked.facts(self._checks if leaves else self._checks - {LEAKS})
        told = _alone(kernel, facts, params, touched, budget, threads=threads, deadline=deadline, launches=own)
        if own is not None:
            self._waiting.add(own.made)
        return told

    def _note(self, one: DeviceLaunch, told: LaunchResult) -> None:
        self._instructions += told.instructions
        self._output.append(told.output)
        self._cut += told.output_cut
        if told.hazards or told.hazards.rest:
            seen = self._hazards.get(one.kernel, Hazards())
            self._hazards[one.kernel] = _together(joined([*seen, *_of(one.kernel, told.hazards)]), [seen, told.hazards])

    def _all(self, own: Hazards) -> Hazards:
        """The hazards of the first kernel, then those of the others."""
        several = [own, *self._hazards.values()]
        return _together((hazard for hazards in several for hazard in hazards), several)


def _of(kernel: str, hazards: Iterable[Hazard]) -> tuple[Hazard, ...]:
    return tuple(replace(hazard, kernel=kernel) for hazard in hazards)


def _together(hazards: Iterable[Hazard], several: Iterable[Hazards]) -> Hazards:
    made = Hazards(hazards)
    made.more = sum(one.more for one in several)
    made.limits = tuple(dict.fromkeys(text for one in several for text in one.limits))
    return made


def _alone(
    kernel: Launchable,
    facts: LaunchFacts,
    params: bytes,
    touched: Memory,
    budget: Budget,
    *,
    threads: int | None = None,
    deadline: float | None = None,
    progress: Progress | None = None,
    recording: Recording | None = None,
    provenance: Provenance | None = None,
    launches: DeviceLaunches | None = None,
) -> LaunchResult:
    """Run one grid.

    Raises:
        LaunchError: The kernel was ended.
    """
    code, tools = kernel.code, compiled_checks(facts.checks)
    if deadline is None and (code.expects(facts.shape.warps) or code.heated(0, checks=tools)):
        kernel.warm.forget()  # a time limit is not spent on better code

    def make() -> LaunchState:
        with interrupts.until(deadline):
            compile_first(kernel, facts.checks, facts.shape.threads)
        return LaunchState(
            kernel, facts, params, touched, budget, recording=recording, provenance=provenance, launches=launches
        )

    with interrupts.guarded():
        return kernel.warm.run(
            facts, params, touched, budget, make=make, result=lambda grid: grid.result(threads, deadline, progress)
        )
