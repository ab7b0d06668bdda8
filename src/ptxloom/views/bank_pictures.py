"""The cost of an access to shared memory, with a picture of the banks in each phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import BANKS, LANES
from ptxloom.records import Natural, Record, taken
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style
from ptxloom.views.drawing.figure import Cell, Figure, Grid, Legend

if TYPE_CHECKING:
    from ptxloom.banks import BankReport, BankUse, Phase

COLOUR_BY: Final = ("lane", "bank")
CELL: Final = 4


def full(report: BankReport, style: Style = PLAIN) -> str:
    """The costs, then each phase as a grid of wavefronts and banks."""
    verdict = style.paint(str(report), Ink.YELLOW if report.conflicts else Ink.GREEN)
    lines = [
        f"{verdict}.",
        f"wavefronts {report.wavefronts}, ideal {report.ideal}, bank conflicts {report.conflicts}",
        "A row is one wavefront; a cell is the lane that the bank serves in it, + where several lanes share the word.",
    ]
    for number, phase in enumerate(report.phases):
        lines += ["", *_phase(number, phase, style)]
    return "\n".join(lines) + "\n"


def _phase(number: int, phase: Phase, style: Style) -> list[str]:
    """One phase: its banks across, its wavefronts down."""
    if not phase.lanes:
        return [f"phase {number}: no lane takes part"]
    head = f"phase {number}, lanes {_lanes(phase.lanes)}: {_count(phase.wavefronts, 'wavefront')}"
    ruler = style.paint("bank" + "".join(f"{bank:{CELL}}" for bank in range(BANKS)), Ink.BOLD)
    by_bank = {use.bank: use for use in phase.banks}
    rows = (_wavefront(w, by_bank, style) for w in range(phase.wavefronts))
    return [head, ruler, *rows]


def _wavefront(number: int, by_bank: dict[int, BankUse], style: Style) -> str:
    """One pass: in each bank the lanes that want its next word."""
    cells: list[str] = []
    for bank in range(BANKS):
        use = by_bank.get(bank)
        if use is None or number >= len(use.lanes):
            cells.append(style.paint(f"{'.':>{CELL}}", Ink.DIM))
        else:
            lanes = use.lanes[number]
            shown = f"{lanes[0]}{'+' * (len(lanes) > 1)}"
            cells.append(style.hue(f"{shown:>{CELL}}", lanes[0] // LANES_PER_HUE))
    return f"{number + 1:<{CELL}}" + "".join(cells)


def _lanes(lanes: tuple[int, ...]) -> str:
    """Lanes as a range where they are one."""
    first, last = lanes[0], lanes[-1]
    if len(lanes) > 1 and last - first == len(lanes) - 1:
        return f"{first} to {last}"
    return " ".join(map(str, lanes))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + "s" * (number != 1)


def figure(report: BankReport, before: BankReport | None = None, colour_by: str = "lane") -> Figure:
    """Every phase as a grid of wavefronts and banks; what an access needs beyond one wavefront has a heavy edge.

    Args:
        report: What is drawn.
        before: The same access without a swizzle, drawn left of it.
        colour_by: `lane`, four lanes a colour, or `bank`, four banks a colour.

    Raises:
        UsageError: There is no such colour.
    """
    if colour_by not in COLOUR_BY:
        raise UsageError("colour_by", colour_by, f"one of {', '.join(COLOUR_BY)}")
    sides = [(report, "after: " if before else "")]
    if before is not None:
        sides.insert(0, (before, "before: "))
    grids = [[_phase_grid(side, number, name, colour_by) for number in range(len(side.phases))] for side, name in sides]
    bands = tuple(band for band in zip(*grids, strict=True) if any(band))
    notes = [f"{name}{side}." for side, name in sides]
    by_lane = colour_by == "lane"
    letter, count = ("T", LANES) if by_lane else ("bank ", BANKS)
    names = [f"{letter}{at}–{at + LANES_PER_HUE - 1}" for at in range(0, count, LANES_PER_HUE)]
    title = (
        f"a colour for four {'lanes' if by_lane else 'banks'}; a heavy edge: a further pass, which is a bank conflict"
    )
    legend = Legend(title, tuple((hue(at), name) for at, name in enumerate(names)))
    said = (*notes, "A cell is the lane that a bank of 4 bytes serves; + where several lanes share the word.")
    return Figure(f"shared memory by its 32 banks: {report.access.spelling}", bands, said, legend)


def _phase_grid(report: BankReport, number: int, name: str, colour_by: str) -> Grid | None:
    """One phase; None if no lane takes part."""
    phase = report.phases[number]
    if not phase.lanes:
        return None
    cells: dict[tuple[int, int], Cell] = {
        (wavefront, bank): Cell((), Role.BLANK) for wavefront in range(phase.wavefronts) for bank in range(BANKS)
    }
    for use in phase.banks:
        for wavefront, (word, lanes) in enumerate(zip(use.words, use.lanes, strict=True)):
            group = lanes[0] if colour_by == "lane" else use.bank
            tip = f"bank {use.bank}, wavefront {wavefront + 1}: the word at {word:#x}, for lanes {_lanes(lanes)}"
            text = f"{lanes[0]}{'+' * (len(lanes) > 1)}"
            cells[wavefront, use.bank] = Cell((text,), hue(group // LANES_PER_HUE), tip, alarm=wavefront > 0)
    title = f"{name}phase {number}, lanes {_lanes(phase.lanes)}: {_count(phase.wavefronts, 'wavefront')}"
    rows = tuple(str(at + 1) for at in range(phase.wavefronts))
    return Grid(title, rows, tuple(map(str, range(BANKS))), cells, "wavefront ↓", "bank →")


def concise(report: BankReport) -> str:
    """One line."""
    return f"{report}\n"


class BankUseRecord(Record):
    """What one bank must serve in one phase."""

    bank: Natural
    words: tuple[int, ...]
    lanes: tuple[tuple[int, ...], ...]


class PhaseRecord(Record):
    """Lanes that are served together."""

    lanes: tuple[int, ...]
    wavefronts: Natural
    conflicts: Natural
    banks: tuple[BankUseRecord, ...]


class BanksRecord(Record):
    """What one instruction costs."""

    instruction: str
    wavefronts: Natural
    ideal: Natural
    conflicts: Natural
    ways: Natural
    pitch: Natural
    phases: tuple[PhaseRecord, ...]


def as_json(report: BankReport) -> str:
    """The whole report."""
    return to_text(
        taken(BanksRecord, report, instruction=report.access.spelling, phases=tuple(map(_phase_record, report.phases)))
    )


def _phase_record(phase: Phase) -> PhaseRecord:
    """One phase."""
    return taken(PhaseRecord, phase, banks=tuple(taken(BankUseRecord, use) for use in phase.banks))
