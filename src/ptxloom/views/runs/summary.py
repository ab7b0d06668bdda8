"""Runs as a few lines of Markdown: what a pull request's page shows of kernels, their hazards and their costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.names.demangling import demangled
from ptxloom.views.findings import summary as findings_summary
from ptxloom.views.findings.summary import cell
from ptxloom.views.runs.comparison_reports import full as comparison_report
from ptxloom.views.runs.hazard_reports import diagnostic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ptxloom.machine import Hazard
    from ptxloom.views.runs.run_reports import Run


@dataclass(frozen=True, slots=True)
class CostChange:
    """A kernel's costs compared with its snapshot.

    Attributes:
        kernel: The kernel.
        name: The name of the snapshot.
        before: The costs in the snapshot; None without one.
        now: The current costs.
    """

    kernel: str
    name: str
    before: Mapping[str, int] | None
    now: Mapping[str, int]


def of_run(run: Run, remark: str) -> str:
    """One launch: hazards, and arrays that were compared."""
    found = [diagnostic(hazard) for hazard in run.hazards]
    clean = "" if run.hazards or run.error else "no hazards"
    said = ", ".join(filter(None, (f"{run.instructions:,} warp instructions", clean, remark)))
    text = findings_summary.summary(f"ptxloom run: {demangled(run.kernel)}", found, said)
    compared = [f"- {cell(comparison_report(one).partition(chr(10))[0])}" for one in run.comparisons]
    return text + ("\n".join(compared) + "\n\n" if compared else "")


def of_tests(hazards: Sequence[Hazard], held: Sequence[CostChange]) -> str:
    """A session of tests: all hazards, and how costs differ from the snapshots."""
    found = [diagnostic(hazard) for hazard in hazards]
    said = f"{len(found)} hazard{'s' * (len(found) != 1)}" if found else "no hazards"
    return findings_summary.summary("pytest --ptxloom", found, said) + _costs(held)


def _costs(held: Sequence[CostChange]) -> str:
    """The costs that differ from their snapshots, one a row."""
    if not held:
        return ""
    rows = [row for one in held for row in _differences(one)]
    if not rows:
        return f"Costs are those of {len(held)} snapshot{'s' * (len(held) != 1)}.\n\n"
    head = "| kernel | snapshot | what | was | is | difference |\n|---|---|---|--:|--:|--:|\n"
    return f"{head}{''.join(rows)}\n"


def _differences(held: CostChange) -> list[str]:
    """The rows of one snapshot."""
    start = f"| `{cell(demangled(held.kernel))}` | {cell(held.name)} |"
    if held.before is None:
        return [f"{start} new | | {held.now['executions']:,} warp instructions | |\n"]
    return [
        f"{start} {what.replace('_', ' ')} | {was:,} | {now:,} | {_change(was, now)} |\n"
        for what, now in held.now.items()
        if (was := held.before.get(what, now)) != now
    ]


def _change(was: int, now: int) -> str:
    """The growth, in per cent if defined."""
    return f"{100 * (now - was) / was:+.1f} %" if was else f"{now - was:+,}"
