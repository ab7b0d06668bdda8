"""The manual's notation for syntax: `op.fixed.choice{.optional} d, [a];` and `.choice = {.x, .y};`, read into slots.

A list may count: `.m64n[8..24:8]k16` is short for `.m64n8k16, .m64n16k16, .m64n24k16`.
Definitions before the first syntax line hold for all lines; those after some lines hold for these lines only.
"""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.display import mimebundle
from ptxloom.lazy import cached_property

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class DataError(PtxloomError):
    """The ISA data violates its own rules; the message starts with file and line."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot for a qualifier in a syntax line.

    Attributes:
        name: Its name in the manual; a fixed qualifier is its own name.
        values: The qualifiers that are legal here.
        optional: Whether it may be omitted.
    """

    name: str
    values: tuple[str, ...]
    optional: bool = False

    @property
    def choices(self) -> tuple[str, ...]:
        """The values, and the empty string if the slot may be omitted."""
        return ("", *self.values) if self.optional else self.values


@dataclass(frozen=True, slots=True)
class OperandSlot:
    """One operand in a syntax line.

    Attributes:
        name: Its name in the manual.
        bracketed: Whether it is in `[ ]`.
        optional: Whether it may be omitted.
        partner: The operand that may follow it after `|`, such as a predicate.
        extra: The operands that follow it in its brackets.
        spare: Those of these that may be omitted.
        alone: Whether it is legal without its partner.
    """

    name: str
    bracketed: bool = False
    optional: bool = False
    partner: str = ""
    extra: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()
    alone: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, its partner's, and the names that follow it in its brackets."""
        return (self.name, *([self.partner] if self.partner else []), *self.extra)

    def inside(self, count: int) -> tuple[str, ...]:
        """The names of `count` operands after the first one in the brackets; empty if it does not take `count`."""
        surplus = len(self.extra) - count
        if not 0 <= surplus <= len(self.spare):
            return ()
        return tuple(name for name in self.extra if name not in self.spare[len(self.spare) - surplus :])


@dataclass(frozen=True)
class SyntaxLine:
    """One line of syntax: an opcode, its qualifiers in the manual's order, its operands."""

    opcode: str
    slots: tuple[Slot, ...]
    operands: tuple[OperandSlot, ...]
    text: str
    line: int  # in the data file
    leads: frozenset[str] = frozenset()  # the qualifiers that belong to the opcode's name, and keep their order

    _repr_mimebundle_ = mimebundle

    @property
    def spellings(self) -> int:
        """The number of combinations of qualifiers on the line, before constraints."""
        return prod(len(slot.choices) for slot in self.slots)

    @property
    def operand_names(self) -> frozenset[str]:
        """The names of its operands."""
        return frozenset(name for slot in self.operands for name in slot.names)

    @property
    def counts(self) -> range:
        """The possible numbers of operands."""
        return range(sum(not slot.optional for slot in self.operands), len(self.operands) + 1)

    @cached_property
    def slots_of(self) -> Mapping[str, tuple[int, ...]]:
        """The slots that each qualifier may fill, in order."""
        found: dict[str, list[int]] = {}
        for place, slot in enumerate(self.slots):
            for value in slot.values:
                found.setdefault(value, []).append(place)
        return {value: tuple(places) for value, places in found.items()}


_DEFINITION = re.compile(r"\.([A-Za-z_][\w:]*)\s*=\s*\{(.*)\}\s*;")
_COUNT = re.compile(r"(\.[\w:]*)\[(\d+)\.\.(\d+):(\d+)\](\w*)")
_VALUE = re.compile(r"\.([\w:]+)\s*(?:\{([^{}]*)\})?\s*(?:,\s*|$)")
_LINE = re.compile(r"([a-z][a-z0-9_]*)((?:\.[\w:]+|\{\s*\.[\w:]+\s*\})*)\s*(.*);")
_QUALIFIER = re.compile(r"(\{\s*)?\.([\w:]+)")
_OPERAND_TOKEN = re.compile(r"\s*(\{,|\{\||\{!\}|[\[\]},|]|[A-Za-z][\w-]*)\s*")

_OPENING = ("{,", "{|", "[")
_CLOSING = ("}", "]")

_Definitions = dict[str, tuple[str, ...]]


def read_syntax(text: str, file: str, first_line: int) -> tuple[SyntaxLine, ...]:
    """The syntax lines of a block in the manual's notation.

    Args:
        text: The block.
        file: The data file's name, for errors.
        first_line: The line of the file on which the block starts.

    Raises:
        DataError: The block is not in the notation, defines a choice that no line uses, or defines one twice.
    """
    statements = [(number, line.strip()) for number, line in enumerate(text.splitlines(), first_line) if line.strip()]
    shared: _Definitions = {}
    groups: list[tuple[_Definitions, list[tuple[int, str]]]] = []
    open_group = False  # a group takes lines until its first definition
    for number, statement in statements:
        if (definition := _DEFINITION.fullmatch(statement)) is None:
            if not open_group:
                groups.append(({}, []))
            groups[-1][1].append((number, statement))
            open_group = True
            continue
        open_group = False
        table = groups[-1][0] if groups else shared
        if definition[1] in table:
            raise DataError(file, number, f"`.{definition[1]}` is defined twice")
        table[definition[1]] = _values(definition[2], file, number)
    lines = tuple(
        _syntax_line(statement, {**shared, **own}, file, number) for own, group in groups for number, statement in group
    )
    _require_use(shared, lines, file, first_line)
    for own, group in groups:
        _require_use(own, [line for line in lines if line.line in {number for number, _ in group}], file, group[0][0])
    return lines


def _values(text: str, file: str, line: int) -> tuple[str, ...]:
    """The qualifiers of a list; `.shared{::cta, ::cluster}` is short for three of them."""
    words: list[str] = []
    at = 0
    text = _COUNT.sub(_counted, text.strip())
    while at < len(text):
        found = _VALUE.match(text, at)
        if found is None:
            raise DataError(file, line, f"`{{{text}}}` is not a list of qualifiers")
        words += [found[1], *(found[1] + tail.strip() for tail in (found[2] or "").split(",") if tail.strip())]
        at = found.end()
    if len(set(words)) < len(words):
        raise DataError(file, line, f"`{{{text}}}` names a qualifier twice")
    return tuple(words)


def _counted(found: re.Match[str]) -> str:
    """Expand a counting qualifier."""
    numbers = range(int(found[2]), int(found[3]) + 1, int(found[4]))
    return ", ".join(f"{found[1]}{number}{found[5]}" for number in numbers)


def _syntax_line(text: str, definitions: _Definitions, file: str, line: int) -> SyntaxLine:
    match = _LINE.fullmatch(text)
    if match is None:
        raise DataError(file, line, f"`{text}` is neither a syntax line nor a definition")
    slots = tuple(
        Slot(found[2], definitions.get(found[2], (found[2],)), optional=bool(found[1]))
        for found in _QUALIFIER.finditer(match[2])
    )
    names = [slot.name for slot in slots]
    if len(set(names)) < len(names):
        raise DataError(file, line, f"`{text}` has two qualifiers of one name")
    return SyntaxLine(match[1], slots, _operands(match[3], file, line), text, line)


def _operands(text: str, file: str, line: int) -> tuple[OperandSlot, ...]:
    """The operands of a line: `d`, `[a]`, `d{|p}`, `{!}c`, `[a{, b}, c]`, `{, policy}` (it may be left out)."""
    slots: list[OperandSlot] = []
    opened: list[str] = []
    before = ""
    at = 0
    while at < len(text):
        found = _OPERAND_TOKEN.match(text, at)
        if found is None:
            raise DataError(file, line, f"`{text[at:]}` is not a list of operands")
        at = found.end()
        token = found[1]
        if token in _OPENING:
            opened.append(token)
        elif token in _CLOSING:
            if not opened:
                raise DataError(file, line, f"`{text}` closes a bracket that it does not open")
            opened.pop()
        elif token[0].isalpha():
            _add_operand(slots, token, before, opened)
        before = token
    return tuple(slots)


def _add_operand(slots: list[OperandSlot], name: str, before: str, opened: list[str]) -> None:
    """Add one name: a new operand, the partner of the last one (`d|p`), or more inside its brackets."""
    if slots and before in {"|", "{|"}:
        slots[-1] = replace(slots[-1], partner=name, alone=before == "{|")
    elif slots and before in {",", "{,"} and "[" in opened:
        spare = (*slots[-1].spare, name) if before == "{," else slots[-1].spare
        slots[-1] = replace(slots[-1], extra=(*slots[-1].extra, name), spare=spare)
    else:
        slots.append(OperandSlot(name, "[" in opened, "{," in opened))


def _require_use(definitions: Iterable[str], lines: Iterable[SyntaxLine], file: str, at: int) -> None:
    used = {slot.name for line in lines for slot in line.slots}
    for name in definitions:
        if name not in used:
            raise DataError(file, at, f"`.{name}` is defined and never used")
