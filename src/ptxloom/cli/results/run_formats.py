"""A run in the requested format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom import __version__
from ptxloom.cli.results.output import style_for
from ptxloom.hazards.kinds import KINDS
from ptxloom.views.runs import hazard_reports, run_reports

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options


def report(done: run_reports.Run, options: Options) -> str:
    """The report of a run; the formats for findings list only its hazards."""
    of_hazards = {
        "concise": hazard_reports.concise,
        "github": hazard_reports.github,
        "gitlab": hazard_reports.gitlab,
        "junit": hazard_reports.junit,
    }
    match options.output_format:
        case "json":
            return run_reports.as_json(done)
        case one if one in of_hazards:
            return of_hazards[one](done.hazards)
        case "sarif":
            return hazard_reports.sarif(done.hazards, __version__, KINDS)
        case _:
            return run_reports.full(done, style_for(options))


def remark(done: run_reports.Run, seconds: float | None = None) -> str:
    """The sentence for people: how it ended, whether arrays are wrong, how many hazards there are."""
    wrong = [f"{c.wrong:,} of {c.total:,} elements of {c.name} wrong" for c in done.comparisons if not c.passed]
    found = len(done.hazards)
    hazards = [f"{found} hazard{'s' * (found != 1)}"] if found else []
    time = [] if seconds is None else [f"ran in {1000 * seconds:.1f} ms"]
    return ", ".join(filter(None, [done.error, *wrong, *hazards, *time]))
