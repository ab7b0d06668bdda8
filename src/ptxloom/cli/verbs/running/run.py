"""`ptxloom run`: a kernel on the CPU, as a launch file describes it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from ptxloom.checker import check
from ptxloom.cli import watch_options
from ptxloom.cli.arguments.limit_arguments import limits
from ptxloom.cli.launch_files import arrays
from ptxloom.cli.launch_files.expectations import references
from ptxloom.cli.launch_files.fitted import fitted
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.cli.launch_files.left_open import left_open
from ptxloom.cli.results.findings import render
from ptxloom.cli.results.next_command import why_command
from ptxloom.cli.results.output import CLEAN, COULD_NOT_RUN, FINDINGS, CannotWrite, Outcome, talk, told_progress
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.results.run_formats import remark, report
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.cli.sources.kernels import chosen_kernel
from ptxloom.cli.sources.source_texts import source_texts
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.files.reading import in_folder
from ptxloom.machine import LaunchError, TraceRecords, kernel
from ptxloom.machine.port.prepare import read_checks
from ptxloom.machine.port.region import Budget
from ptxloom.source import title
from ptxloom.syntax.parser import parse_source
from ptxloom.views.findings.finding_reports import concise
from ptxloom.views.runs import profile_picture, run_reports, summary
from ptxloom.views.runs.source_lines import no_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.cli.command_line import Options
    from ptxloom.cli.launch_files.launch_file import LaunchFile
    from ptxloom.machine import Profile, TraceRecord
    from ptxloom.views.drawing.figure import Figure
    from ptxloom.views.runs.source_lines import SourceOf


def run(options: Options) -> Outcome:
    """Run it, compare, save; hazards and differences are findings."""
    began = time.monotonic()

    def left() -> float | None:
        """The rest of the time limit, which includes reading, translating and compiling."""
        return None if options.timeout is None else max(options.timeout - (time.monotonic() - began), 0.0)

    if options.init:
        return Outcome(_template(options))
    launch = read_launch(options.file, Budget(options.memory_limit), options)
    source = read(str(launch.ptx), launch.target, flags_for(options, str(launch.ptx), launch.flags, launch.target))
    module = parse_source(source)
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors and not options.unchecked:
        if wanted(options):
            raise PtxloomError(f"{source.title} is not legal PTX:\n{concise(errors)}".rstrip())
        talk(f"ptxloom: {source.title} is not legal PTX; `--unchecked` runs what can be run anyway")
        return Outcome(render(errors, options), COULD_NOT_RUN)
    launch = fitted(launch, module)
    checks = read_checks(options.checks)
    sources = source_texts(launch.ptx, options)
    if options.source and not options.trace and options.output is None and not options.quiet:
        talk(f"ptxloom: to see source lines: `ptxloom inspect {title(str(launch.ptx))} --profile LAUNCH --source`")
    compiled = kernel(module, launch.kernel, launch.target, unchecked=bool(errors), timeout=left())
    expected = references(launch, compiled)

    def profile_figure(profile: Profile) -> Figure:
        """A profile over the kernel's lines, and those that it was compiled from."""
        function = module.functions.get(launch.kernel)
        return profile_picture.figure(profile, function, sources.line if options.source else no_source)

    started = time.perf_counter()
    try:
        result = launch.launch(
            compiled,
            threads=options.threads,
            timeout=left(),
            schedule_seed=options.seed,
            checks=checks,
            uninitialised=[a.value for a in launch.arguments if a.empty],
            profile=options.profile or options.fidelity,
            trace=watch_options.requests(options),
            contract=options.contract or launch.contract,
            reference=expected,
            provenance=options.provenance,
            progress=told_progress if sys.stderr.isatty() else None,
            **limits(options),
        )
    except LaunchError as error:
        if wanted(options):
            drawing = watch_options.figure(error.trace, None, error.hazards, options, profile_figure)
            return drawn(drawing, options, FINDINGS, error.reason)
        traced = _traced(error.trace, options, sources.line)
        failed = run_reports.Run(
            launch.kernel, launch.grid, launch.block, 0, error.hazards, error.reason, trace=traced, watched=checks
        )
        return Outcome(report(failed, options), FINDINGS, remark(failed), summary=_summary(failed, options))
    seconds = time.perf_counter() - started
    saved = _save(launch)
    done = run_reports.Run(
        launch.kernel,
        launch.grid,
        launch.block,
        result.instructions,
        result.hazards,
        output=result.output,
        output_cut=result.output_cut,
        comparisons=result.comparisons,
        profile=result.profile if options.profile else None,
        fidelity=result.fidelity if options.fidelity else None,
        trace=_traced(result.trace, options, sources.line),
        watched=checks,
        next_command="" if all(c.passed for c in result.comparisons) else why_command(options),
        left_open=left_open(options.file, launch.arguments),
    )
    clean = not result.hazards and all(c.passed for c in result.comparisons)
    code = COULD_NOT_RUN if not saved else CLEAN if clean else FINDINGS
    if wanted(options):
        drawing = watch_options.figure(result.trace, result.profile, result.hazards, options, profile_figure)
        outcome = drawn(drawing, options, code, remark(done, seconds))
    else:
        outcome = Outcome(report(done, options), code, remark(done, seconds), summary=_summary(done, options))
    sources.tell()
    return outcome


def _summary(done: run_reports.Run, options: Options) -> str:
    """The run in Markdown, if requested."""
    return summary.of_run(done, remark(done)) if options.summary else ""


def _template(options: Options) -> str:
    """A launch file for PTX; it names the PTX relative to where the file will be."""
    from ptxloom.views.runs import launch_templates  # noqa: PLC0415 - for this alone

    options.file = in_folder(options.file)
    source = read(options.file, options.target, flags_for(options, options.file, target=options.target))
    module = parse_source(source)
    name = chosen_kernel(module, options.kernel, "--kernel")
    start = PurePath(options.output).parent if options.output else "."
    return launch_templates.template(module, name, os.path.relpath(options.file, start))


def _traced(records: tuple[TraceRecord, ...], options: Options, sources: SourceOf) -> run_reports.Traced | None:
    """The recorded trace, if requested."""
    if not options.trace:
        return None
    unseen = records.unseen if isinstance(records, TraceRecords) else 0
    return run_reports.Traced(records, options.trace_type, options.trace_operand, unseen, sources)


def _save(launch: LaunchFile) -> bool:
    """Save the requested arrays; failures are reported, and do not lose the result of the run."""
    whole = True
    for argument in launch.arguments:
        if argument.save is not None:
            try:
                arrays.save(argument.save, cast("NDArray[Any]", argument.value))
            except CannotWrite as error:
                talk(f"ptxloom: {error}")
                whole = False
    return whole
