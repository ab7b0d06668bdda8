"""Lines of a source with carets under the places that matter: several labels, tabs, wide characters, long lines."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.views.core.cells import ELLIPSIS, harmless, lay_out
from ptxloom.views.core.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.source import Source, Span

LINE_LIMIT: Final = 120  # characters of one source line that are shown
_LEAST: Final = 24  # however narrow a terminal is; of longer lines a third stands before the first caret


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to underline, the remark under it, and the ink: carets for the main place, dashes for others."""

    span: Span
    text: str
    ink: Ink
    main: bool = True


@dataclass(frozen=True, slots=True)
class LineWindow:
    """The part of one line that is shown."""

    text: str
    cells: tuple[int, ...]  # cell at which the character `first + i` of the source starts
    first: int
    last: int

    def cell(self, offset: int) -> int:
        """The cell of a source offset, clamped to the window."""
        return self.cells[min(max(offset, self.first), self.last) - self.first]


@dataclass(frozen=True, slots=True)
class Underline:
    """A mark placed on its line: cells `[start, end)`."""

    start: int
    end: int
    mark: Mark


def snippet(marks: Sequence[Mark], style: Style = PLAIN, head: str = "") -> list[str]:
    """The lines that hold `marks`, each with its underlines; the first mark's source and place come first.

    Args:
        marks: At least one; the first is the main one.
        style: How to paint.
        head: A place whose text is not at hand; it comes before all others.
    """
    main = None if head else marks[0].span.source
    gutter = len(str(max(m.span.line for m in marks)))
    bar = style.paint(f"{'':{gutter}} |", Ink.BLUE)
    out = [f"{style.paint(' ' * gutter + '-->', Ink.BLUE)} {harmless(head)}"] if head else []
    for source in dict.fromkeys(m.span.source for m in marks):
        here = [m for m in marks if m.span.source is source]
        arrow = style.paint(f"{'':{gutter}}{'-->' if source is main else ':::'}", Ink.BLUE)
        out += [f"{arrow} {harmless(str(here[0].span))}", bar]
        out += _source_lines(source, here, gutter, style)
    return [*out, bar]


def _source_lines(source: Source, marks: Sequence[Mark], gutter: int, style: Style) -> list[str]:
    """Each marked line of one source, dots where lines between are left out."""
    out: list[str] = []
    previous = 0
    for number, group in groupby(sorted(marks, key=lambda m: m.span.start), key=lambda m: m.span.line):
        if previous and number > previous + 1:
            out.append(style.paint("...", Ink.BLUE))
        previous = number
        on_line = tuple(group)
        window = _window(source, number, on_line, _room(gutter, style))
        head = style.paint(f"{number:{gutter}} |", Ink.BLUE)
        out.append(f"{head} {window.text}".rstrip())
        bar = style.paint(f"{'':{gutter}} |", Ink.BLUE)
        out += [f"{bar} {row}".rstrip() for row in _underlines(window, on_line, style)]
    return out


def _room(gutter: int, style: Style) -> int:
    """The characters of a line that are shown: what a terminal has room for, so that carets stay below their words."""
    if style.columns is None:
        return LINE_LIMIT
    return min(LINE_LIMIT, max(style.columns - gutter - len(" | ") - 2 * len(ELLIPSIS), _LEAST))


def _window(source: Source, number: int, marks: Sequence[Mark], room: int) -> LineWindow:
    """The part of line `number` around its marks; never looks at more of a long line than it shows."""
    starts = source.line_starts
    first = starts[number - 1]
    last = starts[number] - 1 if number < len(starts) else len(source.text)
    if last > first and source.text[last - 1] == "\r":
        last -= 1
    left = right = ""
    if last - first > room:
        anchor = next((m for m in marks if m.main), marks[0]).span.start
        start = max(first, min(anchor - room // 3, last - room))
        end = min(last, start + room)
        left, right = ELLIPSIS * (start > first), ELLIPSIS * (end < last)
        first, last = start, end
    text, cells = lay_out(source.text[first:last])
    return LineWindow(f"{left}{text}{right}", tuple(c + len(left) for c in cells), first, last)


def _underlines(window: LineWindow, marks: Sequence[Mark], style: Style) -> list[str]:
    """The rows under one line: the underlines, then the remarks that found no room beside them."""
    placed = [_place(window, m) for m in marks]
    placed.sort(key=lambda u: (u.start, u.end))
    rows = [_row_of_underlines(placed, style)]
    last = placed[-1]
    hanging = placed
    if last.end == max(u.end for u in placed):
        rows[0] = f"{rows[0]} {style.paint(harmless(last.mark.text), last.mark.ink)}".rstrip()
        hanging = placed[:-1]
    hanging = [u for u in hanging if u.mark.text]
    if hanging:
        rows.append(_row_of_stems(hanging, style))
    while hanging:
        *hanging, lowest = hanging
        rows.append(_row_of_stems(hanging, style, lowest))
    return rows


def _place(window: LineWindow, mark: Mark) -> Underline:
    """The position of a mark's underline; it is at least one cell wide and ends with the line."""
    start = window.cell(mark.span.start)
    return Underline(start, max(window.cell(mark.span.end), start + 1), mark)


def _row_of_underlines(placed: Sequence[Underline], style: Style) -> str:
    """Carets and dashes; where two marks overlap the main one shows."""
    row: list[Mark | None] = [None] * max(u.end for u in placed)
    for underline in sorted(placed, key=lambda u: u.mark.main):
        row[underline.start : underline.end] = [underline.mark] * (underline.end - underline.start)
    runs = ((mark, len(tuple(cells))) for mark, cells in groupby(row))
    return "".join(_run(mark, cells, style) for mark, cells in runs)


def _run(mark: Mark | None, cells: int, style: Style) -> str:
    """Neighbouring cells under the same mark, or under no mark."""
    if mark is None:
        return " " * cells
    return style.paint(("^" if mark.main else "-") * cells, mark.ink)


def _row_of_stems(hanging: Sequence[Underline], style: Style, lowest: Underline | None = None) -> str:
    """A bar below each waiting mark, and the remark of the lowest one at its place."""
    cells: dict[int, str] = {u.start: style.paint("|", u.mark.ink) for u in hanging}
    if lowest is not None:
        cells[lowest.start] = style.paint(harmless(lowest.mark.text), lowest.mark.ink)
    return "".join(cells.get(c, " ") for c in range(max(cells) + 1))
