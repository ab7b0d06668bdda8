"""Explains opcodes and qualifiers: meaning, syntax, availability, and for matrix instructions the fragments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments import fragment, fragment_operands
from ptxloom.isa import instruction_spec, resolve
from ptxloom.isa.pages.meanings import meaning, value_meaning
from ptxloom.isa.pages.operand_words import operand_words
from ptxloom.isa.pages.rule_words import needs
from ptxloom.isa.resolution.phrase import reasons
from ptxloom.views.core.tables import markdown_table
from ptxloom.views.fragments.folding import block_of
from ptxloom.views.fragments.maps import grid
from ptxloom.views.fragments.prefaces import preface

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.fragments import Fragment
    from ptxloom.isa import Form
    from ptxloom.isa.notation import Slot
    from ptxloom.isa.spec import InstructionSpec

MOST_LINES: Final = 12
"""The most syntax lines shown for an instruction whose form is not known yet."""
WIDEST: Final = 16
"""The most columns shown of a matrix."""


def opcode_page(words: tuple[str, ...]) -> str:
    """The page of an opcode, narrowed by the qualifiers after it."""
    opcode, *qualifiers = words
    spec = instruction_spec(opcode)
    form = resolve(opcode, tuple(filter(None, qualifiers))).form
    return "\n".join(_opcode_lines(spec, form, tuple(qualifiers))) + "\n"


def _opcode_lines(spec: InstructionSpec, form: Form | None, qualifiers: tuple[str, ...]) -> Iterator[str]:
    yield f"**{spec.opcode}**: {spec.title}"
    yield ""
    if form is not None:  # the most relevant part first: editors show the beginning of a page
        yield from _matrices(form)
    yield " ".join(spec.about.split())
    yield ""
    yield "```ptx"
    yield from [form.line.text] if form else _syntax(spec)
    yield "```"
    if form is None:
        if any(qualifiers):
            yield f"No form has these qualifiers: {reasons(spec.opcode, qualifiers)}."
            yield ""
    else:
        for slot in form.line.operands:
            rules = [spec.operands[name] for name in slot.names]
            yield from (f"- `{rule.name}` ({operand_words(rule, form)}): {rule.about}" for rule in rules)
        yield ""
        yield from (f"- {feature.name}: {needs(feature)}" for feature in form.features)
        yield ""
    yield f"PTX ISA {spec.section}"


def _syntax(spec: InstructionSpec) -> Iterator[str]:
    texts = [line.text for line in spec.lines]
    yield from texts[:MOST_LINES]
    if len(texts) > MOST_LINES:
        yield f"// and {len(texts) - MOST_LINES} more"


def _matrices(form: Form) -> Iterator[str]:
    """Who holds what: the first matrix of each operand as a table, and how to read it."""
    try:
        operands = fragment_operands(form.spelling)
    except PtxloomError:  # it holds no matrix
        return
    for operand in operands:
        if operand == "d" and "c" in operands:  # D has C's fragment
            continue
        held = fragment(form.spelling, operand)
        yield f"#### {f'Operand {operand}: w' if operand else 'W'}ho holds what"
        yield ""
        yield from _table(held)


def _table(held: Fragment) -> Iterator[str]:
    yield "  \n".join(preface(held))
    yield ""
    if block_of(held).columns <= WIDEST:
        if held.matrices > 1:
            yield f"Matrix 0 of {held.matrices}; `ptxloom map {held.spelling}` prints all:"
            yield ""
        yield from markdown_table(grid(held, 0))
        yield ""


def qualifier_page(words: tuple[str, ...], place: int) -> str:
    """The page of a qualifier, the word at `place`: the meaning of its slot and the other values there."""
    opcode, *qualifiers = words
    spec = instruction_spec(opcode)
    found = slot_of(spec, tuple(qualifiers), place - 1)
    word = words[place]
    if found is None:
        return f"`.{word}`: `{opcode}` has no such qualifier" if word else ""
    says, about = value_meaning(found.name, word), meaning(spec, found.name)
    slot = f" (`.{found.name}`{f', {about}' if says else ''})" if found.name != word else ""
    lines = [f"`.{word}`{slot}: {says or about}", ""]
    if len(found.values) > 1:
        lines += [f"One of {', '.join(f'`.{value}`' for value in found.values)}", ""]
    lines.append(f"PTX ISA {spec.section}")
    return "\n".join(lines) + "\n"


def slot_of(spec: InstructionSpec, qualifiers: tuple[str, ...], place: int) -> Slot | None:
    """The slot that a qualifier fills: by the form if it is known, else by the first syntax line that has it."""
    word = qualifiers[place]
    form = resolve(spec.opcode, tuple(filter(None, qualifiers))).form
    for line in ([form.line] if form else []) + list(spec.lines):
        slots = line.slots_of.get(word, ())
        if slots:
            before = [other for other in qualifiers[:place] if line.slots_of.get(other, ()) == slots]
            return line.slots[slots[min(len(before), len(slots) - 1)]]
    return None
