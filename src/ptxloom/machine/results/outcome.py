"""How a launch ends: with a result, or with an error."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.display import mimebundle
from ptxloom.machine.results.hazard import Hazard, Hazards

if TYPE_CHECKING:
    from ptxloom.comparison import Comparison
    from ptxloom.machine.results.fidelity import Fidelity
    from ptxloom.machine.results.profile import Profile
    from ptxloom.machine.results.provenance import ProvenanceRecord
    from ptxloom.machine.results.trace import TraceRecord


@dataclass(frozen=True, slots=True)
class LaunchResult:
    """The result of a launch, apart from what it wrote into the arrays.

    Attributes:
        instructions: Warp instructions executed.
        hazards: Errors of the kernel that did not end it.
        output: What the kernel printed.
        profile: The cost of each instruction, with `profile=True`.
        trace: The records of the traced instructions, by CTA, warp and order.
        output_cut: Calls of `printf` whose output is missing there, in whole or in part.
        provenance: The origins of all data, with `provenance`.
        comparisons: The arrays that were compared with a reference, in its order.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry k() { ret; }"), "k")
        >>> result = k.launch(grid=3, block=64)
        >>> result.instructions, result.hazards
        (6, ())
    """

    instructions: int
    hazards: Hazards = field(default_factory=Hazards)
    output: str = ""
    profile: Profile | None = None
    trace: tuple[TraceRecord, ...] = ()
    output_cut: int = 0
    provenance: ProvenanceRecord | None = None
    comparisons: tuple[Comparison, ...] = ()

    _repr_mimebundle_ = mimebundle

    @property
    def fidelity(self) -> Fidelity:
        """The evidence for the instructions that ran, recordings or documents; needs `launch(profile=True)`."""
        from ptxloom.machine.results.fidelity import fidelity_of  # noqa: PLC0415 - reads a table

        return fidelity_of(self.profile)


class LaunchError(PtxloomError):
    """A kernel ended as it would on hardware: after an illegal access, a trap, a deadlock, or at the time limit.

    Attributes:
        reason: Why, in one sentence.
        hazards: The errors: first the one that ended it, then earlier ones.
        trace: The records of the traced instructions until then.
        provenance: The origins of all data until then, with `provenance`.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> k = kernel(parse(".version 9.0 .target sm_90 .entry k() { trap; }"), "k")
        >>> try:
        ...     k.launch(grid=1, block=32)
        ... except LaunchError as error:
        ...     print(error.reason)
        the kernel was ended by an error
    """

    def __init__(self, reason: str, hazards: tuple[Hazard, ...] = ()) -> None:
        super().__init__(reason, hazards)
        self.reason = reason
        self.hazards = Hazards(hazards)
        self.trace: tuple[TraceRecord, ...] = ()
        self.provenance: ProvenanceRecord | None = None

    @property
    def fault(self) -> str:
        """The kind of the hazard that ended it, as hardware tells kinds apart; "" if it did not end by one."""
        from ptxloom.machine.results.event_kinds import AS_MISALIGNED  # noqa: PLC0415 - few ask

        first = self.hazards[0] if self.hazards else None
        if first is None:
            return ""
        return "misaligned" if first.message.endswith(AS_MISALIGNED) else first.kind

    def __str__(self) -> str:
        return "\n".join([self.reason, str(self.hazards)] if self.hazards else [self.reason])


class NotReadyError(LaunchError):
    """The time limit was reached while the kernel was translated and compiled: nothing has run."""
