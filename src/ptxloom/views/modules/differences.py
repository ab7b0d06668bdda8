"""Two modules beside each other: what matters first, then the lines; JSON."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.difference.model import Change
from ptxloom.names.demangling import demangled
from ptxloom.syntax.places import origins_in
from ptxloom.views.core.cells import elide, harmless
from ptxloom.views.core.style import PLAIN, Ink, Style
from ptxloom.views.core.tables import Table, row, text_table
from ptxloom.views.modules.trees import headline
from ptxloom.views.runs.source_lines import no_source, source_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ptxloom.difference.lines import Line
    from ptxloom.difference.model import Count, FunctionDifference, Hunk, ModuleDifference, Row
    from ptxloom.survey import LoopSummary
    from ptxloom.syntax.origins import Origins
    from ptxloom.views.runs.source_lines import SourceOf

SHOWN_ROWS: Final = 60
"""The number of lines of a function that are shown, in whole hunks; the rest is only counted."""
_SHOWN_NAMES: Final = 12
_SHOWN_MOVED: Final = 3
_LINE_LIMIT: Final = 120  # characters of one line
_WORDS: Final = {
    Change.SAME: "the same",
    Change.OPERANDS: "with other operands",
    Change.MOVED: "moved",
    Change.REMOVED: "removed",
    Change.ADDED: "added",
}


def full(
    found: ModuleDifference,
    style: Style = PLAIN,
    *,
    every: bool = False,
    sources: tuple[SourceOf, SourceOf] = (no_source, no_source),
) -> str:
    """The differences of the modules, then each function that differs; finally those that do not.

    Args:
        found: The comparison.
        style: The style of the output.
        every: Whether to show every line that differs.
        sources: The source text of each module.
    """
    lines = [
        style.paint(f"{mark} {harmless(headline(one))}", Ink.BOLD) for mark, one in (("a:", found.a), ("b:", found.b))
    ]
    lines += [_fact(fact) for fact in found.facts]
    for what, names in (("only in a", found.removed), ("only in b", found.added)):
        lines += [f"{what}: {_some(names)}"] * bool(names)
    differing = [one for one in found.functions if not one.same]
    compiled = _Compiled(origins_in(found.a), sources[0]), _Compiled(origins_in(found.b), sources[1])
    for one in differing:
        lines += ["", *_function(one, style, compiled, every=every)]
    same = tuple(one.a.function.name for one in found.functions if one.same)
    if same:
        lines += [""] * bool(differing) + [f"the same in both: {_some(same)}"]
    return "\n".join(lines) + "\n"


def concise(found: ModuleDifference) -> str:
    """A line for the modules if they differ, and one for each function that does."""
    lines = [f"module: {_fact(fact)}" for fact in found.facts]
    lines += [f"{_called(name)}: only in a" for name in found.removed]
    lines += [f"{_called(name)}: only in b" for name in found.added]
    lines += [_head(one) for one in found.functions if not one.same]
    return "".join(f"{line}\n" for line in lines)


def _fact(fact: tuple[str, str, str]) -> str:
    what, a, b = (elide(text, _LINE_LIMIT) for text in fact)
    return f"{what}: {a or 'none'} -> {b or 'none'}"


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN_NAMES
    return ", ".join(map(_called, names[:_SHOWN_NAMES])) + (f" and {rest} more" if rest > 0 else "")


def _called(name: str) -> str:
    return harmless(demangled(name))


def _head(found: FunctionDifference) -> str:
    """A function in a line: how many of its lines became what."""
    a, b = found.a.function, found.b.function
    kind = "kernel" if a.kind == "entry" else "function"
    name = _called(a.name) if a.name == b.name else f"{_called(a.name)} (in b {_called(b.name)})"
    # A line that moved stands in both.
    numbers = {change: (n + 1) // 2 if change is Change.MOVED else n for change, n in found.changes.items()}
    said = ", ".join(f"{n} {_WORDS[change]}" for change, n in numbers.items() if n or change is Change.SAME)
    return f"{kind} {name}: lines {said}" if found.whole else f"{kind} {name}: too long to be compared line by line"


class _Compiled(NamedTuple):
    """The sources that a module was compiled from."""

    origins: Origins
    sources: SourceOf


def _function(
    found: FunctionDifference, style: Style, compiled: tuple[_Compiled, _Compiled], *, every: bool
) -> Iterator[str]:
    yield style.paint(_head(found), Ink.BOLD)
    yield from (f"  {_fact(fact)}" for fact in found.facts)
    if found.counts:
        yield from (f"  {line}" for line in text_table(_counts(found.counts), style))
    if found.loops is not None:
        yield from (f"  {line}" for line in _loops(*found.loops))
    shown = 0
    for number, (hunk, before) in enumerate(zip(found.hunks, (None, *found.hunks), strict=False)):
        if shown and shown + len(hunk.rows) > SHOWN_ROWS and not every:
            rest = found.hunks[number:]
            rows = sum(len(one.rows) for one in rest)
            yield f"  and {rows} more lines in {len(rest)} places: --all shows them"
            return
        shown += len(hunk.rows)
        if before is None or before.label != hunk.label:
            yield style.paint(f"  behind {harmless(hunk.label)}:" if hunk.label else "  at the start:", Ink.BLUE)
        yield from _above(hunk, style, compiled)
        yield from _hunk(hunk, style, every=every)


def _counts(counts: Iterable[Count]) -> Table:
    return Table(
        ("", "a", "b"),
        tuple(row(f"  {harmless(one.spelling)}" if one.spelling else one.what, one.a, one.b) for one in counts),
    )


def _loops(a: Sequence[LoopSummary], b: Sequence[LoopSummary]) -> Iterator[str]:
    """The loops of both that differ, side by side; if one has more of them, all of each."""
    if len(a) == len(b):
        pairs = [(one, other) for one, other in zip(a, b, strict=True) if one.instructions != other.instructions]
        yield from (f"loop {_loop(one)} in a, {_loop(other)} in b" for one, other in pairs[:_SHOWN_NAMES])
        return
    for name, loops in (("a", a), ("b", b)):
        rest = len(loops) - _SHOWN_NAMES
        said = ", ".join(map(_loop, loops[:_SHOWN_NAMES])) + (f" and {rest} more" if rest > 0 else "")
        yield f"loops of {name}: {said or 'none'}"


def _loop(one: LoopSummary) -> str:
    label = f"{harmless(one.label)} " if one.label else ""
    return f"{label}({one.instructions} instructions, lines {one.first_line} to {one.last_line})"


def _above(hunk: Hunk, style: Style, compiled: tuple[_Compiled, _Compiled]) -> Iterator[str]:
    """What the first line that each of the two has here was compiled from; what both have stands once."""
    first = (next((row.a for row in hunk.rows if row.a), None), next((row.b for row in hunk.rows if row.b), None))
    texts = [
        text
        for line, (origins, sources) in zip(first, compiled, strict=True)
        if line is not None
        for text in source_lines(origins.at(line.node.start), sources, style)
    ]
    yield from (f"{'':>16}{text}" for text in dict.fromkeys(texts))


def _hunk(hunk: Hunk, style: Style, *, every: bool) -> Iterator[str]:
    """The lines; several that only stand elsewhere as their number."""
    limit = len(hunk.rows) if every else SHOWN_ROWS
    for (is_moved, _), group in groupby(hunk.rows[:limit], lambda one: (one.change is Change.MOVED, one.a is None)):
        rows = tuple(group)
        if is_moved and len(rows) > _SHOWN_MOVED and not every:
            yield from _row(rows[0], style)
            yield f"  {'':>16} and {len(rows) - 1} more that {'went from' if rows[0].b is None else 'came'} here"
            continue
        for one in rows:
            yield from _row(one, style)
    if len(hunk.rows) > limit:
        yield f"  and {len(hunk.rows) - limit} more lines here: --all shows them"


def _row(one: Row, style: Style) -> Iterator[str]:
    """The line of the first, then that of the second, each behind its number in its own column."""
    marks = {Change.OPERANDS: "~~", Change.MOVED: "<>"}.get(one.change, "-+")
    if one.a is not None:
        yield style.paint(f"  {one.a.number:>6} {'':>6} {marks[0]} {_text(one.a)}", Ink.RED)
    if one.b is not None:
        yield style.paint(f"  {'':>6} {one.b.number:>6} {marks[1]} {_text(one.b)}", Ink.GREEN)


def _text(line: Line) -> str:
    return elide(line.text.replace("\n", " "), _LINE_LIMIT)
