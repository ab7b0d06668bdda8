"""The instructions that a query found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.names.demangling import demangled
from ptxloom.records import Record, Spliced, taken
from ptxloom.syntax import print_operand
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.places import SourceLineRecord, SourcePlace, place_of, source_place
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, csv_table, markdown_table, row, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.syntax.origins import SourceLine
    from ptxloom.syntax.tree import Function, Instruction


@dataclass(frozen=True, slots=True)
class Match:
    """An instruction, the function that it stands in, and the line that it was compiled from."""

    instruction: Instruction
    function: Function | None
    origin: SourceLine | None

    @property
    def text(self) -> str:
        """The instruction as it is written, on one line."""
        return harmless(" ".join(self.instruction.span.text.split()))

    @property
    def within(self) -> str:
        """The function's name."""
        return "" if self.function is None else harmless(demangled(self.function.name))


def full(found: Sequence[Match], style: Style = PLAIN) -> str:
    """A table for each file and function."""
    lines: list[str] = []
    groups: dict[tuple[str, str], list[Match]] = {}
    for one in found:
        groups.setdefault((one.instruction.source.name, one.within), []).append(one)
    for (file, function), inside in groups.items():
        head = f"{harmless(file)}: {function}" if function else harmless(file)
        lines += [style.paint(f"{head} ({len(inside)})", Ink.BOLD)]
        sourced = any(one.origin for one in inside)
        rows = tuple(
            row(*([one.origin.told if one.origin else ""] if sourced else []), one.instruction.span.line, one.text)
            for one in inside
        )
        columns = (*(["source", "PTX line"] if sourced else ["line"]), "instruction")
        lines += [*(f"  {line}" for line in text_table(Table(columns, rows), style)), ""]
    return "\n".join(lines[:-1]) + "\n" if lines else ""


def concise(found: Sequence[Match]) -> str:
    """`file:line:column: instruction`, one line a match, and the PTX's place where that is another."""
    return "".join(f"{_at(one)}: {one.text}{_behind(one)}\n" for one in found)


def _at(match: Match) -> str:
    return harmless(str(place_of(match.instruction.span)))


def _behind(match: Match) -> str:
    ptx = place_of(match.instruction.span).ptx
    return "" if ptx is None else f"  // {harmless(str(ptx))}"


def table(found: Sequence[Match]) -> Table:
    """Every match as a row."""
    return Table(
        ("file", "line", "column", "function", "instruction", "source"),
        tuple(
            row(
                harmless(one.instruction.source.title),
                one.instruction.span.line,
                one.instruction.span.column,
                one.within,
                one.text,
                one.origin or "",
            )
            for one in found
        ),
    )


def counts(found: Sequence[Match]) -> Table:
    """The number of occurrences of each spelling, the most frequent first."""
    met = Counter(one.instruction.spelling for one in found)
    return Table(("count", "instruction"), tuple(row(count, harmless(text)) for text, count in met.most_common()))


class MatchRecord(Record):
    """An instruction that a query found."""

    place: Spliced[SourcePlace]
    function: str | None
    demangled: str | None
    text: str
    predicate: str | None
    opcode: str
    qualifiers: tuple[str, ...]
    operands: tuple[str, ...]
    source: SourceLineRecord | None


def as_json(found: Sequence[Match]) -> str:
    """Every match as an object of one array."""
    return to_text([_record(one) for one in found])


def _record(match: Match) -> MatchRecord:
    node = match.instruction
    guard = node.predicate
    return taken(
        MatchRecord,
        node,
        place=source_place(node.span),
        function=None if match.function is None else match.function.name,
        demangled=None if match.function is None else demangled(match.function.name),
        text=node.span.text,
        predicate=None if guard is None else f"{'!' if guard.negated else ''}{guard.name}",
        operands=tuple(map(print_operand, node.operands)),
        source=None if match.origin is None else taken(SourceLineRecord, match.origin),
    )


def rendered(shown: Table, how: str, style: Style = PLAIN) -> str:
    """A table in one of the formats of tables."""
    match how:
        case "csv":
            return csv_table(shown)
        case "markdown":
            return "\n".join(markdown_table(shown)) + "\n"
        case _:
            return "\n".join(text_table(shown, style)) + "\n"
