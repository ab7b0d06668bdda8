"""Operands and constant expressions (PTX ISA 4.5, 6.2 to 6.4), read by recursive descent."""

from __future__ import annotations

import re
import struct
from itertools import accumulate, repeat
from operator import add, sub
from typing import TYPE_CHECKING, Final

from ptxloom.patterns import regex
from ptxloom.syntax.constants import constant, overflows
from ptxloom.syntax.lexer import Problem
from ptxloom.syntax.node import children, maker
from ptxloom.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Cast,
    Component,
    Float,
    Indexed,
    Integer,
    Name,
    Pair,
    Ternary,
    Unary,
    Vector,
)

if TYPE_CHECKING:
    from ptxloom.syntax.lexer import Cursor
    from ptxloom.syntax.tree import Operand

MAX_DEPTH: Final = 50
"""The deepest nesting of operands."""
MAX_TERMS: Final = 100
"""The most levels of a chain of operators or indices: each has everything before it as its left side."""

PRECEDENCE: Final = {
    sign: level
    for level, signs in enumerate(
        (
            ("||",),
            ("&&",),
            ("|",),
            ("^",),
            ("&",),
            ("==", "!="),
            ("<", "<=", ">", ">="),
            ("<<", ">>"),
            ("+", "-"),
            ("*", "/", "%"),
        ),
        start=1,
    )
    for sign in signs
}
UNARY: Final = frozenset("+-!~")
_CASTS: Final = frozenset((".s64", ".u64"))
_INTEGER: Final = re.compile(r"(0[xX][0-9a-fA-F]++|0[bB][01]++|\d++)(U?)")


def operands(cursor: Cursor, opcode: str) -> tuple[Operand, ...]:
    """The operands of an instruction, up to the token after the last one."""
    found = [operand(cursor, opcode)]
    while cursor.accept(","):
        found.append(operand(cursor, opcode))
    return tuple(found)


def operand(cursor: Cursor, opcode: str = "") -> Operand:
    """One operand: a pair of destinations, an argument list of `call`, or an expression."""
    start = cursor.start
    if opcode == "call" and cursor.here == "(":
        return Arguments(_listed(cursor, "(", ")", 0), start=start, end=cursor.behind)
    first = expression(cursor, pairs=True)
    if cursor.here == "|" and isinstance(first, Name | Component | Vector):
        cursor.advance()
        second = _unary(cursor, 0)
        return Pair(first, second, start=start, end=cursor.behind)
    return first


def expression(cursor: Cursor, depth: int = 0, *, pairs: bool = False) -> Operand:
    """A constant expression or a plain operand; with `pairs`, `|` after a name ends it."""
    start = cursor.start
    condition = _binary(cursor, 1, depth, pairs=pairs)
    if not cursor.accept("?"):
        return condition
    then = expression(cursor, _deeper(cursor, depth))
    cursor.expect(":", "in a choice")
    otherwise = expression(cursor, _deeper(cursor, depth))
    return Ternary(condition, then, otherwise, start=start, end=cursor.behind)


def _deeper(cursor: Cursor, depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise Problem(
            "nested-too-deeply",
            f"operands nest deeper than {MAX_DEPTH} levels",
            cursor.start,
            cursor.end,
            "this is one level too many",
        )
    return depth + 1


def _binary(cursor: Cursor, lowest: int, depth: int, *, pairs: bool = False) -> Operand:
    start = cursor.start
    left = _unary(cursor, depth)
    levels = 0
    while cursor.kind == "punctuation" and not isinstance(left, Address | Vector):
        sign = cursor.here
        level = PRECEDENCE.get(sign, 0)
        if level < lowest or (pairs and sign == "|" and isinstance(left, Name | Component)):
            break
        at, end = cursor.start, cursor.end
        cursor.advance()
        right = _binary(cursor, level + 1, _deeper(cursor, depth))
        levels = _longer(levels or _levels(left), right, at, end)
        left = Binary(sign, left, right, start=start, end=cursor.behind)
    return left


def _levels(node: Operand) -> int:
    """The depth of an operand's tree."""
    levels, here = 0, [node]
    while here:
        levels += 1
        here = [inner for one in here for inner in children(one)]
    return levels


def _longer(levels: int, right: Operand, start: int, end: int) -> int:
    """The depth of a chain with one more link.

    Raises:
        Problem: It is too long for code that walks the tree.
    """
    levels = max(levels, _levels(right)) + 1
    if levels > MAX_TERMS:
        message = f"an expression has more than {MAX_TERMS} terms in a row"
        raise Problem("nested-too-deeply", message, start, end, "this is one too many", "work out a part of it")
    return levels


def _unary(cursor: Cursor, depth: int) -> Operand:
    start = cursor.start
    if cursor.kind == "punctuation":
        if cursor.here in UNARY:
            sign = cursor.advance()
            inner = _unary(cursor, _deeper(cursor, depth))
            return signed(sign, inner, start)
        if cursor.here == "(":
            return _parenthesised(cursor, depth)
    return _primary(cursor, depth)


def signed(sign: str, inner: Operand, start: int) -> Operand:
    """An operator in front of an operand; a minus belongs to a literal that follows it."""
    if sign == "-":
        match inner:
            case Integer(value, radix, False) if value >= 0:
                return Integer(-value, radix, start=start, end=inner.end)
            case Float(bits, 64, True) if not bits >> 63:
                return Float(bits | 1 << 63, 64, True, start=start, end=inner.end)
            case Float(_, _, False):
                label = "write the bits of the negative number"
                raise Problem("malformed-number", "a sign stands before the bits of a number", start, inner.end, label)
            case _:
                pass
    return Unary(sign, inner, start=start, end=inner.end)


def _parenthesised(cursor: Cursor, depth: int) -> Operand:
    start = cursor.start
    cursor.advance()
    if cursor.here in _CASTS:
        kind = cursor.advance()[1:]
        cursor.expect(")", "after the type of a cast")
        inner = _unary(cursor, _deeper(cursor, depth))
        return Cast(kind, inner, start=start, end=cursor.behind)
    inner = expression(cursor, _deeper(cursor, depth))
    cursor.expect(")", "to close the parenthesis")
    return inner.replace(start=start, end=cursor.behind) if not isinstance(inner, Name) else inner


def _primary(cursor: Cursor, depth: int) -> Operand:
    match cursor.kind:
        case "name" if not cursor.at_statement:
            return _named(cursor, depth)
        case "number":
            return _number(cursor, depth)
        case "dotted" if not cursor.at_statement:
            start = cursor.start
            return Name(cursor.advance(), start=start)
        case _:
            pass
    if cursor.here == "{":
        start = cursor.start
        return Vector(_listed(cursor, "{", "}", depth), start=start, end=cursor.behind)
    if cursor.here == "[":
        return _address(cursor, depth)
    raise cursor.unexpected("an operand")


def _named(cursor: Cursor, depth: int) -> Operand:
    start = cursor.start
    name: Operand = Name(cursor.advance(), start=start)
    if cursor.kind == "dotted":
        if cursor.on_new_line:
            return name
        field = cursor.advance()[1:]
        name = Component(name, field, start=start, end=cursor.behind)
    elif cursor.here == "(":
        cursor.advance()
        argument = expression(cursor, _deeper(cursor, depth))
        cursor.expect(")", "to close the argument")
        return Apply(name, argument, start=start, end=cursor.behind)
    levels = 1
    while cursor.here == "[":
        at, end = cursor.start, cursor.end
        cursor.advance()
        index = expression(cursor, _deeper(cursor, depth))
        cursor.expect("]", "to close the index")
        levels = _longer(levels, index, at, end)
        name = Indexed(name, index, start=start, end=cursor.behind)
    return name


def _number(cursor: Cursor, depth: int) -> Operand:
    start = cursor.start
    literal = number(cursor)
    if isinstance(literal, Integer) and cursor.here == "(":
        cursor.advance()
        argument = expression(cursor, _deeper(cursor, depth))
        cursor.expect(")", "to close the argument")
        return Apply(literal, argument, start=start, end=cursor.behind)
    return literal


def number(cursor: Cursor) -> Integer | Float:
    """The current literal."""
    start, end, text = cursor.start, cursor.end, cursor.here
    whole = _INTEGER.fullmatch(text)
    if whole is not None:
        digits = whole[1]
        radix = {"x": 16, "b": 2}.get(digits[1:2].lower(), 8 if digits[0] == "0" and len(digits) > 1 else 10)
        if len(digits) > 80 or (radix == 8 and not set(digits) <= set("01234567")):
            message = f"`{text[:30]}` is not an integer"
            raise Problem("malformed-number", message, start, end, "a leading 0 makes it octal")
        if len(digits) > _SHORT and overflows(digits[2:] if radix in {2, 16} else digits, radix):
            raise Problem("malformed-number", f"`{text[:30]}` does not fit in 64 bits", start, end, "this is too large")
        cursor.advance()
        return Integer(int(digits, radix), radix, bool(whole[2]), start=start, end=end)
    if len(text) > 400:
        raise Problem("malformed-number", "a number has more than 400 digits", start, end, "this is too long")
    cursor.advance()
    if text[1] in "fF":
        return Float(int("0x" + text[2:], 16), 32, start=start, end=end)
    if text[1] in "dD":
        return Float(int("0x" + text[2:], 16), start=start, end=end)
    value = float(text)
    bits = int.from_bytes(struct.pack("<d", value), "little")
    return Float(bits, 64, value <= _LARGEST, start=start, end=end)


_COMMA: Final = r"[ \t\r\n]*+,[ \t\r\n]*+"
_INTEGERS: Final = regex(rf"(?:-?(?:0[xX][0-9a-fA-F]{{1,16}}|[1-9][0-9]{{0,17}}|0){_COMMA}){{8,}}+")
_FLOATS: Final = regex(rf"(?:0[fF][0-9a-fA-F]{{8}}{_COMMA}){{8,}}+")
"""Plain literals, each followed by a comma, as in initialisers."""
_LARGEST: Final = 1.7976931348623157e308
_SHORT: Final = 16  # digits that fit in 64 bits in every radix


def _listed(cursor: Cursor, opening: str, closing: str, depth: int) -> tuple[Operand, ...]:
    inner = _deeper(cursor, depth)
    cursor.expect(opening, "to open a list")
    elements: list[Operand] = []
    while not (cursor.here == closing and not elements):
        if cursor.short and (cursor.kind == "number" or cursor.here == "-"):
            elements += _run(cursor)
        element = expression(cursor, inner)
        if cursor.here == "=":  # an attribute of a sampler: addr_mode_0 = wrap
            cursor.advance()
            right = expression(cursor, inner)
            element = Binary("=", element, right, start=element.start, end=cursor.behind)
        elements.append(element)
        if not cursor.accept(","):
            break
    cursor.expect(closing, "to close the list")
    return tuple(elements)


class _Values(dict[str, int]):
    """The values of short digit strings, computed on first use."""

    def __missing__(self, digits: str) -> int:
        value = int(digits, 0)
        if len(digits) < 5:
            self[digits] = value
        return value


_VALUES: Final = _Values()


def _run(cursor: Cursor) -> tuple[Operand, ...]:
    """The plain literals from the current token on, if there are several; the token after their last comma is next."""
    whole = _INTEGERS.match(cursor.text, cursor.start)
    found = whole or _FLOATS.match(cursor.text, cursor.start)
    if found is None:
        return ()
    parts = found[0].split(",")[:-1]
    sizes = list(map(len, parts))
    before = map(sub, sizes, map(len, map(str.lstrip, parts)))
    starts = map(add, accumulate(map((1).__add__, sizes), initial=cursor.start), before)
    digits = list(map(str.strip, parts))
    held: zip[tuple[object, ...]]
    if whole is not None:
        radix = [16 if "x" in one or "X" in one else 10 for one in digits] if "x" in found[0].lower() else repeat(10)
        held = zip(map(_VALUES.__getitem__, digits), radix, repeat(False), starts, map(len, digits), strict=False)
    else:
        bits = map(int, [one[2:] for one in digits], repeat(16))
        held = zip(bits, repeat(32), repeat(False), starts, map(len, digits), strict=False)
    cursor.seek(found.end())
    return tuple(map(maker(Integer if whole is not None else Float), held))


def _address(cursor: Cursor, depth: int) -> Operand:
    start = cursor.start
    inner = _deeper(cursor, depth)
    cursor.advance()
    base = expression(cursor, inner)
    extra: list[Operand] = []
    while cursor.accept(","):
        extra.append(expression(cursor, inner))
    cursor.expect("]", "to close the address")
    whole = base
    base, offset, minus = _split(whole)
    zero = not offset and not minus and base is not whole and not isinstance(base, Integer)
    return Address(base, offset, minus, tuple(extra), zero, start=start, end=cursor.behind)


def _split(whole: Operand) -> tuple[Operand, int, bool]:
    """An address expression as base, offset, and whether the offset is subtracted; others are their own base."""
    offset = 0
    base = whole
    while isinstance(base, Binary) and base.operator in {"+", "-"} and (value := constant(base.right)) is not None:
        if base.operator == "-" and isinstance(base.left, Name | Component) and base is whole:
            return base.left, value, True
        offset += value if base.operator == "+" else -value
        base = base.left
    if isinstance(base, Name | Component) or (isinstance(base, Integer) and base is whole):
        return base, offset, False
    known = constant(whole)
    return (whole if known is None else Integer(known, start=whole.start, end=whole.end)), 0, False
