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
from ptxloom.diagnosis import diagnose
from ptxloom.diagnostics import PtxloomError, Severity, UsageError
from ptxloom.machine.kernels import kernel
from ptxloom.machine.memory.arena import Budget
from ptxloom.syntax import parse
from ptxloom.views.runs import diagnoses

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.diagnosis import Diagnosis, Repair
    from ptxloom.machine.results.provenance import ProvenanceRecord
    from ptxloom.syntax import Module


class CannotTry(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A repaired kernel cannot be run."""


def run(options: Options) -> Outcome:
    """Run it with provenance, and say which law is broken; exit 1 if one is."""
    launch = read_launch(options.file, Budget(options.memory_limit), options)
    source = read(str(launch.ptx), launch.target)
    module = parse(source.text, source.name)
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors:
        return Outcome(render(errors, options), COULD_NOT_RUN)
    found, wrong, _ = _judged(module, options)
    tried = None
    repair = next((one.repair for one in found if one.repair is not None), None)
    if options.attempt and repair is not None:
        tried = _tried(repair, options)
    elif options.attempt and found:
        talk("ptxloom: nothing to try: no change of single instructions is known that would mend it")
    code = FINDINGS if found or wrong else CLEAN
    remark = f"{', '.join(wrong)} wrong, and no law that is known explains it" if wrong and not found else ""
    match options.output_format:
        case "json":
            return Outcome(diagnoses.as_json(found, tried), code, remark)
        case "concise":
            return Outcome(diagnoses.concise(found), code, remark)
        case _:
            return Outcome(diagnoses.full(found, style_for(options), tried), code, remark)


def _tried(repair: Repair, options: Options) -> diagnoses.Tried:
    """The repaired kernel, run on the same arguments."""
    module = repair.apply()
    errors = [d for d in check(module) if d.severity is Severity.ERROR]
    if errors:
        raise CannotTry(f"the repair makes PTX that is not legal: {errors[0].message}")
    return diagnoses.Tried(*_judged(module, options))


def _judged(module: Module, options: Options) -> tuple[tuple[Diagnosis, ...], tuple[str, ...], bool]:
    """What is wrong, which arrays are not what they should be, and whether any was compared."""
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
    found = _diagnosed(cast("ProvenanceRecord", result.provenance), said, names)
    wrong = tuple(c.name for c in result.comparisons if not c.passed)
    return found, wrong, bool(result.comparisons)


def _diagnosed(record: ProvenanceRecord, said: list[str], names: dict[int, str]) -> tuple[Diagnosis, ...]:
    """The laws under what the launch file says the kernel computes, as far as that is a product or a copy."""
    for text in said:
        try:
            return diagnose(record, text, names=names)
        except UsageError:
            continue
    return diagnose(record, names=names)
