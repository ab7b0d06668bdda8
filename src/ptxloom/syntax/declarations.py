"""Declarations, parameters and function headers (PTX ISA 5, 7.1, 11.2 to 11.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.isa import spaces
from ptxloom.syntax.operands import expression
from ptxloom.syntax.tree import (
    Attribute,
    CallPrototype,
    Declaration,
    Declarator,
    PerformanceDirective,
    Pointer,
    String,
)

if TYPE_CHECKING:
    from ptxloom.source import Source
    from ptxloom.syntax.lexer import Cursor
    from ptxloom.syntax.tree import Operand

LINKAGES: Final = frozenset((".extern", ".visible", ".weak", ".common"))
SPACES: Final = frozenset(f".{name}" for name in spaces.SPACES)
STARTS: Final = LINKAGES | SPACES | {".entry", ".func", ".attribute"}
"""Words that start a declaration or a function."""
_ELSEWHERE: Final = STARTS | {
    ".version",
    ".target",
    ".address_size",
    ".file",
    ".section",
    ".alias",
    ".loc",
    ".loc_intermediate",
}
_COUNTED: Final = frozenset(("maxntid", "reqntid", "minnctapersm", "maxnctapersm", "maxnreg", "reqnctapercluster"))
VECTORS: Final = {".v2": 2, ".v4": 4, ".v8": 8}


@dataclass(slots=True)
class Specifiers:
    """The specifiers before the declared names."""

    space: str = ""
    alignment: int = 0
    vector: int = 0
    type: str = ""
    attributes: tuple[Attribute, ...] = ()
    pointer: Pointer | None = None


def declaration(cursor: Cursor, source: Source, start: int, linkage: str) -> Declaration:
    """A declaration up to its semicolon, which is the next token."""
    found = specifiers(cursor)
    declarators = [] if cursor.here == ";" else [declarator(cursor)]
    while declarators and cursor.accept(","):
        declarators.append(declarator(cursor))
    return _declaration(found, tuple(declarators), linkage, source, start, cursor.behind)


def _declaration(  # noqa: PLR0917 - facts of the two callers
    found: Specifiers, declarators: tuple[Declarator, ...], linkage: str, source: Source, start: int, end: int
) -> Declaration:
    return Declaration(
        linkage,
        found.space,
        found.alignment,
        found.vector,
        found.type,
        found.attributes,
        declarators,
        found.pointer,
        source=source,
        start=start,
        end=end,
    )


def specifiers(cursor: Cursor) -> Specifiers:
    """The state space, attributes, alignment, vector length, type and `.ptr` of a declaration."""
    found = Specifiers()
    if cursor.here in SPACES:
        found.space = cursor.advance()[1:]
    while cursor.kind == "dotted":
        word = cursor.here
        if found.type:
            if word != ".ptr":
                raise cursor.unexpected("the name that is declared")
            found.pointer = _pointer(cursor)
        elif word == ".align":
            cursor.advance()
            found.alignment = cursor.number("an alignment in bytes")
        elif word == ".attribute":
            cursor.advance()
            found.attributes += attributes(cursor)
        elif word in VECTORS:
            cursor.advance()
            found.vector = VECTORS[word]
        else:
            found.type = cursor.advance()[1:]
    return found


def _pointer(cursor: Cursor) -> Pointer:
    start = cursor.start
    cursor.advance()
    space, alignment = "", 0
    if cursor.kind == "dotted" and cursor.here != ".align":
        space = cursor.advance()[1:]
    if cursor.accept(".align"):
        alignment = cursor.number("an alignment in bytes")
    return Pointer(space, alignment, start=start, end=cursor.behind)


def attributes(cursor: Cursor) -> tuple[Attribute, ...]:
    """The list in parentheses after `.attribute`."""
    cursor.expect("(", "after `.attribute`")
    found: list[Attribute] = []
    while cursor.kind == "dotted":
        start = cursor.start
        name = cursor.advance()[1:]
        values: tuple[Operand, ...] = ()
        if cursor.accept("("):
            values = listed(cursor)
            cursor.expect(")", "to close the attribute's values")
        found.append(Attribute(name, values, start=start, end=cursor.behind))
        if not cursor.accept(","):
            break
    cursor.expect(")", "to close the attributes")
    return tuple(found)


def listed(cursor: Cursor) -> tuple[Operand, ...]:
    """One or more expressions, comma-separated."""
    found = [expression(cursor)]
    while cursor.accept(","):
        found.append(expression(cursor))
    return tuple(found)


def declarator(cursor: Cursor) -> Declarator:
    """A declared name with its count, dimensions and initialiser."""
    start = cursor.start
    name = cursor.name("the name that is declared")
    count: int | None = None
    dimensions: list[int | None] = []
    if cursor.accept("<"):
        count = cursor.number("the number of names")
        cursor.expect(">", "after the number of names")
    while cursor.accept("["):
        dimensions.append(None if cursor.here == "]" else cursor.number("the size of the array"))
        cursor.expect("]", "after the size of the array")
    initializer = expression(cursor) if cursor.accept("=") else None
    return Declarator(name, count, tuple(dimensions), initializer, start=start, end=cursor.behind)


def parameters(cursor: Cursor, source: Source) -> tuple[Declaration, ...]:
    """A list of parameters in parentheses; the current token is the opening one."""
    cursor.expect("(", "to open the parameters")
    found: list[Declaration] = []
    while not (cursor.here == ")" and not found):
        start = cursor.start
        if cursor.kind != "dotted":
            raise cursor.unexpected("a parameter")
        words = specifiers(cursor)
        found.append(_declaration(words, (declarator(cursor),), "", source, start, cursor.behind))
        if cursor.here == ".param" and cursor.on_new_line:
            cursor.problems.append(cursor.incomplete("`,` between parameters"))
        elif not cursor.accept(","):
            break
    cursor.expect(")", "to close the parameters")
    return tuple(found)


def performance_directives(cursor: Cursor) -> tuple[PerformanceDirective, ...]:
    """The directives between a function's parameters and its body."""
    found: list[PerformanceDirective] = []
    while cursor.kind == "dotted" and cursor.here not in _ELSEWHERE:
        start = cursor.start
        name = cursor.advance()[1:]
        values: tuple[Operand, ...] = ()
        if name == "pragma":
            values = _strings(cursor)
        elif name == "language":
            values = _languages(cursor)
        elif cursor.kind in {"number", "name"}:
            values = listed(cursor)
        elif name in _COUNTED:
            raise cursor.unexpected("a number")
        found.append(PerformanceDirective(name, values, start=start, end=cursor.behind))
        if name == "pragma":
            cursor.accept(";")
    return tuple(found)


def _strings(cursor: Cursor) -> tuple[String, ...]:
    found = [_string(cursor)]
    while cursor.accept(","):
        found.append(_string(cursor))
    return tuple(found)


def _string(cursor: Cursor) -> String:
    start = cursor.start
    return String(cursor.string("a string"), start=start, end=cursor.behind)


def _languages(cursor: Cursor) -> tuple[Operand, ...]:
    """Languages by name, in quotes, or by number."""
    found: list[Operand] = []
    while not found or cursor.accept(","):
        found.append(_string(cursor) if cursor.kind == "string" else expression(cursor))
    return tuple(found)


def call_prototype(cursor: Cursor, source: Source, start: int) -> CallPrototype:
    """The rest of a `.callprototype`, up to its semicolon."""
    returns = parameters(cursor, source) if cursor.here == "(" else ()
    cursor.name("`_` in place of the function's name")
    params = parameters(cursor, source) if cursor.here == "(" else ()
    directives = performance_directives(cursor)
    return CallPrototype(
        returns,
        params,
        any(one.name == "noreturn" for one in directives),
        tuple(one for one in directives if one.name != "noreturn"),
        source=source,
        start=start,
        end=cursor.behind,
    )
