"""What a run cost: a table sorted by cost, what would remove the bank conflicts, and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from ptxloom.names.demangling import demangled
from ptxloom.records import Keywords, Natural, Positive, Record, Spliced, taken
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.machine import Counts, Profile, ProfileRow, Remedy
    from ptxloom.syntax.origins import SourceLine

TITLE: Final = "What a run of a PTX kernel cost"
VERSION: Final = 1  # of the JSON: a field that changes its meaning or goes raises it
SHOWN: Final = 20
SOURCES_SHOWN: Final = 10
LINES_SHOWN: Final = 8
BARS: Final = "▁▂▃▄▅▆▇█"
_WIDTH: Final = 48
_COUNTS: Final = ("executed", "lanes", "wavefronts", "conflicts", "sectors", "ideal", "divergent")
_BULK: Final = ("bulk global bytes", "bulk shared bytes")


def full(profile: Profile, style: Style = PLAIN) -> str:
    """The totals, a remedy for each bank conflict, then the costliest instructions and source lines."""
    rows = profile.by_cost
    lines = [style.paint(harmless(str(profile)), Ink.BOLD)]
    lines += [style.paint(line, Ink.YELLOW) for line in advice(profile.remedies)]
    sources = profile.by_source
    if sources:
        cells = [(_place(row.origin), row.counts) for row in sources[:SOURCES_SHOWN]]
        lines += ["", *text_table(_table("source", cells, profile.totals.cost), style)]
    lines += ["", *text_table(_instructions(rows[:SHOWN], profile.totals.cost), style)]
    if len(rows) > SHOWN:
        rest = sum(row.counts.cost for row in rows[SHOWN:])
        lines.append(f"and {len(rows) - SHOWN} more instructions, {share(rest, profile.totals.cost)} of the cost")
    return "\n".join(lines).rstrip() + "\n"


def _instructions(rows: Sequence[ProfileRow], all_: float) -> Table:
    """Instructions with their lines, those of the program that was compiled first."""
    inner = _table("instruction", [(row.instruction, row.counts) for row in rows], all_)
    if not any(row.origin for row in rows):
        lines = _right([str(row.line) for row in rows], "line")
        cells = tuple((c[0], Cell(line), *c[1:]) for c, line in zip(inner.rows, lines[1:], strict=True))
        return Table((inner.head[0], lines[0], *inner.head[1:]), cells)
    lines = _right([str(row.line) for row in rows], "PTX line")
    sources = [Cell(_place(row.origin)) for row in rows]
    cells = tuple((c[0], s, Cell(line), *c[1:]) for c, line, s in zip(inner.rows, lines[1:], sources, strict=True))
    return Table((inner.head[0], "source", lines[0], *inner.head[1:]), cells)


def _table(title: str, rows: Iterable[tuple[str, Counts]], all_: float) -> Table:
    """A name and its counts a row; numbers to the right, zeros blank; bulk copies if there are any."""
    known = list(rows)
    names = (*_COUNTS, *(_BULK if any(counts.bulk_bytes for _, counts in known) else ()))
    columns = [[share(counts.cost, all_) for _, counts in known]]
    columns += [[_number(name, counts) for _, counts in known] for name in names]
    columns = [_right(column, name) for column, name in zip(columns, ("cost", *names), strict=True)]
    cells = tuple(
        (
            Cell(columns[0][n + 1], ink=share_ink(counts, all_)),
            Cell(_short(name)),
            *(Cell(c[n + 1]) for c in columns[1:]),
        )
        for n, (name, counts) in enumerate(known)
    )
    return Table((columns[0][0], title, *(column[0] for column in columns[1:])), cells)


def _number(name: str, counts: Counts) -> str:
    values = {
        "executed": counts.executions,
        "wavefronts": counts.wavefronts,
        "conflicts": counts.conflicts,
        "sectors": counts.sectors,
        "ideal": counts.ideal_sectors,
        "divergent": counts.divergent,
        _BULK[0]: counts.bulk_global_bytes,
        _BULK[1]: counts.bulk_shared_bytes,
    }
    if name == "lanes":
        return f"{counts.lanes / counts.executions:.1f}" if counts.executions else ""
    return f"{values[name]:,}" if values[name] else ""


def _right(texts: list[str], title: str) -> list[str]:
    """A column with its title, flush right."""
    width = max(len(text) for text in (*texts, title))
    return [text.rjust(width) for text in (title, *texts)]


def _short(text: str) -> str:
    clean = harmless(text)
    return clean if len(clean) <= _WIDTH else clean[: _WIDTH - 1] + "…"


def _place(origin: SourceLine | None) -> str:
    """A file and line; of a long path, the end."""
    text = harmless(f"{origin.file}:{origin.line}") if origin else ""
    return text if len(text) <= _WIDTH else "…" + text[1 - _WIDTH :]


def share(cost: float, all_: float) -> str:
    """How much of all cost."""
    return f"{100 * cost / all_:.1f} %" if all_ else "0.0 %"


def share_ink(counts: Counts, all_: float) -> Ink | None:
    """The colour of a cost: red from a tenth of all, yellow from three hundredths."""
    share = counts.cost / all_ if all_ else 0
    return Ink.RED if share >= 0.1 else Ink.YELLOW if share >= 0.03 else None


def heat(cost: float, most: float) -> str:
    """A bar for a cost, as high as it is beside the largest."""
    return BARS[min(len(BARS) - 1, int(len(BARS) * cost / most))] if cost and most else " "


def advice(remedies: Sequence[Remedy]) -> list[str]:
    """One line for each tile and what helps it, with the lines of all instructions that it helps."""
    joined: dict[tuple[str, tuple[str, ...], bool], list[Remedy]] = {}
    for remedy in remedies:
        changes = tuple(map(str, remedy.changes))
        joined.setdefault((remedy.array, changes, any(not c.conflicts for c in remedy.changes)), []).append(remedy)
    return [_advice(group) for group in joined.values()]


def _advice(group: Sequence[Remedy]) -> str:
    first = group[0]
    lines = sorted({remedy.row.line for remedy in group})
    where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines[:LINES_SHOWN]))}"
    if len(lines) > LINES_SHOWN:
        where += f" and {len(lines) - LINES_SHOWN} more"
    sources = dict.fromkeys(f"{origin.file.rpartition('/')[2]}:{origin.line}" for origin in _origins(group))
    if sources:
        where += f" ({harmless(', '.join(list(sources)[:LINES_SHOWN]))}{', …' if len(sources) > LINES_SHOWN else ''})"
    tile = f" on `{harmless(first.array)}`" if first.array else ""
    now = sum(remedy.row.counts.wavefronts for remedy in group)
    ideal = sum(remedy.row.counts.ideal_wavefronts for remedy in group)
    return f"{where}{tile}: {now:,} wavefronts where {ideal:,} would do: {first.verdict}"


def _origins(group: Sequence[Remedy]) -> list[SourceLine]:
    """The lines of the compiled program that remedies are for."""
    return [remedy.row.origin for remedy in group if remedy.row.origin is not None]


def as_json(profile: Profile) -> str:
    """Everything as an object."""
    return to_text(record(profile))


def _said(meaning: str) -> Keywords:
    """The schema of a count."""
    return Keywords(minimum=0, description=meaning)


class CountsRecord(Record, define="counts"):
    """What something cost."""

    cost: Annotated[float, _said("what tables are sorted by; no prediction of time")]
    executions: Annotated[int, _said("warp instructions, those whose predicate holds in no lane included")]
    lanes: Annotated[int, _said("lanes that took part, over all executions")]
    wavefronts: Annotated[int, _said("passes of shared memory")]
    ideal_wavefronts: Annotated[int, _said("what these would be without bank conflicts")]
    conflicts: Annotated[int, _said("wavefronts beyond the ideal")]
    sectors: Annotated[int, _said("32-byte sectors of global memory asked for")]
    ideal_sectors: Annotated[int, _said("the sectors if the lanes' bytes were contiguous")]
    divergent: Annotated[int, _said("branches that sent the lanes of a warp to different places")]
    bulk_global_bytes: Annotated[
        int, _said("bytes of global memory that bulk copies read or wrote; of a box, those inside of the tensor")
    ]
    bulk_shared_bytes: Annotated[
        int, _said("the same of shared memory; of a box, all that a load fills; of a multicast, in each CTA")
    ]


class InstructionRecord(Record):
    """What an instruction cost."""

    line: Positive
    instruction: str
    function: str
    source: str | None
    counts: Spliced[CountsRecord]


class SourceRecord(Record):
    """What a line of the program that was compiled cost."""

    file: str
    line: Natural
    counts: Spliced[CountsRecord]


class ChangeRecord(Record, define="change"):
    """A layout that costs less."""

    swizzle: tuple[int, int, int] | None
    element_bits: Annotated[int, Keywords(minimum=8)]
    pitch: tuple[Positive, Positive] | None
    conflicts_left: Natural


class RemedyRecord(Record, define="remedy"):
    """What would cost less at a line."""

    line: Positive
    array: str
    conflicts: Natural
    says: str
    changes: tuple[ChangeRecord, ...]


class ProfileRecord(Record, define="profile"):
    """What a run of a kernel cost."""

    version: Literal[1]
    kernel: str
    demangled: str
    totals: CountsRecord
    instructions: tuple[InstructionRecord, ...]
    sources: tuple[SourceRecord, ...]
    remedies: tuple[RemedyRecord, ...]


def record(profile: Profile) -> ProfileRecord:
    """Totals, every instruction that ran, every source line, remedies."""
    return ProfileRecord(
        version=VERSION,
        kernel=profile.kernel,
        demangled=demangled(profile.kernel),
        totals=taken(CountsRecord, profile.totals),
        instructions=tuple(map(_row_record, (row for row in profile.rows if row.counts.executions))),
        sources=tuple(
            taken(SourceRecord, row.origin, counts=taken(CountsRecord, row.counts)) for row in profile.by_source
        ),
        remedies=tuple(map(_remedy, profile.remedies)),
    )


def _row_record(row: ProfileRow) -> InstructionRecord:
    source = row.origin.told if row.origin else None
    return taken(InstructionRecord, row, source=source, counts=taken(CountsRecord, row.counts))


def _remedy(remedy: Remedy) -> RemedyRecord:
    changes = tuple(
        taken(
            ChangeRecord,
            one,
            swizzle=(one.swizzle.bits, one.swizzle.base, one.swizzle.shift) if one.swizzle else None,
            pitch=one.pitch or None,
            conflicts_left=one.conflicts,
        )
        for one in remedy.changes
    )
    return taken(RemedyRecord, remedy, line=remedy.row.line, says=remedy.verdict, changes=changes)
