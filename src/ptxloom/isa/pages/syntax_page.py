"""The syntax of an instruction for readers: some of its lines with their definitions, wrapped if long."""

from __future__ import annotations

import re
from dataclasses import field
from textwrap import wrap
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa.resolution.completions import lawful

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.isa.notation import SyntaxLine
    from ptxloom.isa.spec import InstructionSpec

WIDTH: Final = 110  # of a line

_DEFINITION: Final = re.compile(r"\.(\S+)\s*=\s*(\{.*\};)")


@dataclass(slots=True)
class _Group:
    """Syntax lines and the definitions that stand after them."""

    lines: list[SyntaxLine] = field(default_factory=list["SyntaxLine"])
    definitions: dict[str, str] = field(default_factory=dict[str, str])


def syntax_text(spec: InstructionSpec, shown: Iterable[SyntaxLine]) -> Iterator[str]:
    """The chosen syntax lines, each with the definitions that it needs, in the order of the data."""
    kept = [line.line for line in shown]
    shared, groups = _groups(spec)
    here = [_Group([line for line in group.lines if line.line in kept], group.definitions) for group in groups]
    here = [group for group in here if group.lines]
    used = {name for group in here for name in _named(group.lines) if name not in group.definitions}
    common = list(_definitions(spec, here, shared, used))
    yield from common
    for place, group in enumerate(here):
        if common if not place else here[place - 1].definitions or group.definitions:
            yield ""
        for line in group.lines:
            yield from _instruction(line.text)
        yield from _definitions(spec, [group], group.definitions, _named(group.lines))


def _groups(spec: InstructionSpec) -> tuple[dict[str, str], list[_Group]]:
    """The definitions that hold for all lines, and the lines in groups that share definitions."""
    groups = [_Group()]
    lines = iter(spec.lines)
    for text in filter(None, map(str.strip, spec.syntax.splitlines())):
        if found := _DEFINITION.fullmatch(text):
            groups[-1].definitions[found[1]] = found[2]
            continue
        if groups[-1].definitions or len(groups) == 1:
            groups.append(_Group())
        groups[-1].lines.append(next(lines))
    return groups[0].definitions, groups[1:]


def _named(lines: list[SyntaxLine]) -> set[str]:
    return {slot.name for line in lines for slot in line.slots}


def _definitions(
    spec: InstructionSpec, groups: list[_Group], definitions: dict[str, str], used: set[str]
) -> Iterator[str]:
    """The definitions of the names used, in columns, without values that no form of the lines has by the manual."""
    here = {name: text for name, text in definitions.items() if name in used}
    width = max(map(len, here), default=0)
    for name, text in here.items():
        lines = [line for group in groups if group.definitions.get(name, text) is text for line in group.lines]
        values = {value for line in lines for slot in line.slots if slot.name == name for value in slot.values}
        stated = dict.fromkeys(value for line in lines for value in lawful(spec, line).get(name, ()))
        listed = text if stated.keys() == values else f"{{{', '.join(f'.{value}' for value in stated)}}};"
        yield from _filled(f".{name:{width}} = {listed}", " " * (width + 5))


def _instruction(text: str) -> list[str]:
    """A line of syntax; if it is long, with its operands below its opcode."""
    if len(text) <= WIDTH:
        return [text]
    qualifiers, _, operands = text.partition(" ")
    parts = re.sub(r"\{?\.", r" \g<0>", qualifiers)
    head = [part.replace(" ", "") for part in wrap(parts, WIDTH, break_on_hyphens=False)]
    indent = " " * 4
    return [*head[:1], *(indent * 2 + part for part in head[1:]), *_filled(indent + operands, indent)]


def _filled(text: str, indent: str) -> list[str]:
    if len(text) <= WIDTH:
        return [text]
    return wrap(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
