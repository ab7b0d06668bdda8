"""`ptxloom doctor`: what is installed, what is missing and what needs it, and which compilers were found."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from ptxloom import __version__
from ptxloom.cli.results.output import Outcome
from ptxloom.cli.surroundings import DoctorRecord, PartRecord, surroundings
from ptxloom.records import taken
from ptxloom.views.core.json_text import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.cli.command_line import Options
    from ptxloom.cli.surroundings import Dependency, Surroundings

_INDENT: Final = " " * 14
_WIDTH: Final = 110


def run(options: Options) -> Outcome:
    """Report the installation; a missing part is not a finding."""
    found = surroundings(__version__)
    if options.output_format == "json":
        parts, tools = (tuple(taken(PartRecord, one) for one in group) for group in (found.parts, found.tools))
        return Outcome(to_text(taken(DoctorRecord, found, schema=1, parts=parts, tools=tools)))
    return Outcome("\n".join(_lines(found)) + "\n")


def _lines(found: Surroundings) -> Iterator[str]:
    yield f"ptxloom {found.version} ({found.folder})"
    yield f"{found.python}; {found.system}"
    for title, group in (("parts", found.parts), ("tools", found.tools)):
        yield f"\n{title}"
        for part in group:
            yield from _told(part)


def _told(part: Dependency) -> Iterator[str]:
    mark = "missing" if part.lacks else "ok"
    yield f"  {part.name:<11} {mark}: {part.purpose}"
    for line in part.found:
        yield f"{_INDENT}{line}"
    if part.lacks:
        remedy = f": {part.remedy}" if part.remedy else ""
        yield textwrap.fill(
            f"{part.lacks}{remedy}", _WIDTH, initial_indent=_INDENT, subsequent_indent=_INDENT, break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
