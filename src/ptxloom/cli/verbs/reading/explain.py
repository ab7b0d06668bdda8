"""`ptxloom explain`: the page of a rule, a hazard, an opcode, a special register, a directive or a target."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import Outcome
from ptxloom.explanation import explain, topics

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options

_HEADS: Final = {
    "rule": "rules",
    "tool": "hazards",
    "cause": "causes that `why` names",
    "concept": "words",
    "instruction": "opcodes",
    "special register": "special registers",
    "directive": "directives",
    "atom": "atoms of CuTe for copies; those for products have pages too",
}


def run(options: Options) -> Outcome:
    """Print one page, or list all pages."""
    return Outcome(explain(options.word).markdown.rstrip() + "\n" if options.word else _contents())


def _contents() -> str:
    """Everything that has a page, one a line."""
    listed = list(topics())
    width = max(len(topic.word) for topic in listed)
    return "\n".join(
        f"{_HEADS[kind]}:\n" + "".join(f"  {topic.word:{width}}  {topic.about}\n" for topic in group)
        for kind, group in groupby(listed, attrgetter("kind"))
    )
