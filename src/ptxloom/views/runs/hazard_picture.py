"""A hazard as a picture: the lines of both sides, and the banks of shared memory where they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import BANK_BYTES, BANKS, LINE_BYTES
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.core.places import place_of
from ptxloom.views.drawing.figure import Cell, Figure, Grid, Legend
from ptxloom.views.runs.code_listings import listing

if TYPE_CHECKING:
    from ptxloom.machine import Hazard, Party
    from ptxloom.source import Span

_AROUND: Final = 3  # lines above and below
_ONE, _OTHER = hue(3), hue(1)


def figure(hazard: Hazard) -> Figure:
    """Who did what where; of a race, both who met."""
    sides = _side(hazard.party, _ONE, "this access" if hazard.other else "here")
    entries = [(_ONE, _doing(hazard.party))]
    if hazard.other is not None:
        sides += _side(hazard.other, _OTHER, "the other side")
        entries.append((_OTHER, _doing(hazard.other)))
    bands: list[tuple[Grid, ...]] = [(side,) for side in sides]
    if hazard.space == "shared" and hazard.size:
        bands.append((_memory(hazard),))
    notes = [
        hazard.message,
        *([hazard.element] if hazard.element else []),
        *([f"Help: {hazard.help}"] * bool(hazard.help)),
    ]
    if hazard.count > 1:
        notes.append(f"Seen {hazard.count:,} times; this is the first.")
    return Figure(hazard.rule, tuple(bands), tuple(notes), Legend("who was there", tuple(entries)))


def _doing(party: Party) -> str:
    return f"{party.who}{f': {party.action}' if party.action else ''}"


def _side(party: Party, colour: str, name: str) -> list[Grid]:
    """The line of an access among its neighbours: first in the program that was compiled, where there is its text."""
    place = place_of(party.span)
    if place.ptx is None or place.span is None:
        origin = [f"from {place}"] if place.ptx is not None else []
        return [_lines(party.span, colour, name, [_doing(party), *origin])]
    return [
        _lines(place.span, colour, name, [_doing(party)]),
        _lines(party.span, colour, f"{name}, in PTX", [f"from {place}"]),
    ]


def _lines(span: Span, colour: str, name: str, notes: list[str]) -> Grid:
    source, line = span.source, span.line
    last = len(source.text.splitlines())
    lines = range(max(1, line - _AROUND), min(last, line + _AROUND) + 1)
    return listing(source, lines, name, {line: colour}, notes=notes)


def _memory(hazard: Hazard) -> Grid:
    """The lines of shared memory that are concerned, bank by bank."""
    first = hazard.address // LINE_BYTES
    last = (hazard.address + hazard.size - 1) // LINE_BYTES
    cells: dict[tuple[int, int], Cell] = {}
    for row, line in enumerate(range(first, last + 1)):
        for bank in range(BANKS):
            address = line * LINE_BYTES + bank * BANK_BYTES
            low = max(address, hazard.address)
            high = min(address + BANK_BYTES, hazard.address + hazard.size)
            bytes_ = f"+{low - address}–{high - 1 - address}" if high - low > 1 else f"+{low - address}"
            touched = low < high
            tip = f"bank {bank}, address {address:#x}" + f": bytes {bytes_} at fault" * touched
            cells[row, bank] = Cell((bytes_,) if touched else (), Role.OTHER if touched else Role.BLANK, tip, touched)
    rows = tuple(f"0x{line * LINE_BYTES:05x}" for line in range(first, last + 1))
    where = f" ({hazard.symbol})" if hazard.symbol else ""
    title = f"shared memory at {hazard.address:#x}{where}, {hazard.size} bytes: the bytes of each bank at fault"
    return Grid(title, rows, tuple(map(str, range(BANKS))), cells, "address ↓", "bank →")
