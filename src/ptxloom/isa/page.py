"""The page that explains an instruction, made from its data alone."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from ptxloom.isa.load import glossary, instruction_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.spec import Constraint, Feature, InstructionSpec


WIDTH = 110  # of lines of syntax


def explain(opcode: str) -> str:
    """The page about an opcode, as Markdown.

    Raises:
        UnsupportedForm: The data does not describe it.
    """
    return "\n".join(_page(instruction_spec(opcode)))


def _page(spec: InstructionSpec) -> Iterator[str]:
    yield f"# {spec.opcode}: {spec.title}"
    yield ""
    yield spec.about
    yield ""
    yield "## Syntax"
    yield ""
    yield "```"
    yield from (part for line in spec.syntax.splitlines() for part in _wrapped(line))
    yield "```"
    yield ""
    if ":8]" in spec.syntax or ":16]" in spec.syntax:
        yield "`[8..256:8]` stands for each of the numbers 8, 16, 24 and so on to 256."
        yield ""
    yield "## Qualifiers and operands"
    yield ""
    yield from (f"- `.{name}`: {words}" for name, words in _words(spec))
    yield from (f"- `{name}`: {rule.about}" for name, rule in spec.operands.items())
    yield ""
    if spec.constraints:
        yield "## Constraints"
        yield ""
        yield from (f"- {_rule(each)}" for each in spec.constraints)
        yield ""
    yield "## Availability"
    yield ""
    yield from (f"- {feature.name}: {needs(feature)}" for feature in spec.features)
    yield ""
    yield "## Examples"
    yield ""
    yield "```"
    yield from spec.examples
    yield "```"
    yield ""
    yield f"Manual section: PTX ISA {spec.section}"


def _wrapped(line: str) -> list[str]:
    """A line of syntax, broken where it is long: a list under its first value, operands under their opcode."""
    if len(line) <= WIDTH:
        return [line]
    if line.startswith("."):
        return _filled(line, " " * (line.find("{") + 1))
    qualifiers, _, operands = line.partition(" ")
    parts = re.sub(r"\{?\.", r" \g<0>", qualifiers)
    head = [part.replace(" ", "") for part in wrap(parts, WIDTH, break_on_hyphens=False)]
    indent = " " * 4
    return [*head[:1], *(indent * 2 + part for part in head[1:]), *_filled(indent + operands, indent)]


def _filled(text: str, indent: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def needs(feature: Feature) -> str:
    """What a feature needs, as a phrase."""
    return "; or ".join(str(need) for need in feature.needs)


def _rule(constraint: Constraint) -> str:
    """A constraint as a sentence."""
    where = f"Where {constraint.when}" if constraint.when.allowed else "Always"
    lax = " (the manual says so; ptxas assembles what breaks it)" if constraint.lax else ""
    return f"{where}: {constraint.require}; {constraint.why}{lax}."


def _words(spec: InstructionSpec) -> Iterator[tuple[str, str]]:
    """Every qualifier of the instruction with its description, in the order of the syntax lines."""
    words = {**glossary(), **spec.qualifiers}
    for name in dict.fromkeys(slot.name for line in spec.lines for slot in line.slots):
        yield name, words[name]
