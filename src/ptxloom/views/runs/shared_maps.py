"""Shared memory with its 32 banks as columns: text by pieces of 16 bytes, a picture and a page by banks, JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.descriptors.swizzling import CHUNK_BYTES
from ptxloom.isa.limits import BANK_BYTES, BANKS, LINE_BYTES
from ptxloom.machine import Kind
from ptxloom.names.demangling import demangled
from ptxloom.records import taken
from ptxloom.views.core.cells import elide, harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.palette import Role, hue
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Cell, Table, text_table
from ptxloom.views.drawing.figure import Cell as Drawn
from ptxloom.views.drawing.figure import Figure, Grid
from ptxloom.views.fragments.filled_pictures import number
from ptxloom.views.runs.shared_records import PieceRecord, SharedRecord

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine import SharedElements, SharedMap, SharedPiece

VERSION: Final = 1
_LONGEST: Final = 7  # characters in a cell
_WIDEST: Final = 4  # values in a cell, each on a line of its own
_UNITS: Final = "A row is 128 bytes, a cell the 4 bytes of one bank."
_EMPTY: Final = "·"
_LONGEST_MOMENT: Final = 100
_WORDS: Final = {Kind.COMPUTED: "computed", Kind.PRODUCT: "product", Kind.MIXED: "mixed"}


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a map to show.

    Attributes:
        rows: The number of lines of 128 bytes.
        values: Whether to show values, besides elements.
        by_chunk: Whether the colour shows which 16 bytes of its row an element is in; else, which row.
    """

    rows: int = 64
    values: bool = False
    by_chunk: bool = False

    def group(self, elements: SharedElements) -> int | None:
        """What a piece is coloured by; None if nothing is known of it."""
        return elements.chunk if self.by_chunk and elements.row is not None else elements.row


def full(found: SharedMap, shown: Shown, style: Style = PLAIN) -> str:
    """A line of memory a row, in pieces of 16 bytes; what they hold under what they are, if that is asked for."""
    lines = [style.paint(title(found), Ink.BOLD), _legend(found, shown)]
    head = ("address", *(f"banks {at}-{at + 3}" for at in range(0, BANKS, CHUNK_BYTES // BANK_BYTES)))
    table: list[tuple[Cell, ...]] = []
    several = len(_arrays(found)) > 1
    for line in found.lines[: shown.rows]:
        pieces = {piece.address: piece for piece in found.pieces(line, CHUNK_BYTES)}
        places = [pieces.get(line + at) for at in range(0, LINE_BYTES, CHUNK_BYTES)]
        table.append((Cell(f"0x{line:05x}"), *(_cell(piece, shown, several=several) for piece in places)))
        if shown.values:
            table.append((Cell(""), *(Cell("" if piece is None else _values(found, piece)) for piece in places)))
    lines += text_table(Table(head, tuple(table)), style)
    return "\n".join([*lines, *_more(found, shown)]) + "\n"


def title(found: SharedMap) -> str:
    """What is drawn."""
    of = f" ({harmless(found.of)})" if found.of else ""
    moment = f"before {elide(found.moment, _LONGEST_MOMENT)}" if found.moment else "at the end"
    return f"shared memory{of} of {harmless(demangled(found.kernel))}, CTA {found.cta}, {moment}"


def _arrays(found: SharedMap) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(p.elements.array for line in found.lines for p in found.pieces(line, 16) if p.elements.array)
    )


def _legend(found: SharedMap, shown: Shown) -> str:
    names = _arrays(found)
    if not names:
        return f"nothing is known to come from an array; bytes as {found.type}"
    colour = "each 16 bytes of a row" if shown.by_chunk else "each row of an array"
    marks = "~: converted; 3,0|1,8: these two, and no run between"
    return f"elements of {', '.join(map(harmless, names))} by index ({marks}); a colour for {colour}"


def _cell(piece: SharedPiece | None, shown: Shown, *, several: bool) -> Cell:
    if piece is None:
        return Cell("")
    group = shown.group(piece.elements)
    return Cell(label(piece.elements, several=several), group, Ink.DIM if group is None else None)


def label(elements: SharedElements, *, several: bool = False) -> str:
    """Elements in a few characters: `3,8-15`, `3-10,8` down a column, `3,8|1,0` where there is no run."""
    name, first, second = _parts(elements)
    joint = "" if not second else "," if elements.regular else "|"
    return f"{name} {first}{joint}{second}" if several and name else f"{first}{joint}{second}"


def _parts(elements: SharedElements) -> tuple[str, str, str]:
    """The array, and an index in two parts: all but its end, and its end; or the two ends of what is not a run."""
    if not elements.array:
        return "", _WORDS.get(elements.kind, _EMPTY if elements.regular else "mixed"), ""
    mark = "~" if elements.kind is Kind.CONVERTED else ""
    name = harmless(elements.array)
    if not elements.regular:
        return name, f"{mark}{_index(elements.first)}", _index(elements.last)
    each = [str(a) if a == b else f"{a}-{b}" for a, b in zip(elements.first, elements.last, strict=True)]
    return (name, mark + ",".join(each[:-1]), each[-1]) if len(each) > 1 else (name, mark + "".join(each), "")


def _index(index: Iterable[int]) -> str:
    return ",".join(map(str, index))


def _values(found: SharedMap, piece: SharedPiece) -> str:
    return " ".join(number(value, found.type) for value in piece.values)


def _more(found: SharedMap, shown: Shown) -> list[str]:
    rest = len(found.lines) - shown.rows
    return [f"... and {rest} lines more: --rows and --offset choose"] if rest > 0 else []


def figure(found: SharedMap, shown: Shown) -> Figure:
    """A column a bank; the index of an element in two lines, what it holds under it."""
    lines = found.lines[: shown.rows]
    several = len(_arrays(found)) > 1
    count = _most_values(found) if shown.values else 0
    cells = {
        (row, piece.bank): _box(found, piece, count, shown, several=several)
        for row, line in enumerate(lines)
        for piece in found.pieces(line, BANK_BYTES)
    }
    rows = tuple(f"0x{line:05x}" for line in lines)
    grid = Grid("", rows, tuple(map(str, range(BANKS))), cells, "address ↓", "bank →")
    return Figure(title(found), ((grid,),), (_legend(found, shown), _UNITS, *_more(found, shown)))


def _most_values(found: SharedMap) -> int:
    """The values of a bank that a cell has room for."""
    first = next((piece for line in found.lines for piece in found.pieces(line, BANK_BYTES)), None)
    return 0 if first is None else min(len(first.values), _WIDEST)


def _box(found: SharedMap, piece: SharedPiece, count: int, shown: Shown, *, several: bool) -> Drawn:
    """One bank of one line."""
    name, first, second = _parts(piece.elements)
    held = [number(value, found.type) for value in piece.values]
    texts = (f"{name} {first}" if several and name else first, second, *held[:count])
    group = shown.group(piece.elements)
    known = piece.elements.kind is not Kind.NONE
    fill = hue(group) if group is not None else Role.OTHER if known else Role.BLANK
    what = label(piece.elements, several=True)
    tip = f"bank {piece.bank}, address 0x{piece.address:05x}: {what}; as {found.type}: {' '.join(held)}"
    return Drawn(tuple(elide(text, _LONGEST) for text in texts if text), fill, tip)


def as_json(found: SharedMap) -> str:
    """Every bank of every line of interest."""
    words = tuple(_record(piece) for line in found.lines for piece in found.pieces(line, BANK_BYTES))
    return to_text(taken(SharedRecord, found, version=VERSION, demangled=demangled(found.kernel), words=words))


def _record(piece: SharedPiece) -> PieceRecord:
    held = piece.elements
    return taken(
        PieceRecord,
        held,
        address=piece.address,
        bank=piece.bank,
        array=held.array or None,
        kind=held.kind.name.lower(),
        values=piece.values,
    )
