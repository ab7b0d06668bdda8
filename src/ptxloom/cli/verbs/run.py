"""`ptxloom run`: a kernel on the CPU, as a launch file describes it."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ptxloom.checker import check
from ptxloom.cli import arrays, watch_options
from ptxloom.cli.findings import render
from ptxloom.cli.hazard_options import read_checks, remark, report
from ptxloom.cli.inputs import read
from ptxloom.cli.launch_file import BadLaunchFile, read_launch
from ptxloom.cli.limit_arguments import limits
from ptxloom.cli.output import CLEAN, COULD_NOT_RUN, FINDINGS, CannotWrite, Outcome, talk
from ptxloom.diagnostics import Severity
from ptxloom.machine.kernel import kernel
from ptxloom.machine.memory.arena import Budget
from ptxloom.machine.results.outcome import LaunchError
from ptxloom.syntax import parse
from ptxloom.views.runs import run_reports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ptxloom.cli.arguments import Options
    from ptxloom.cli.launch_file import Comparison, LaunchFile
    from ptxloom.machine.results.trace import TraceRecord


def run(options: Options) -> Outcome:
    """Run it, compare, save; hazards and differences are findings."""
    began = time.monotonic()

    def left() -> float | None:
        """What is left of the time limit, which reading, translating and compiling belong to."""
        return None if options.timeout is None else max(options.timeout - (time.monotonic() - began), 0.0)

    launch = read_launch(options.file, Budget(options.memory_limit))
    source = read(str(launch.ptx))
    module = parse(source.text, source.name)
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors and not options.unchecked:
        talk(f"ptxloom: {source.name} is not legal PTX; `--unchecked` runs what can be run all the same")
        return Outcome(render(errors, options), COULD_NOT_RUN)
    checks = read_checks(options.checks)
    compiled = kernel(module, launch.kernel, launch.target, unchecked=bool(errors), timeout=left())
    expected = _expected(launch)
    started = time.perf_counter()
    try:
        result = compiled.launch(
            launch.grid,
            launch.block,
            [a.passed for a in launch.arguments],
            launch.shared_bytes,
            cluster=launch.cluster,
            threads=options.threads,
            timeout=left(),
            schedule_seed=options.seed,
            checks=checks,
            uninitialised=[a.value for a in launch.arguments if a.empty],
            profile=options.profile,
            trace=watch_options.requests(options),
            contract=options.contract or launch.contract,
            progress=_progress if sys.stderr.isatty() else None,
            **limits(options),
        )
    except LaunchError as error:
        traced = _traced(error.trace, options)
        failed = run_reports.Run(launch.kernel, launch.grid, launch.block, 0, error.hazards, error.reason, trace=traced)
        return Outcome(report(failed, options), FINDINGS, remark(failed))
    seconds = time.perf_counter() - started
    comparisons = tuple(_compare(c, launch, wanted) for c, wanted in zip(launch.comparisons, expected, strict=True))
    saved = _save(launch)
    done = run_reports.Run(
        launch.kernel,
        launch.grid,
        launch.block,
        result.instructions,
        result.hazards,
        output=result.output,
        output_cut=result.output_cut,
        comparisons=comparisons,
        profile=result.profile,
        trace=_traced(result.trace, options),
    )
    clean = not result.hazards and all(c.passed for c in comparisons)
    code = COULD_NOT_RUN if not saved else CLEAN if clean else FINDINGS
    text = watch_options.picture(result.trace, options) if watch_options.wants_picture(options) else ""
    return Outcome(text or report(done, options), code, remark(done, seconds))


def _traced(records: tuple[TraceRecord, ...], options: Options) -> run_reports.Traced | None:
    """What was recorded, if that was asked for."""
    return run_reports.Traced(records, options.trace_type, options.trace_operand) if options.trace else None


def _progress(started: int, total: int) -> None:
    """A line on the terminal that says how far a long run is."""
    sys.stderr.write(f"\r{started:,} of {total:,} blocks started\x1b[K\r")
    sys.stderr.flush()


def _arrays(launch: LaunchFile) -> Mapping[str, NDArray[Any]]:
    return {a.name: cast("NDArray[Any]", a.value) for a in launch.arguments if isinstance(a.value, np.ndarray)}


def _expected(launch: LaunchFile) -> list[NDArray[Any]]:
    """What each compared array must be, worked out before the kernel touches anything.

    Raises:
        BadLaunchFile: A file cannot be loaded, or the shapes do not fit.
    """
    known = _arrays(launch)
    found: list[NDArray[Any]] = []
    for comparison in launch.comparisons:
        match comparison.wanted:
            case (first, second):
                wanted = _product(known, first, second)
            case path:
                try:
                    wanted = arrays.load(path)
                except arrays.NoArray as error:
                    raise BadLaunchFile(f"cannot load {path}: {error}") from error
        _must_compare(comparison, known[comparison.array], wanted)
        found.append(wanted)
    return found


def _product(known: Mapping[str, NDArray[Any]], first: str, second: str) -> NDArray[Any]:
    """The product of two arrays, in double precision.

    Raises:
        BadLaunchFile: They cannot be multiplied.
    """
    factors = [known[name] for name in (first, second)]
    shapes = " and ".join(str(list(one.shape)) for one in factors)
    for name, one in zip((first, second), factors, strict=True):
        if not arrays.is_number(one.dtype):
            raise BadLaunchFile(f"{name} holds {one.dtype}, which cannot be multiplied")
    try:
        return arrays.wide(factors[0]) @ arrays.wide(factors[1])
    except ValueError as error:
        raise BadLaunchFile(f"{first} and {second}, of shapes {shapes}, cannot be multiplied") from error
    except MemoryError as error:
        raise BadLaunchFile(f"the product of {first} and {second}, of shapes {shapes}, is too large") from error


def _must_compare(comparison: Comparison, got: NDArray[Any], wanted: NDArray[Any]) -> None:
    """Refuse arrays that cannot be compared.

    Raises:
        BadLaunchFile: With the reason.
    """
    if wanted.shape != got.shape:
        shapes = f"{list(got.shape)}, what it is compared with {list(wanted.shape)}"
        raise BadLaunchFile(f"{comparison.array} has the shape {shapes}")
    numbers = arrays.is_number(got.dtype) and arrays.is_number(wanted.dtype)
    alike = (got.dtype.kind == "c") == (wanted.dtype.kind == "c")
    if not (numbers and alike) and (comparison.relative or got.dtype != wanted.dtype):
        types = f"{got.dtype}, what it is compared with {wanted.dtype}"
        raise BadLaunchFile(f"{comparison.array} holds {types}: only numbers can be compared so")


def _compare(comparison: Comparison, launch: LaunchFile, wanted: NDArray[Any]) -> run_reports.Compared:
    got = _arrays(launch)[comparison.array]
    against = " @ ".join(comparison.wanted) if isinstance(comparison.wanted, tuple) else str(comparison.wanted)
    what = f"{comparison.array}, {' x '.join(map(str, got.shape))} {got.dtype}"
    if comparison.relative == 0:
        same = arrays.same_bits(got, wanted if wanted.dtype == got.dtype else wanted.astype(got.dtype))
        share = float(np.count_nonzero(~same)) / max(same.size, 1)
        return run_reports.Compared(what, against, share == 0, 0.0, share)
    with np.errstate(all="ignore"):  # of infinities
        difference = np.abs(arrays.wide(got) - arrays.wide(wanted))
    scale = float(np.max(np.abs(arrays.wide(wanted)), initial=0.0)) or 1.0
    error = float(np.max(difference, initial=0.0)) / scale
    return run_reports.Compared(what, against, error <= comparison.relative, comparison.relative, error)


def _save(launch: LaunchFile) -> bool:
    """Keep what is to be kept; whatever cannot be is said, and the result of the run is not lost over it."""
    whole = True
    for argument in launch.arguments:
        if argument.save is not None:
            try:
                arrays.save(argument.save, cast("NDArray[Any]", argument.value))
            except CannotWrite as error:
                talk(f"ptxloom: {error}")
                whole = False
    return whole
