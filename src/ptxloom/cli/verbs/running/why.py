"""`ptxloom why`: why the result of a kernel is wrong."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from ptxloom.checker import check
from ptxloom.cli import why_programs
from ptxloom.cli.arguments.limit_arguments import limits
from ptxloom.cli.launch_files.expectations import references
from ptxloom.cli.launch_files.fitted import fitted
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.cli.results.findings import render
from ptxloom.cli.results.output import CLEAN, COULD_NOT_RUN, FINDINGS, Outcome, style_for, talk, told_progress
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import read
from ptxloom.cli.suspected import with_suspects
from ptxloom.cli.verbs.running import exec as programs
from ptxloom.comparison.expression import Expectation
from ptxloom.diagnosis import Examination, examine
from ptxloom.diagnosis.lines.behind import behind
from ptxloom.diagnostics import BEFORE_LAWS, PtxloomError, Severity, UsageError
from ptxloom.machine import LaunchError, NotReadyError, Provenance, kernel
from ptxloom.machine.port.region import Budget
from ptxloom.syntax.parser import parse_source
from ptxloom.views.runs import diagnoses, diagnosis_picture, diagnosis_records

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnosis import Repair
    from ptxloom.diagnosis.lines.behind import Behind
    from ptxloom.machine import Hazard, Kernel, ProvenanceRecord
    from ptxloom.syntax import Module


_TRIES: Final = 8  # times that a kernel is made ready anew, where other programs have the processor


class CannotTry(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A repaired kernel cannot be run."""


def run(options: Options) -> Outcome:
    """Run it under all tools, with provenance; exit 1 if these or the laws find something, 2 if not all is judged."""
    command = why_programs.program_of(options)
    if command and wanted(options):
        raise UsageError("-o", options.output, "the name of a text: the kernels of a program are not drawn")
    if command:
        return why_programs.run(options, command, programs.run)
    if options.program:
        raise UsageError("FILE", f"{len(options.program) + 1} files", "one; a program comes behind `--`")
    why_programs.no_program(options)
    began = _processor()
    launch = read_launch(options.file, Budget(options.memory_limit), options)
    source = read(str(launch.ptx), launch.target, flags_for(options, str(launch.ptx), launch.flags, launch.target))
    module = parse_source(source)
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors:
        return Outcome(render(errors, options), COULD_NOT_RUN)
    told = _told(module, options)
    told = with_suspects(told, module, options, _processor() - began)
    if wanted(options):
        return _picture(told, options)
    found, tried = told.examined.found, None
    repair = next((one.repair for one in found if one.repair is not None), None)
    if options.attempt and repair is not None:
        tried = _tried(repair, options)
        told = _held_to(told, tried, repair)
    elif options.attempt and found:
        talk("ptxloom: nothing to try: ptxloom knows no change of single instructions that would mend it")
    match options.output_format:
        case "json":
            text = diagnosis_records.as_json(told, tried)
        case "concise":
            text = diagnoses.concise(told)
        case _:
            text = diagnoses.full(told, style_for(options), tried)
    return Outcome(text, _code(told))


def _picture(told: diagnoses.ReportedRun, options: Options) -> Outcome:
    """The first diagnosis that has a picture, drawn."""
    shown = next((one for one in told.examined.found if one.picture is not None), None)
    if shown is None:
        raise UsageError("-o", options.output, "the name of a text: no law is broken that a picture can show")
    return drawn(diagnosis_picture.figure(shown), options, _code(told))


def _code(told: diagnoses.ReportedRun) -> int:
    if told.examined.found or told.wrong or told.hazards or told.ended:
        return FINDINGS
    return CLEAN if told.examined.verdict == "clean" else COULD_NOT_RUN


def _tried(repair: Repair, options: Options) -> diagnoses.ReportedRun:
    """The repaired kernel, run on the same arguments."""
    module = repair.apply()
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors:
        raise CannotTry(f"the repair makes PTX that is not legal: {errors[0].message}")
    return _told(module, options)


def _held_to(told: diagnoses.ReportedRun, tried: diagnoses.ReportedRun, repair: Repair) -> diagnoses.ReportedRun:
    """The report of a run; a diagnosis whose repair does not mend the result is not certain."""
    if not (tried.ended or tried.wrong or tried.examined.found):
        return told
    found = tuple(replace(one, certain=False) if one.repair is repair else one for one in told.examined.found)
    return replace(told, examined=replace(told.examined, found=found))


def _processor() -> float:
    """The CPU seconds that this process and its children have used."""
    return sum(os.times()[:4])


def _told(module: Module, options: Options, tries: int = _TRIES, times: int = 1) -> diagnoses.ReportedRun:
    """The reports of tools and laws on a run, and of the comparison of its arrays.

    The kernel gets `times` times its time limit: more than once if it got little processor time within the limit.
    """
    began = _processor()
    launch = fitted(read_launch(options.file, Budget(options.memory_limit), options), module)  # arrays as they were
    compiled = kernel(module, launch.kernel, launch.target)
    expected = references(launch, compiled)
    unwritten = [a.value for a in launch.arguments if a.empty]
    try:
        result = launch.launch(
            compiled,
            threads=options.threads,
            timeout=options.timeout and options.timeout * times,
            contract=launch.contract,
            reference=expected,
            provenance=Provenance.within(options.memory_limit),
            checks=(*BEFORE_LAWS, "initcheck:global") if unwritten else BEFORE_LAWS,
            uninitialised=unwritten,
            progress=told_progress if sys.stderr.isatty() else None,
            **limits(options),
        )
    except LaunchError as error:
        spent, limit = _processor() - began, options.timeout or 0
        if isinstance(error, NotReadyError) and tries and spent < limit:
            return _told(module, options, tries - 1, times)  # others had the processor; what is compiled by now is kept
        if _is_late(error) and tries and spent < limit * times / 2:
            return _told(module, options, tries - 1, 2 * times)
        reasons = _behind(error.hazards, compiled)
        return diagnoses.ReportedRun(Examination((), 0, 0), hazards=error.hazards, ended=error.reason, behind=reasons)
    names = {number: argument.name for number, argument in enumerate(launch.arguments)}
    said = [one.wanted.text for one in launch.comparisons if isinstance(one.wanted, Expectation)]
    examined = _examined(cast("ProvenanceRecord", result.provenance), said, names)
    if result.hazards:  # what was followed is one order of accesses that might have come in another
        examined = replace(examined, found=tuple(replace(one, certain=False) for one in examined.found))
    return diagnoses.ReportedRun(examined, result.comparisons, result.hazards)


def _is_late(error: LaunchError) -> bool:
    """Whether the time limit was what ended a kernel."""
    return any(one.rule == "synccheck.no-progress" for one in error.hazards)


def _behind(hazards: Iterable[Hazard], compiled: Kernel) -> tuple[Behind, ...]:
    """Explanations of out-of-bounds accesses in the kernel's own code, equal ones once."""
    wrong = (one for one in hazards if one.rule == "memcheck.out-of-bounds" and not one.kernel)
    found = (behind(one.span, compiled.program) for one in wrong)
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _examined(record: ProvenanceRecord, said: list[str], names: dict[int, str]) -> Examination:
    """Check the laws of the product or copy that the launch file declares."""
    for text in said:
        try:
            return examine(record, text, names=names)
        except UsageError:
            continue
    return examine(record, names=names)
