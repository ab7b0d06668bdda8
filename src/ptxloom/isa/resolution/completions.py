"""The qualifiers that may come next: those that lead from the written ones to a legal form."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.isa.form import Form
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.resolution.forms import MOST_QUALIFIERS, place_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.isa.notation import SyntaxLine
    from ptxloom.isa.spec import Constraint, InstructionSpec

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Next:
    """A qualifier that may be added.

    Attributes:
        word: The qualifier.
        slot: The manual's name of its slot.
        forms: Legal forms with it and all written qualifiers, one per syntax line; availability may differ.
        due: Whether the manual's order puts it before anything else that must still come.
    """

    word: str
    slot: str
    forms: tuple[Form, ...]
    due: bool

    def with_(self, other: Next) -> Next:
        """The same word, with another syntax line's description added."""
        return Next(self.word, self.slot, self.forms + other.forms, self.due or other.due)


def following(opcode: str, qualifiers: Words) -> tuple[Next, ...]:
    """The qualifiers that may be added to those written, in the manual's order; words that fit nowhere are ignored.

    Raises:
        UnsupportedForm: The data does not describe the opcode.

    Example:
        >>> [each.word for each in following("ldmatrix", ("sync", "aligned", "m16n16", "x1", "trans", "shared"))]
        ['b8', 'b8x16', 'b6x16_p32', 'b4x16_p64']
    """
    known = {value for line in instruction_spec(opcode).lines for value in line.slots_of}
    words = tuple(word for word in qualifiers[:MOST_QUALIFIERS] if word in known)
    return _following(opcode, words)


@lru_cache(maxsize=512)
def _following(opcode: str, words: Words) -> tuple[Next, ...]:
    spec = instruction_spec(opcode)
    found: dict[str, Next] = {}
    for line in spec.lines:
        for each in _of_line(spec, line, words):
            old = found.get(each.word)
            found[each.word] = (
                each if old is None else Next(each.word, old.slot, old.forms + each.forms, old.due or each.due)
            )
    return tuple(found.values())


def _of_line(spec: InstructionSpec, line: SyntaxLine, words: Words) -> Iterator[Next]:
    """The qualifiers that may come next on one syntax line."""
    placed = place_words(line, words)
    if placed is None:
        return
    fixed = {line.slots[slot].name: word for slot, word in zip(placed, words, strict=True)}
    if not (whole := _completed(spec, line, fixed)) and words:
        return
    due = True
    for slot in line.slots:
        if slot.name in fixed:
            continue
        for value in slot.values:
            if place_words(line, (*words, value)) is None:
                continue
            if (filling := _completed(spec, line, fixed | {slot.name: value})) is not None:
                yield Next(value, slot.name, (Form(spec, line, filling),), due)
        due = due and (slot.optional or not whole)


def completion(spec: InstructionSpec, line: SyntaxLine, words: Words) -> Form | None:
    """The shortest legal form of a line with the written qualifiers; None if no form has them."""
    placed = place_words(line, words)
    if placed is None:
        return None
    fixed = {line.slots[slot].name: word for slot, word in zip(placed, words, strict=True)}
    filling = _completed(spec, line, fixed)
    return None if filling is None else Form(spec, line, filling)


def lawful(spec: InstructionSpec, line: SyntaxLine) -> dict[str, Words]:
    """The manual's values for each slot of a line.

    Empty if only ptxas takes the line's forms, not the manual.
    """
    if not any(each.lax for each in spec.constraints):
        return {slot.name: slot.values for slot in line.slots}
    found = {
        slot.name: tuple(value for value in slot.values if _completed(spec, line, {slot.name: value}) is not None)
        for slot in line.slots
    }
    return found if all(found[slot.name] or slot.optional for slot in line.slots) else {}


def _completed(spec: InstructionSpec, line: SyntaxLine, fixed: Mapping[str, str]) -> dict[str, str] | None:
    """The shortest legal filling of a syntax line that has `fixed`; None if there is none."""
    names = [slot.name for slot in line.slots]
    choices = {slot.name: (fixed[slot.name],) if slot.name in fixed else slot.choices for slot in line.slots}
    bound = [each for each in spec.constraints if _applies(each, names)]
    free = [name for name in names if len(choices[name]) > 1 and any(_mentions(each, name) for each in bound)]
    filling = {name: values[0] for name, values in choices.items()}
    return filling if _search(filling, choices, bound, tuple(free)) else None


def _applies(constraint: Constraint, names: list[str]) -> bool:
    return all(name in names for name, _ in constraint.when.allowed)


def _mentions(constraint: Constraint, name: str) -> bool:
    """Whether a constraint concerns a slot: names it, or refers to its value."""
    conditions = (*constraint.when.allowed, *constraint.require.allowed)
    return any(name == other or f".{name}" in values for other, values in conditions)


def _search(filling: dict[str, str], choices: Mapping[str, Words], constraints: list[Constraint], free: Words) -> bool:
    """Fill the free slots one after the other so that all constraints hold; decided constraints prune."""
    unsettled = set(free)
    for constraint in constraints:
        if not any(_mentions(constraint, name) for name in unsettled) and not constraint.admits(filling):
            return False
    if not free:
        return True
    name, *rest = free
    for value in choices[name]:
        filling[name] = value
        if _search(filling, choices, constraints, tuple(rest)):
            return True
    return False
