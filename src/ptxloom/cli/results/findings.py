"""Findings in the requested format, and the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom import __version__
from ptxloom.cli.results.output import CLEAN, FINDINGS, style_for
from ptxloom.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnostics import Diagnostic


def render(found: Sequence[Diagnostic], options: Options, *, complete: bool = True) -> str:
    """The findings, all of them or (not `complete`) of what could be read, as text in the requested format."""
    match options.output_format:
        case "concise":
            from ptxloom.views.findings.finding_reports import concise  # noqa: PLC0415 - one format a run

            return concise(found)
        case "json":
            from ptxloom.views.findings.machine_readable import as_json  # noqa: PLC0415 - likewise

            return as_json(found)
        case "sarif":
            from ptxloom.views.findings.sarif import sarif  # noqa: PLC0415 - likewise

            return sarif(found, __version__, _pages(found), complete=complete)
        case "github" | "gitlab" | "junit":
            return _for_integration(found, options.output_format)
        case _:
            from ptxloom.views.findings.finding_reports import full  # noqa: PLC0415 - likewise

            return full(found, style_for(options))


def statistics(found: Sequence[Diagnostic], options: Options) -> str:
    """The number of findings of each rule: as JSON if requested, else as a table."""
    from ptxloom.views.findings import statistics as shown  # noqa: PLC0415 - only this counts

    return shown.as_json(found) if options.output_format == "json" else shown.table(found, style_for(options))


def _for_integration(found: Sequence[Diagnostic], output_format: str) -> str:
    """The findings as a service of continuous integration shows them."""
    from ptxloom.views.findings import junit, machine_readable  # noqa: PLC0415 - one format a run

    shown = {"github": machine_readable.github, "gitlab": machine_readable.gitlab, "junit": junit.junit}
    return shown[output_format](found)


def _pages(found: Sequence[Diagnostic]) -> Mapping[str, str]:
    """The pages of the rules with findings."""
    from ptxloom.checker import rule_page, rules  # noqa: PLC0415 - only SARIF carries pages

    return {rule: rule_page(rule).markdown for rule in {d.rule for d in found} & {*rules()}}


def verdict(found: Sequence[Diagnostic], number_of_files: int) -> tuple[int, str]:
    """The exit code, and the sentence that sums the findings up."""
    counts = {s: sum(d.severity is s for d in found) for s in Severity}
    parts = [_count(n, str(s)) for s, n in counts.items() if n]
    where = f"in {_count(number_of_files, 'file')}"
    remark = f"{', '.join(parts)} {where}" if parts else f"no findings {where}"
    if not number_of_files:
        remark = ""
    return (FINDINGS if counts[Severity.ERROR] or counts[Severity.WARNING] else CLEAN), remark


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)
