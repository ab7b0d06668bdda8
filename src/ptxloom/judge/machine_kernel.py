"""A kernel in PTX, called on the machine: every tool watches, and it can access nothing but its arguments."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from ptxloom.checker import check
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.judge.asking import CHECKS, Ran, Rooms, arrays_of
from ptxloom.machine import Kernel, LaunchError
from ptxloom.names.kernels import kernel_of
from ptxloom.names.parameters import parameter_names
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.judge.asking import Call
    from ptxloom.judge.problem import Arguments, Problem
    from ptxloom.machine import Hazard
    from ptxloom.source import Source


class NoKernel(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A text holds no kernel that can be judged."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a call.

    Attributes:
        seconds: The time of each call, compiling included.
        memory_bytes: Memory of this machine.
        target: The architecture whose tensor cores compute.
        kernel: The kernel, if a text holds several.
        launch: The command line's grid, block, cluster and shared_bytes.
    """

    seconds: float = 300.0
    memory_bytes: int | None = None
    target: str | None = None
    kernel: str | None = None
    launch: dict[str, Any] = field(default_factory=dict[str, Any])


class MachineKernel:
    """A kernel of a PTX text; its module's variables keep their contents between calls.

    Args:
        source: The text.
        problem: The problem, which describes the launch.
        limits: What it may take.

    Raises:
        NoKernel: The text is not legal, or holds no kernel or several.
        UnsupportedInstruction: The machine cannot run it.
    """

    def __init__(self, source: Source, problem: Problem, limits: Limits) -> None:
        module = parse_source(source)
        errors = [one for one in check(module) if one.severity is Severity.ERROR]
        if errors:
            first = errors[0]
            raise NoKernel(f"{source.title}:{first.span.line}: {first.message} [{first.rule}]")
        names = module.kernels
        if limits.kernel is None and len(names) != 1:
            raise NoKernel(f"{source.title} holds {len(names)} kernels; name one with `--kernel`")
        name = kernel_of(module, limits.kernel, "kernel")
        self._kernel = Kernel(module, name, limits.target, timeout=limits.seconds)
        self._names = parameter_names(module, name)
        self._problem = problem
        self._limits = limits
        self._rooms = Rooms()

    def call(self, call: Call) -> Ran:
        """Launch it once.

        Raises:
            UsageError: The arguments are not those of the kernel.
        """
        placed = self._rooms.placed(call)
        shape = {"grid": 1, "block": 1, **self._problem.launch(call.shape), **self._limits.launch}
        arguments = self._in_order(placed)
        try:
            result = self._kernel.launch(
                shape["grid"],
                shape["block"],
                list(arguments.values()),
                shape.get("shared_bytes", 0),
                cluster=shape.get("cluster"),
                checks=CHECKS,
                uninitialised=[placed[name] for name in call.unwritten],
                timeout=self._limits.seconds,
                memory_limit=self._limits.memory_bytes,
                schedule_seed=call.schedule,
            )
        except LaunchError as error:
            ran = Ran({}, _told(error.hazards), error.reason)
        else:
            ran = Ran({}, _told(result.hazards), instructions=result.instructions)
        arrays = {name: value.copy() for name, value in arrays_of(placed).items()}
        known = self._kernel.precision
        others = (value.dtype for value in arrays_of(placed, call.outputs).values())
        precision = None if known is None else known.given(others)
        return replace(ran, arrays=arrays, guards=self._rooms.broken(placed), precision=precision)

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def _in_order(self, placed: Arguments) -> Arguments:
        """The arguments in the order of the parameters, if their names match."""
        if set(self._names) == set(placed):
            return {name: placed[name] for name in self._names}
        return placed


def _told(hazards: Iterable[Hazard]) -> tuple[str, ...]:
    """Hazards as texts, the kind first."""
    return tuple(f"{one.rule}: {one.message} (line {one.line})" for one in hazards)
