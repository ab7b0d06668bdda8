"""What a run did: as text for people, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import TOOLS
from ptxloom.names.demangling import demangled
from ptxloom.records import ABSENT, taken
from ptxloom.views.core.cells import harmless, printed
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.runs import comparison_reports, hazard_reports, profiles, traces
from ptxloom.views.runs.run_records import RestsRecord, RunRecord
from ptxloom.views.runs.source_lines import no_source
from ptxloom.views.runs.trace_records import records

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.comparison import Comparison
    from ptxloom.machine import Fidelity, Hazard, Profile, TraceRecord
    from ptxloom.views.runs.source_lines import SourceOf


@dataclass(frozen=True, slots=True)
class Run:
    """A launch and its outcome; `error` is set if the kernel was ended.

    `watched` are the tools that watched, `next_command` is what to type if an array is wrong, `left_open` names the
    numbers that the launch file lacks.
    """

    kernel: str
    grid: Any
    block: Any
    instructions: int
    hazards: tuple[Hazard, ...]
    error: str = ""
    output: str = ""
    comparisons: tuple[Comparison, ...] = ()
    profile: Profile | None = None
    trace: Traced | None = None
    output_cut: int = 0
    fidelity: Fidelity | None = None
    watched: tuple[str, ...] = ()
    next_command: str = ""
    left_open: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Traced:
    """What was recorded, what its bits are to be read as, how many executions were not examined, and source texts."""

    records: tuple[TraceRecord, ...]
    type: str = ""
    operand: str = ""
    unseen: int = 0
    sources: SourceOf = no_source


def full(run: Run, style: Style = PLAIN) -> str:
    """A few lines: what ran, what it printed, what it did wrong, whether the results are right."""
    lines = [
        style.paint(
            f"{harmless(demangled(run.kernel))}: grid {_extent(run.grid)}, block {_extent(run.block)}", Ink.BOLD
        )
    ]
    if run.output:
        lines += ["printed:", *(f"  {line}" for line in printed(run.output).removesuffix("\n").split("\n"))]
    if run.output_cut:
        calls = f"{run.output_cut:,} call{'s' * (run.output_cut > 1)} of printf"
        lines.append(f"  ... and more: the output of {calls} is cut (--printf-bytes)")
    if run.error:
        lines.append(style.paint(harmless(run.error), Ink.RED))
    else:
        lines.append(f"{run.instructions:,} warp instructions")
    if run.hazards:
        lines += ["", hazard_reports.full(run.hazards, style).rstrip("\n")]
    if not run.hazards and not run.error:
        lines += [_open(run.left_open) or _quiet(run.watched), *getattr(run.hazards, "limits", ())]
    lines += [comparison_reports.full(c, style).rstrip("\n") for c in run.comparisons]
    if run.next_command and not all(c.passed for c in run.comparisons):
        lines += [f"why: {harmless(run.next_command)}"]
    if run.fidelity is not None:
        lines += ["", str(run.fidelity)]
    if run.profile is not None:
        lines += ["", profiles.full(run.profile, style).rstrip("\n")]
    if run.trace is not None:
        lines += ["", _traced(run.trace, style)]
    return "\n".join(lines) + "\n"


def _quiet(watched: tuple[str, ...]) -> str:
    """That there are no hazards, as far as the tools that watched can see."""
    off = [tool for tool in TOOLS if tool not in watched]
    if not watched:
        return "no hazards"
    were = f"; {' and '.join(off)} {'was' if len(off) == 1 else 'were'} off" if off else ""
    return f"no hazards: {', '.join(watched)} watched{were}"


def _traced(trace: Traced, style: Style) -> str:
    nothing = "nothing was recorded: the warps and lanes chosen did not run it"
    text = traces.full(trace.records, trace.type, trace.operand, style, trace.sources).rstrip("\n") or nothing
    if trace.unseen:
        text += f"\n{trace.unseen:,} later executions were not held against --when; --trace-first skips the first"
    return text


def _open(left_open: Sequence[str]) -> str:
    """The remark on a run over no elements, because its sizes are left open; empty if they are not."""
    if not left_open:
        return ""
    names = ", ".join(f"`{harmless(name)}`" for name in left_open)
    are = "is a size" if len(left_open) == 1 else "are sizes"
    how = "put in a number, or take the `?` away if 0 is meant"
    return f"no verdict: {names} {are} left open (`value = 0    # ?`); {how}"


def _extent(value: object) -> str:
    match value:
        case list() | tuple():
            return " x ".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        case _:
            return str(value)


def as_json(run: Run) -> str:
    """The same as an object."""
    fidelity, profile, trace = run.fidelity, run.profile, run.trace
    return to_text(
        taken(
            RunRecord,
            run,
            schema=hazard_reports.SCHEMA_VERSION,
            demangled=demangled(run.kernel),
            hazards=tuple(map(hazard_reports.as_record, run.hazards)),
            comparisons=tuple(map(comparison_reports.record, run.comparisons)),
            fidelity=ABSENT if fidelity is None else tuple(taken(RestsRecord, row) for row in fidelity.rows),
            profile=ABSENT if profile is None else profiles.record(profile),
            trace=ABSENT if trace is None else records(trace.records, trace.type, trace.operand),
        )
    )
