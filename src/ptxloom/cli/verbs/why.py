"""`ptxloom why`: why the result of a kernel is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ptxloom.checker import check
from ptxloom.cli.arguments.limit_arguments import limits
from ptxloom.cli.findings import render
from ptxloom.cli.inputs import read
from ptxloom.cli.launch_files.expectations import references
from ptxloom.cli.launch_files.launch_file import read_launch
from ptxloom.cli.output import CLEAN, COULD_NOT_RUN, FINDINGS, Outcome, style_for, talk
from ptxloom.comparison.expression import Expectation
from ptxloom.diagnosis import examine
from ptxloom.diagnostics import PtxloomError, Severity, UsageError
from ptxloom.machine.kernels import kernel
from ptxloom.machine.memory.arena import Budget
from ptxloom.syntax.parser import parse_source
from ptxloom.views.runs import diagnoses

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.diagnosis import Examination, Repair
    from ptxloom.machine.results.provenance import ProvenanceRecord
    from ptxloom.syntax import Module


class CannotTry(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A repaired kernel cannot be run."""


def run(options: Options) -> Outcome:
    """Run it with provenance, and say which law is broken; exit 1 if one is, 2 if not all could be judged."""
    launch = read_launch(options.file, Budget(options.memory_limit), options)
    source = read(str(launch.ptx), launch.target)
    module = parse_source(source)
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors:
        return Outcome(render(errors, options), COULD_NOT_RUN)
    told = _told(module, options)
    found, tried = told.examined.found, None
    repair = next((one.repair for one in found if one.repair is not None), None)
    if options.attempt and repair is not None:
        tried = _tried(repair, options)
    elif options.attempt and found:
        talk("ptxloom: nothing to try: no change of single instructions is known that would mend it")
    match options.output_format:
        case "json":
            text = diagnoses.as_json(told, tried)
        case "concise":
            text = diagnoses.concise(told)
        case _:
            text = diagnoses.full(told, style_for(options), tried)
    return Outcome(text, _code(told))


def _code(told: diagnoses.Told) -> int:
    if told.examined.found or told.wrong:
        return FINDINGS
    return CLEAN if told.examined.verdict == "clean" else COULD_NOT_RUN


def _tried(repair: Repair, options: Options) -> diagnoses.Told:
    """The repaired kernel, run on the same arguments."""
    module = repair.apply()
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors:
        raise CannotTry(f"the repair makes PTX that is not legal: {errors[0].message}")
    return _told(module, options)


def _told(module: Module, options: Options) -> diagnoses.Told:
    """What the laws say of a run, and what its arrays were compared with."""
    launch = read_launch(options.file, Budget(options.memory_limit), options)  # arrays as they were
    compiled = kernel(module, launch.kernel, launch.target)
    expected = references(launch, compiled)
    result = compiled.launch(
        launch.grid,
        launch.block,
        [a.passed for a in launch.arguments],
        launch.shared_bytes,
        cluster=launch.cluster,
        threads=options.threads,
        timeout=options.timeout,
        contract=launch.contract,
        reference=expected,
        provenance=True,
        **limits(options),
    )
    names = {number: argument.name for number, argument in enumerate(launch.arguments)}
    said = [wanted.wanted.text for wanted in launch.comparisons if isinstance(wanted.wanted, Expectation)]
    return diagnoses.Told(_examined(cast("ProvenanceRecord", result.provenance), said, names), result.comparisons)


def _examined(record: ProvenanceRecord, said: list[str], names: dict[int, str]) -> Examination:
    """The laws under what the launch file says the kernel computes, as far as that is a product or a copy."""
    for text in said:
        try:
            return examine(record, text, names=names)
        except UsageError:
            continue
    return examine(record, names=names)
