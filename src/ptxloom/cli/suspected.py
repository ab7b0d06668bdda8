"""`why` for results that only a reference shows to be wrong: tries single changes of the kernel."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final

from ptxloom.cli.arguments.limit_arguments import limits
from ptxloom.cli.launch_files.expectations import references
from ptxloom.cli.launch_files.fitted import fitted
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.diagnosis.suspects import Trials, diagnoses, search
from ptxloom.diagnosis.suspects.hazardous import watched
from ptxloom.machine import kernel
from ptxloom.machine.port.prepare import AS_WRITTEN
from ptxloom.machine.port.region import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.cli.launch_files.launch_file import LaunchFile
    from ptxloom.diagnosis.model import Diagnosis
    from ptxloom.machine import Kernel, LaunchResult
    from ptxloom.syntax import Module
    from ptxloom.views.runs.diagnoses import ReportedRun


_SECONDS: Final = 14.0  # processor time of the whole command until a search has ended
_LEAST_SECONDS: Final = 4.0  # for a search in any case


def with_suspects(told: ReportedRun, module: Module, options: Options, spent: float) -> ReportedRun:
    """The report of a run, and the lines whose change would make its result right.

    If a law is certain of a cause, or sums are fused, nothing is tried. If a tool found something, a change must
    silence the tools, too.

    Args:
        told: The report.
        module: The kernel's.
        options: Those of the command.
        spent: Seconds of processor time that the command has taken; the search gets the rest.
    """
    launch = fitted(read_launch(options.file, Budget(options.memory_limit), options), module)
    downgraded = any(one.downgrade is not None for one in told.comparisons)
    late = any(one.rule == "synccheck.no-progress" for one in told.hazards)
    known = late or (told.ended and not told.hazards) or any(one.certain for one in told.examined.found)
    unknown = bool(launch.comparisons) if told.hazards else bool(told.wrong)
    if not unknown or known or downgraded or launch.contract != AS_WRITTEN:
        return told
    compiled = kernel(module, launch.kernel, launch.target)
    unwritten = [a.value for a in launch.arguments if a.empty]

    def again(changed: Kernel, **more: Any) -> LaunchResult:
        return launch.launch(changed, threads=1, uninitialised=unwritten, **{**limits(options), **more})

    passed = [one.passed for one in launch.arguments]
    references_ = references(launch, compiled)
    checks = watched(told.hazards, unwritten=bool(unwritten))
    trials = Trials(
        again, passed, references_, compiled, _numbers(launch), _ctas(launch), hazards=told.hazards, checks=checks
    )
    found = in_order(
        told.examined.found, diagnoses(search(trials, seconds=max(_SECONDS - spent, _LEAST_SECONDS)), trials)
    )
    return replace(told, examined=replace(told.examined, found=found))


def in_order(laws: Sequence[Diagnosis], found: Sequence[Diagnosis]) -> tuple[Diagnosis, ...]:
    """Broken laws and the results of a search, the likeliest first.

    Laws that agree with a change that mends, laws whose cause is known, changes that mend, other laws; then lines that
    are only suspected, if no law names them: a suspicion explains less than a broken law. A change elsewhere can mend,
    too, what a law explains element by element.
    """
    mending = [one for one in found if one.repair is not None]
    lines = {_place(one) for one in mending}
    agreed = [one for one in laws if _place(one) in lines]
    others = [one for one in laws if _place(one) not in lines]
    explained = [one for one in others if one.cause != "unknown"]
    rest = [one for one in others if one.cause == "unknown"]
    known = {_place(one) for one in laws}
    suspicions = [one for one in found if one.repair is None and _place(one) not in known]
    return *agreed, *explained, *mending, *rest, *suspicions


def _place(one: Diagnosis) -> object:
    return one.origin or one.line


def _ctas(launch: LaunchFile) -> int:
    return launch.grid if isinstance(launch.grid, int) else prod(launch.grid)


def _numbers(launch: LaunchFile) -> tuple[int, ...]:
    """The integers of a launch: those that it passes, and those of its grid and its CTAs."""
    passed = [one.value for one in launch.arguments if isinstance(one.value, int)]
    extents = [n for one in (launch.grid, launch.block) for n in ([one] if isinstance(one, int) else one)]
    return tuple(dict.fromkeys((*passed, *extents)))
