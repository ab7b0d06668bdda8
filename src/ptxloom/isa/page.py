"""The page that explains an instruction, made from its data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.load import glossary, instruction_spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.spec import Feature, InstructionSpec


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
    yield spec.syntax
    yield "```"
    yield ""
    yield "## Qualifiers and operands"
    yield ""
    yield from (f"- `.{name}`: {words}" for name, words in _words(spec))
    yield from (f"- `{name}`: {rule.about}" for name, rule in spec.operands.items())
    yield ""
    if spec.constraints:
        yield "## Constraints"
        yield ""
        yield from (f"- Where {each.when}: {each.require}; {each.why}." for each in spec.constraints)
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


def needs(feature: Feature) -> str:
    """What a feature needs, as a phrase."""
    return "; or ".join(str(need) for need in feature.needs)


def _words(spec: InstructionSpec) -> Iterator[tuple[str, str]]:
    """Every qualifier of the instruction with its description, in the order of the syntax lines."""
    words = {**glossary(), **spec.qualifiers}
    for name in dict.fromkeys(slot.name for line in spec.lines for slot in line.slots):
        yield name, words[name]
