"""What an access to shared memory costs, with a picture of the banks in each phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import LANES_PER_HUE, PLAIN, Ink, Style

if TYPE_CHECKING:
    from ptxloom.banks import BankReport, BankUse, Phase
    from ptxloom.views.core.json_text import Value

BANKS: Final = 32
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


def concise(report: BankReport) -> str:
    """One line."""
    return f"{report}\n"


def as_json(report: BankReport) -> str:
    """The whole report."""
    phases: list[Value] = [_phase_record(p) for p in report.phases]
    return to_text(
        {
            "instruction": report.access.spelling,
            "wavefronts": report.wavefronts,
            "ideal": report.ideal,
            "conflicts": report.conflicts,
            "ways": report.ways,
            "pitch": report.pitch,
            "phases": phases,
        }
    )


def _phase_record(phase: Phase) -> Value:
    """One phase."""
    banks: list[Value] = [
        {"bank": use.bank, "words": [*use.words], "lanes": [[*lanes] for lanes in use.lanes]} for use in phase.banks
    ]
    return {"lanes": [*phase.lanes], "wavefronts": phase.wavefronts, "conflicts": phase.conflicts, "banks": banks}
