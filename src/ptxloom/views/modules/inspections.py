"""The contents of a module, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import TYPE_CHECKING, Final, Literal

from ptxloom.names.demangling import demangled, learn
from ptxloom.records import ABSENT, Absent, Natural, Record, Spliced, taken
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.places import SourcePlace, place_of, source_place
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, narrowed, text_table
from ptxloom.views.findings import finding_reports
from ptxloom.views.findings.machine_readable import FindingRecord, finding
from ptxloom.views.fragments.prefaces import counted
from ptxloom.views.modules.trees import Heading, heading, headline
from ptxloom.views.runs.heat import listing
from ptxloom.views.runs.profiles import ProfileRecord, share, share_ink
from ptxloom.views.runs.profiles import record as profile_record
from ptxloom.views.runs.source_lines import above_lines, no_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fragments import Fragment
    from ptxloom.inspection import FunctionSummary, Inspection, Move
    from ptxloom.machine import Profile
    from ptxloom.views.runs.source_lines import SourceOf

VERDICT_INK: Final = {"legal": Ink.GREEN, "warning": Ink.YELLOW, "error": Ink.RED}
PARAMETERS_SHOWN: Final = 12
_HEAD: Final = 14


def full(
    inspection: Inspection, style: Style = PLAIN, profile: Profile | None = None, sources: SourceOf = no_source
) -> str:
    """The module, each function with its matrix moves, then the findings; with a profile, what each line cost."""
    learn(inspection.module.functions)
    lines = [style.paint(harmless(headline(inspection.module)), Ink.BOLD)]
    if inspection.shared_bytes:
        lines.append(f"shared memory declared by the module: {inspection.shared_bytes} bytes")
    if inspection.dynamic_shared:
        lines.append("shared memory whose size the launch decides: yes")
    for function in inspection.functions:
        above = (
            {}
            if profile is None or sources is no_source
            else above_lines(inspection.module, function.function, sources)
        )
        lines += ["", *_function(function, style, profile, above)]
    text = "\n".join(lines) + "\n"
    return text + ("\n" + finding_reports.full(inspection.findings, style) if inspection.findings else "")


def _function(
    function: FunctionSummary, style: Style, profile: Profile | None, above: Mapping[int, Sequence[str]]
) -> list[str]:
    """One function: what it declares, and a table of its moves."""
    kind = "kernel" if function.function.kind == "entry" else "function"
    name = style.paint(harmless(demangled(function.function.name)), Ink.BOLD)
    limits = "".join(f", {limit}" for limit in function.limits)
    lines = [f"{kind} {name}, line {function.function.span.line}{limits}"]
    shown = [harmless(p) for p in function.parameters[:PARAMETERS_SHOWN]]
    if len(function.parameters) > PARAMETERS_SHOWN:
        shown.append(f"and {len(function.parameters) - PARAMETERS_SHOWN} more")
    registers = [f"{n} {t}" for t, n in function.registers]
    lines += _listed_below("parameters", shown, style)
    lines += _listed_below("registers", registers, style, " (as declared)")
    lines += [f"  shared        {function.shared_bytes} bytes"] * bool(function.shared_bytes)
    lines += [f"  local         {function.local_bytes} bytes"] * bool(function.local_bytes)
    lines += [f"  instructions  {function.instructions}, of them {_count(function.moves)}"]
    if function.moves:
        room = None if style.columns is None else style.columns - 2
        table = narrowed(_moves(function.moves, profile), room, spared="instruction")
        lines += ["", *(f"  {line}" for line in text_table(table, style))]
    if profile is not None and any(row.function == function.function.name for row in profile.rows):
        lines += ["", *listing(function.function, profile, style, above)]
    return lines


def _listed_below(what: str, items: Sequence[str], style: Style, behind: str = "") -> list[str]:
    """A head and a list behind it, on as many lines as it takes where a width is given."""
    head, text = f"  {what:{_HEAD}}", f"{', '.join(items) or 'none'}{behind}"
    if style.columns is None:
        return [head + text]
    room = max(style.columns, 2 * len(head))
    return wrap(text, room, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False)


def _count(moves: Sequence[Move]) -> str:
    return f"{len(moves)} matrix move" + "s" * (len(moves) != 1)


def _moves(moves: Sequence[Move], profile: Profile | None = None) -> Table:
    """Every move: where, what it cost, what, whether it is legal, who holds what, where it comes from."""
    costs = () if profile is None else ("cost", "wavefronts", "conflicts")
    sourced = any(m.origin for m in moves)
    return Table(
        (*(("source", "PTX line") if sourced else ("line",)), *costs, "instruction", "verdict", "fragment"),
        tuple(
            (
                *((Cell(m.origin.told if m.origin else ""),) if sourced else ()),
                Cell(str(m.instruction.span.line)),
                *(() if profile is None else _cost(m, profile)),
                Cell(m.spelling),
                Cell(m.verdict, ink=VERDICT_INK.get(m.verdict)),
                Cell(summary(m)),
            )
            for m in moves
        ),
    )


def _cost(move: Move, profile: Profile) -> tuple[Cell, ...]:
    """What a move cost in a run: its share, wavefronts, and how many of these are bank conflicts."""
    counts = profile.line(move.instruction.span.line)
    all_ = profile.totals.cost
    texts = (str(counts.wavefronts or ""), str(counts.conflicts or ""))
    return (Cell(share(counts.cost, all_), ink=share_ink(counts, all_)), *map(Cell, texts))


def summary(move: Move) -> str:
    """A move's fragments in a few words."""
    if not move.fragments:
        return "no such form" if move.verdict == "error" else "not described"
    operands: dict[str, list[str]] = {}
    for fragment in move.fragments:
        operands.setdefault(_summary(fragment), []).append(fragment.operand)
    plural = "s" * (move.fragments[-1].registers != 1)
    if move.fragments[0].operand == "r":
        return f"{next(iter(operands))} register{plural}"
    return ", ".join(f"{_listed(names)} {what}" for what, names in operands.items()) + f" register{plural}"


def _listed(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _summary(fragment: Fragment) -> str:
    """One fragment: `4 matrices 8x8 in 4`, how many of which shape in how many registers of a lane."""
    shape = f"{fragment.rows}x{fragment.columns}"
    if fragment.matrices == 1 and not fragment.addressed:
        return f"{shape} in {fragment.registers}"
    return f"{counted(fragment)} {shape} in {fragment.registers}"


def concise(inspection: Inspection) -> str:
    """One line a move, then one line a finding."""
    lines: list[str] = []
    for function in inspection.functions:
        for m in function.moves:
            place = place_of(m.instruction.span)
            behind = f" (PTX: {place.ptx})" if place.ptx else ""
            lines.append(harmless(f"{place}: {m.verdict}: {m.spelling}: {summary(m)}{behind}\n"))
    return "".join(lines) + finding_reports.concise(inspection.findings)


class FragmentRecord(Record):
    """The data of a move's operand."""

    operand: str
    matrices: Natural
    rows: Natural
    columns: Natural
    registers: Natural
    evidence: str


class MoveRecord(Record):
    """An instruction that moves or multiplies matrices."""

    instruction: str
    place: Spliced[SourcePlace]
    verdict: str
    source: str | None
    fragments: tuple[FragmentRecord, ...]


class FunctionRecord(Record):
    """A function, and the moves in it."""

    name: str
    demangled: str
    kind: Literal["entry", "func"]
    line: Natural
    parameters: tuple[str, ...]
    registers: Mapping[str, int]
    shared_bytes: Natural
    local_bytes: Natural
    limits: tuple[str, ...]
    instructions: Natural
    matrix_moves: tuple[MoveRecord, ...]


class FileRecord(Record):
    """A file that was inspected."""

    file: str
    heading: Spliced[Heading]
    shared_bytes: Natural
    dynamic_shared: bool
    functions: tuple[FunctionRecord, ...]
    findings: tuple[FindingRecord, ...]
    profile: ProfileRecord | Absent = ABSENT


def as_json(inspections: Sequence[Inspection], profiled: Mapping[int, Profile] | None = None) -> str:
    """Every inspected file as one object of a JSON array; `profiled` has profiles by a file's place."""
    known = profiled or {}
    return to_text([_record(one, known.get(number)) for number, one in enumerate(inspections)])


def _record(inspection: Inspection, profile: Profile | None) -> FileRecord:
    """One file."""
    learn(inspection.module.functions)
    return taken(
        FileRecord,
        inspection,
        file=inspection.module.source.name,
        heading=heading(inspection.module),
        functions=tuple(map(_function_record, inspection.functions)),
        findings=tuple(map(finding, inspection.findings)),
        profile=ABSENT if profile is None else profile_record(profile),
    )


def _function_record(found: FunctionSummary) -> FunctionRecord:
    """One function."""
    return taken(
        FunctionRecord,
        found,
        name=found.function.name,
        demangled=demangled(found.function.name),
        kind=found.function.kind,
        line=found.function.span.line,
        registers=dict(found.registers),
        matrix_moves=tuple(map(_move_record, found.moves)),
    )


def _move_record(move: Move) -> MoveRecord:
    """One move."""
    return MoveRecord(
        instruction=move.spelling,
        place=source_place(move.instruction.span),
        verdict=move.verdict,
        source=move.origin.told if move.origin else None,
        fragments=tuple(taken(FragmentRecord, one, evidence=one.confirmed) for one in move.fragments),
    )
