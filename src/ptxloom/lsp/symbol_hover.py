"""Explains declared names: their declaration, their writers, the number of uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from ptxloom.isa import element_type
from ptxloom.isa.types import is_type
from ptxloom.lsp.fragment_role import fragment_role
from ptxloom.lsp.meaning import operand_rule, writes
from ptxloom.lsp.names import NameKind
from ptxloom.syntax.printer import function_header, print_line
from ptxloom.syntax.tree import Alias, Declarator, Function, Instruction, Label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.lsp.document import Document
    from ptxloom.lsp.names import Declared, Occurrence

MOST_WRITERS: Final = 5
"""The most quoted instructions that write a register."""
LONGEST: Final = 200
"""The most characters shown of a declaration."""


def symbol_page(document: Document, occurrence: Occurrence) -> str:
    """The page of the name at an occurrence."""
    return "\n".join(_lines(document, occurrence)) + "\n"


def _lines(document: Document, occurrence: Occurrence) -> Iterator[str]:
    symbol = occurrence.symbol
    if symbol is None:
        return
    yield "```ptx"
    yield _declaration(symbol)
    yield "```"
    places = document.names.alike(occurrence)
    uses = [one for one in places if not one.declares]
    line = document.module.source.location(symbol.start)[0]
    series = f"one of `{symbol.name}0` to `{symbol.name}{symbol.count - 1}`, " if symbol.count else ""
    used = "" if symbol.kind is NameKind.KERNEL and not uses else f", {_times(len(uses))}"  # the host launches it
    yield f"{symbol.kind}, {series}declared on line {line}{used}"
    yield from _size(symbol)
    if symbol.kind is NameKind.REGISTER and not occurrence.declares:
        yield from _writers(document, uses)
        yield from _role(occurrence)


def _declaration(symbol: Declared) -> str:
    match symbol.node:
        case Declarator():
            declaration = symbol.declaration
            if declaration is None:
                return symbol.name
            text = print_line(declaration.replace(declarators=(symbol.node.replace(initializer=None),)))
            return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        case Function() as function:
            return "\n".join(function_header(function))
        case Label(name):
            return f"{name}:"
        case Alias(name, target):
            return f".alias {name}, {target};"
        case _:
            assert_never(symbol.node)


def _size(symbol: Declared) -> Iterator[str]:
    """The size of an array."""
    declaration, node = symbol.declaration, symbol.node
    if symbol.kind is NameKind.REGISTER or declaration is None or not isinstance(node, Declarator):
        return
    if not node.dimensions or not is_type(declaration.type):
        return
    size = element_type(declaration.type).storage_bits // 8 * max(1, declaration.vector)
    for dimension in node.dimensions:
        if dimension is None:
            return
        size *= dimension
    yield ""
    yield f"{size:,} bytes"


def _writers(document: Document, uses: list[Occurrence]) -> Iterator[str]:
    """The instructions that write a register."""
    found = [one for one in uses if writes(one)]
    if not found:
        return
    source = document.module.source
    yield ""
    yield f"written {_times(len(found), 'once', 'times')}:"
    yield ""
    yield "```ptx"
    for one in found[:MOST_WRITERS]:
        yield f"{print_line(one.statement)}  // line {source.location(one.statement.start)[0]}"
    yield "```"
    if len(found) > MOST_WRITERS:
        yield f"and {len(found) - MOST_WRITERS} more"


def _role(occurrence: Occurrence) -> Iterator[str]:
    """The meaning of the operand that contains the name."""
    instruction = occurrence.statement
    if not isinstance(instruction, Instruction):
        return
    rule = operand_rule(instruction, occurrence.place)
    if rule is not None:
        yield ""
        yield f"here operand `{rule.name}` of `{instruction.opcode}`: {rule.about}"
    held = fragment_role(occurrence)
    if held:
        yield ""
        yield held


def _times(number: int, once: str = "used once", many: str = "uses") -> str:
    return once if number == 1 else f"{number} {many}" if number else "never used"
