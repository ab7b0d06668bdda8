"""The forms of an instruction: syntax lines expanded to spellings, and spellings, in any order, resolved to forms."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.display import mimebundle
from ptxloom.isa.form import Form
from ptxloom.isa.load import instruction_spec
from ptxloom.isa.spaces import MEMORY
from ptxloom.isa.types import is_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.notation import Slot, SyntaxLine
    from ptxloom.isa.spec import InstructionSpec


@dataclass(frozen=True, slots=True)
class Resolution:
    """The meaning of a written list of qualifiers.

    Attributes:
        form: The form, or None if no form fits; `mismatch.problems` explains why. A form that only ptxas accepts has
            `laxities`.
        ignored: Places of qualifiers that ptxas ignores.
        repeated: Places of qualifiers that ptxas allows twice.
        displaced: The place of the first qualifier that the manual puts earlier; None if the order is the manual's.
        others: Forms of the same spelling with the same number of operands; `vectors.looks` decides between them.
    """

    form: Form | None
    ignored: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    displaced: int | None = None
    others: tuple[Form, ...] = ()

    _repr_mimebundle_ = mimebundle


@cache
def forms(opcode: str) -> tuple[Form, ...]:
    """Every legal form of an opcode, in the order of its syntax lines.

    Raises:
        UnsupportedForm: The data does not describe the opcode.
    """
    return tuple(expand(instruction_spec(opcode)))


def expand(spec: InstructionSpec) -> Iterator[Form]:
    """The cross product of every syntax line's choices, minus the forms that constraints remove."""
    for filling, line in fillings(spec):
        if all(constraint.admits(filling) for constraint in spec.constraints):
            yield Form(spec, line, filling)


def fillings(spec: InstructionSpec) -> Iterator[tuple[dict[str, str], SyntaxLine]]:
    """The cross product of every syntax line's choices, unconstrained."""
    for line in spec.lines:
        names = [slot.name for slot in line.slots]
        for choice in product(*(slot.choices for slot in line.slots)):
            yield dict(zip(names, choice, strict=True)), line


def nearby(opcode: str, words: frozenset[str]) -> Iterator[Form]:
    """The forms whose optional slots hold only `words`, or what a constraint refers to."""
    spec = instruction_spec(opcode)
    asked = {value for constraint in spec.constraints for _, values in constraint.require.allowed for value in values}
    for line in spec.lines:
        choices = [tuple(_near_choices(slot, words, asked)) for slot in line.slots]
        for choice in product(*choices):
            filling = {slot.name: value for slot, value in zip(line.slots, choice, strict=True)}
            if all(constraint.admits(filling) for constraint in spec.constraints):
                yield Form(spec, line, filling)


def _near_choices(slot: Slot, words: frozenset[str], asked: set[str]) -> Iterator[str]:
    """A slot's relevant choices: the written words first."""
    written = [value for value in slot.values if value in words]
    yield from written
    if slot.optional:
        yield ""
        yield from (value for value in slot.values if value in asked and value not in words)
    elif not written:
        yield from slot.values


MOST_QUALIFIERS = 40
"""No instruction has more; longer lists are not examined, so that time stays linear in the text."""


def resolve(opcode: str, qualifiers: tuple[str, ...], operands: int = -1) -> Resolution:
    """The form with the given qualifiers in any order; only element types keep their order.

    Args:
        opcode: Such as "ldmatrix".
        qualifiers: Without leading dots, as written.
        operands: The number of written operands: of several forms of one spelling, the one that takes it is meant,
            or the first one if no form does, or if it is negative.

    Raises:
        UnsupportedForm: The data does not describe the opcode.
    """
    if not (isinstance(opcode, str) and isinstance(qualifiers, tuple)):  # pyright: ignore[reportUnnecessaryIsInstance] - called often
        must_be(str, "opcode", opcode, "an opcode such as ldmatrix")
        must_be(tuple, "qualifiers", qualifiers, "a tuple of qualifiers without their dots")
    if len(qualifiers) > MOST_QUALIFIERS:
        return Resolution(None)
    return _resolve(opcode, qualifiers, operands)


@lru_cache(maxsize=8192)
def _resolve(opcode: str, qualifiers: tuple[str, ...], operands: int) -> Resolution:
    spec = instruction_spec(opcode)
    tolerance, again = spec.tolerance, spec.repeatable
    repeated = tuple(place for place, word in enumerate(qualifiers) if word in again and word in qualifiers[:place])
    lax = not tolerance.ignores_in or not set(tolerance.ignores_in).isdisjoint(qualifiers)
    ignored = tuple(place for place, word in enumerate(qualifiers) if lax and word in tolerance.ignores)
    for passed in ((), ignored) if ignored else ((),):
        found = _read(opcode, qualifiers, operands, passed, repeated)
        if found.form is not None:
            return found
    strange = tuple(place for place in ignored if not _has_place(opcode, qualifiers[place]))
    return Resolution(None, strange, repeated)


def _has_place(opcode: str, word: str) -> bool:
    """Whether some syntax line has a slot for a qualifier."""
    return any(word in line.slots_of for line in instruction_spec(opcode).lines)


def _read(
    opcode: str, qualifiers: tuple[str, ...], operands: int, ignored: tuple[int, ...], repeated: tuple[int, ...]
) -> Resolution:
    """The meaning of qualifiers, without some of them."""
    spec = instruction_spec(opcode)
    kept = tuple(place for place in range(len(qualifiers)) if place not in ignored and place not in repeated)
    words = tuple(qualifiers[place] for place in kept)
    leading = [word in spec.tolerance.leads for word in qualifiers]
    ranked: dict[tuple[bool, bool], list[tuple[Form, tuple[int, ...]]]] = {}  # miscounted, beyond the manual
    if leading == sorted(leading, reverse=True):
        for line, filling, placed in readings_of(spec, words):
            form = Form(spec, line, filling)
            if all(constraint.lax or constraint.admits(filling) for constraint in spec.constraints):
                rank = operands >= 0 and operands not in line.counts, bool(form.laxities)
                ranked.setdefault(rank, []).append((form, placed))
    if not ranked:
        return Resolution(None, ignored, repeated)
    (form, placed), *others = ranked[min(ranked)]
    return Resolution(form, ignored, repeated, _displaced(kept, placed), tuple(other for other, _ in others))


def readings_of(
    spec: InstructionSpec, words: tuple[str, ...]
) -> Iterator[tuple[SyntaxLine, dict[str, str], tuple[int, ...]]]:
    """Every syntax line with a slot for each word, its filling, and the slots; ignores constraints."""
    for line in spec.lines:
        placed = place_words(line, words)
        if placed is not None and (filling := _filling(line, words, placed)) is not None:
            yield line, filling, placed


def place_words(line: SyntaxLine, words: tuple[str, ...]) -> tuple[int, ...] | None:
    """For each word the first free slot it fills; None if one has no slot, or words of one sort are out of order."""
    taken: list[int] = []
    last: dict[str, int] = {}
    for word in words:
        free = (slot for slot in line.slots_of.get(word, ()) if slot not in taken)
        slot = next(free, None)
        if slot is None:
            return None
        sort = _sort(line, word)
        if sort and slot < last.get(sort, -1):
            return None
        last[sort] = slot
        taken.append(slot)
    return tuple(taken)


_LAYOUTS = ("row", "col")


def _sort(line: SyntaxLine, word: str) -> str:
    """The sort of words whose order matters: types, layouts, state spaces, parts of the opcode; else empty."""
    if is_type(word):
        return "type"
    if word in line.leads:
        return "lead"
    if word in _LAYOUTS:
        return "layout"
    return "space" if word.partition("::")[0] in MEMORY else ""


def _filling(line: SyntaxLine, words: tuple[str, ...], placed: tuple[int, ...]) -> dict[str, str] | None:
    by_slot = dict(zip(placed, words, strict=True))
    if any(place not in by_slot and not slot.optional for place, slot in enumerate(line.slots)):
        return None
    return {slot.name: by_slot.get(place, "") for place, slot in enumerate(line.slots)}


def _displaced(kept: tuple[int, ...], placed: tuple[int, ...]) -> int | None:
    """The place of the first word that fills an earlier slot than a word before it."""
    for at in range(1, len(placed)):
        if placed[at] < max(placed[:at]):
            return kept[at]
    return None
