"""One point of a sweep: a launch file with some values replaced, run under the tools, compared and profiled."""

from __future__ import annotations

from argparse import Namespace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ptxloom.campaigns import in_form
from ptxloom.checker import check
from ptxloom.cli.launch_files.expectations import references
from ptxloom.cli.launch_files.fitted import fitted
from ptxloom.cli.launch_files.launch_file import launch_of, table_of
from ptxloom.cli.launch_files.variations import FLAGS, varied
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.machine import LaunchError, kernel
from ptxloom.machine.port.prepare import read_checks
from ptxloom.machine.port.region import Budget
from ptxloom.source import title
from ptxloom.syntax.parser import parse_source

if TYPE_CHECKING:
    from ptxloom.files.compiler_flags import Flags
    from ptxloom.machine import Kernel, LaunchResult
    from ptxloom.syntax import Module

_KEPT = 8  # modules and kernels that a worker keeps
COUNTED = ("executions", "wavefronts", "conflicts", "sectors", "ideal_sectors", "divergent", "bulk_bytes", "cost")
"""The totals of a profile that are shown for a point."""
_MOST_DIGITS = 12  # of a seed


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a sweep.

    Attributes:
        file: The launch file.
        values: The replaced values, by name.
        words: The command line's options for compilers and settings.
        timeout: Seconds that the run may take.
        memory_limit: Of this machine's memory.
        checks: The tools that watch.
    """

    file: str
    values: dict[str, str]
    words: Namespace
    timeout: float | None
    memory_limit: int | None
    checks: str


def tried(point: Point) -> dict[str, Any]:
    """The outcome of a point, and its cost.

    The outcome is `right`, `ran` (nothing was compared), `wrong`, `hazards`, `ended` or `refused`.
    """
    try:
        result = _launched(point)
    except LaunchError as error:
        return _told("ended", error.reason, hazards=[one.rule for one in error.hazards])
    except PtxloomError as error:
        return _told("refused", str(error).partition("\n")[0])
    wrong = [one for one in result.comparisons if not one.passed]
    hazards = list(dict.fromkeys(one.rule for one in result.hazards))
    if wrong:
        said = f"{wrong[0].name}: {wrong[0].wrong:,} elements are wrong"
        outcome = "wrong"
    else:
        outcome = "hazards" if hazards else "right" if result.comparisons else "ran"
        said = result.hazards[0].message if hazards else ""
    counts = result.profile.totals if result.profile is not None else None
    costs = {name: getattr(counts, name) for name in COUNTED} if counts is not None else {}
    return _told(outcome, said, hazards=hazards, costs=costs)


_FORM: Final = {"outcome": str, "said": str, "hazards": [str]}
_COSTS: Final = dict.fromkeys(COUNTED, int | float)


def told_before(point: str, row: dict[str, Any]) -> dict[str, Any]:
    """Read what `tried` returned for a point from a campaign's folder.

    Raises:
        ValueError, LookupError, AttributeError: The folder holds something else.
    """
    in_form(_FORM | {"costs": _COSTS if row["costs"] else {}})(point, row)
    return row


def _told(
    outcome: str, said: str, hazards: list[str] | None = None, costs: dict[str, float] | None = None
) -> dict[str, Any]:
    return {"outcome": outcome, "said": title(said), "hazards": hazards or [], "costs": costs or {}}


def _launched(point: Point) -> LaunchResult:
    table = varied(point.file, table_of(point.file), point.values)
    launch = launch_of(point.file, table, Budget(point.memory_limit))
    ptx = str(launch.ptx)
    words = Namespace(**vars(point.words))
    for name in (name for name in FLAGS if name in point.values):
        setattr(words, name, [*getattr(words, name), point.values[name]])
    module = _module(ptx, launch.target, flags_for(words, ptx, launch.flags, launch.target))
    launch = fitted(launch, module)
    compiled = _kernel(module, launch.kernel, launch.target)
    expected = references(launch, compiled)
    seed = point.values.get("seed", "0")
    if not (seed.isascii() and seed.isdecimal() and len(seed) <= _MOST_DIGITS):
        raise PtxloomError(f"the seed {title(seed)} is not a whole number of at most {_MOST_DIGITS} digits")
    return launch.launch(
        compiled,
        threads=1,
        timeout=point.timeout,
        memory_limit=point.memory_limit,
        schedule_seed=int(seed),
        checks=read_checks(point.values.get("checks", point.checks)),
        uninitialised=[one.value for one in launch.arguments if one.empty],
        profile=True,
        contract=launch.contract,
        reference=expected,
    )


@lru_cache(_KEPT)
def _module(name: str, target: str | None, flags: Flags) -> Module:
    """A module, compiled once a worker."""
    source = read(name, target, flags)
    module = parse_source(source)
    errors = [one for one in check(module) if one.severity is Severity.ERROR]
    if errors:
        raise PtxloomError(f"{source.title} is not legal PTX: line {errors[0].span.line}: {errors[0].message}")
    return module


@lru_cache(_KEPT)
def _kernel(module: Module, name: str, target: str | None) -> Kernel:
    return kernel(module, name, target)
