"""The page that explains an instruction, or some forms of it, made from its data alone."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.pages.meanings import meaning, value_meaning
from ptxloom.isa.pages.operand_words import operand_words
from ptxloom.isa.pages.rule_words import needs, rule_words
from ptxloom.isa.pages.syntax_page import WIDTH, syntax_text
from ptxloom.isa.resolution.completions import completion, lawful
from ptxloom.isa.resolution.forms import resolve
from ptxloom.isa.resolution.phrase import reasons

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import SyntaxLine
    from ptxloom.isa.spec import Condition, Constraint, Feature, InstructionSpec

MANY = 6
"""A page with more syntax lines explains how to see fewer."""


def instruction_page(opcode: str, qualifiers: tuple[str, ...] = ()) -> str:
    """The page about an opcode, or about those of its forms that have the qualifiers, as Markdown.

    Raises:
        UnsupportedForm: The data does not describe it.

    Example:
        >>> instruction_page("cp", ("async", "wait_all")).partition("## Syntax")[2].strip().splitlines()[1]
        'cp.async.wait_all;'
    """
    spec = instruction_spec(opcode)
    found = resolve(opcode, qualifiers)
    form = found.form if qualifiers else None
    if form is not None:
        lines = tuple(dict.fromkeys(each.line for each in (form, *found.others)))
    else:
        lines = tuple(line for line in spec.lines if completion(spec, line, qualifiers) is not None)
    return "\n".join(_page(_View(spec, qualifiers, lines or _stated(spec), form)))


def _stated(spec: InstructionSpec) -> tuple[SyntaxLine, ...]:
    """The manual's lines; the others describe forms that only ptxas takes."""
    return tuple(line for line in spec.lines if lawful(spec, line))


@dataclass(frozen=True, slots=True)
class _View:
    """The part of an instruction that a page describes."""

    spec: InstructionSpec
    words: tuple[str, ...]
    lines: tuple[SyntaxLine, ...]
    form: Form | None

    @property
    def whole(self) -> bool:
        """Whether it is the whole instruction."""
        return self.form is None and len(self.lines) == len(_stated(self.spec))

    def values(self) -> dict[str, tuple[str, ...]]:
        """The slots of the lines, each with its possible qualifiers."""
        found: dict[str, dict[str, None]] = {}
        for line in self.lines:
            for name, words in lawful(self.spec, line).items():
                found.setdefault(name, {}).update(dict.fromkeys(words))
        return {name: tuple(words) for name, words in found.items() if words}

    def meets(self, when: Condition) -> bool:
        """Whether some form on the page may meet a condition."""
        if self.form is not None:
            return when.holds(self.form.filling)
        return any(
            all(
                any(slot.name == name and not {*slot.choices}.isdisjoint(allowed) for slot in line.slots)
                or allowed[0][:1] == "."
                for name, allowed in when.allowed
            )
            for line in self.lines
        )

    def concerns(self, rule: Constraint) -> bool:
        """Whether a constraint matters for the page's forms; one that ptxas does not enforce always does."""
        if rule.lax or self.form is not None:
            return self.meets(rule.when)
        values = self.values()
        shown = all(
            allowed[0][:1] == "." or "" in allowed or not {*values.get(name, ())}.isdisjoint(allowed)
            for name, allowed in rule.when.allowed
        )
        return shown and self.meets(rule.when)


def _page(view: _View) -> Iterator[str]:
    spec = view.spec
    yield f"# {spec.opcode}: {spec.title}"
    yield ""
    yield spec.about
    yield ""
    if view.words and not _fits(view):
        why = reasons(spec.opcode, view.words)
        yield from wrap(f"**No form is spelled so:** {why}{'' if why.endswith('?') else '.'}", WIDTH)
        yield ""
    if view.form is not None:
        yield from _this_form(view.form)
    yield "## Syntax"
    yield ""
    yield "```"
    yield from syntax_text(spec, view.lines)
    yield "```"
    yield ""
    yield from _hints(view)
    yield from _section("Qualifiers", (_qualifier(view, *each) for each in view.values().items()))
    names = dict.fromkeys(name for line in view.lines for slot in line.operands for name in slot.names)
    described = (spec.operands[name] for name in spec.operands if name in names)
    yield from _section(
        "Operands", (f"`{rule.name}` ({operand_words(rule, view.form)}): {rule.about}" for rule in described)
    )
    yield from _section("Constraints", (rule_words(spec, each) for each in spec.constraints if view.concerns(each)))
    yield from _section("Availability", (f"{each.name}: {needs(each)}" for each in _features(view)))
    yield "## Examples"
    yield ""
    yield "```"
    yield from _examples(view)
    yield "```"
    yield ""
    yield f"Manual section: PTX ISA {spec.section}"


def _fits(view: _View) -> bool:
    """Whether the written qualifiers are those of a form, or can be completed to one."""
    return view.form is not None or any(completion(view.spec, line, view.words) is not None for line in view.spec.lines)


def _this_form(form: Form) -> Iterator[str]:
    """The form of a complete spelling: its qualifiers by name."""
    yield "## This form"
    yield ""
    yield f"`{form.spelling}`"
    yield ""
    named = [(name, value) for name, value in form.filling.items() if value]
    yield from _items(f"`.{name}` is `.{value}`{_means(name, value)}" for name, value in named if name != value)
    lax = "the manual says so; ptxas assembles it anyway"
    yield from _items(f"against it: {each.why} ({lax})" for each in form.laxities)
    yield ""


def _means(slot: str, value: str) -> str:
    found = value_meaning(slot, value)
    return f": {found}" if found else ""


def _hints(view: _View) -> Iterator[str]:
    """How to read the syntax, and how to see less or more of it."""
    text = "\n".join(syntax_text(view.spec, view.lines))
    if ":8]" in text or ":16]" in text:
        yield "`[8..256:8]` stands for each of the numbers 8, 16, 24 and so on to 256."
        yield ""
    if len(view.lines) > MANY and (first := _narrower(view)):
        yield f"`ptxloom explain {first}` shows fewer of these {len(view.lines)} lines: any qualifiers may be named."
        yield ""
    elif len(view.lines) < (every := len(_stated(view.spec))):
        head = "This is one" if len(view.lines) == 1 else f"These are {len(view.lines)}"
        yield f"{head} of the {every} lines that `ptxloom explain {view.spec.opcode}` shows."
        yield ""


def _narrower(view: _View) -> str:
    """The opcode with one more qualifier, which at most half of the lines have; preferably one of a named slot."""
    values = view.values().items()
    words = [name for name, row in values if row == (name,)] + [word for _, row in values for word in row]
    for word in words:
        row = (*view.words, word)
        fitting = sum(completion(view.spec, line, row) is not None for line in view.lines)
        if 0 < fitting <= len(view.lines) // 2:
            return ".".join((view.spec.opcode, *row))
    return ""


def _qualifier(view: _View, name: str, values: tuple[str, ...]) -> str:
    """The meaning of a qualifier and of each of its values."""
    means = {value: found for value in values if (found := value_meaning(name, value))}
    listed = "; ".join(f"`.{value}`: {found}" for value, found in means.items())
    return f"`.{name}`: {meaning(view.spec, name)}" + (f". {listed}" if listed else "")


def _features(view: _View) -> Iterator[Feature]:
    names = {name for line in view.lines for name in line.operand_names}
    for feature in view.spec.features:
        if view.meets(feature.when) and (not feature.operand or feature.operand in names):
            yield feature


def _examples(view: _View) -> Iterator[str]:
    """The examples with the requested qualifiers; all if no example has them."""
    examples = view.spec.examples
    told = [each for each in examples if {*view.words} <= {*each.split()[0].rstrip(";").split(".")}]
    yield from told or examples


def _section(title: str, entries: Iterable[str]) -> Iterator[str]:
    listed = list(_items(entries))
    if listed:
        yield f"## {title}"
        yield ""
        yield from listed
        yield ""


def _items(entries: Iterable[str]) -> Iterator[str]:
    for entry in entries:
        yield from wrap(f"- {entry}", WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
