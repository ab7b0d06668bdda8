"""Classifies operands by looking up their names: the half of operand checking that needs no ISA data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, assert_never

from ptxloom.binding.constants import WHOLE, sort_of
from ptxloom.checker.core.operand_kind import (
    FUNCTION,
    HIDDEN,
    INTEGER,
    LABEL,
    NO_PART,
    ODD,
    SINK,
    UNKNOWN,
    OperandKind,
    What,
    seen,
)
from ptxloom.isa.special import special_register
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.isa.version import PtxVersion
from ptxloom.syntax.constants import constant
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
    String,
    Ternary,
    Unary,
    Vector,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.checker.core.scope import Symbol, VisibleNames
    from ptxloom.syntax.tree import Operand

_LISTS: Mapping[type, What] = {
    Vector: What.VECTOR,
    Address: What.ADDRESS,
    Pair: What.PAIR,
    Arguments: What.LIST,
}
_WHOLE: Final = (Kind.BITS, Kind.UNSIGNED, Kind.SIGNED)
_FIELDS = ("xyzw", "rgba")
_OLD = PtxVersion(5, 0)  # a version up to this is in every version that knows an architecture still supported


def see(operand: Operand, scope: VisibleNames) -> OperandKind:  # noqa: PLR0911 - one return a kind of operand
    """The kind of an operand in a scope."""
    match operand:
        case Name(text):
            return see_name(text, scope)
        case Integer():
            return INTEGER
        case Float(_, width):
            return seen(What.FLOAT, f"f{width}")
        case Component(base, field):
            return _component(base.text, field, scope)
        case Vector() | Address() | Pair() | Arguments():
            return seen(_LISTS[type(operand)])
        case Unary() | Binary() | Ternary() | Cast():
            return _expression(operand, scope)
        case Indexed(base, index):
            return _indexed(base, index, scope)
        case Apply() | String():
            return ODD
        case _:
            assert_never(operand)


def see_name(text: str, scope: VisibleNames) -> OperandKind:
    """The kind of a name in a scope."""
    return scope.known.get(text) or scope.remember(text, _name(text, scope))


def _owner(symbol: Symbol, scope: VisibleNames) -> str:
    """The role of a parameter in the function at hand."""
    if symbol.space != "param":
        return ""
    start = symbol.declarator.start
    if start in scope.formal:
        return scope.received.get(symbol.name, "result")
    return "returned" if start in scope.returned else ""


def _name(text: str, scope: VisibleNames) -> OperandKind:  # noqa: PLR0911 - one return a kind of name
    symbol = scope.find(text)
    if symbol is not None:
        if symbol.space != "reg":
            return seen(What.VARIABLE, symbol.type, space=symbol.space, owner=_owner(symbol, scope))
        return seen(What.WIDE_REGISTER if symbol.vector else What.REGISTER, symbol.type, symbol.vector)
    if text == "_":
        return SINK
    if text == "WARP_SZ":
        return INTEGER
    if (special := special_register(text)) is not None:
        newer = (
            text if special.once or special.needs.version > _OLD else ""
        )  # so that each such one is looked at by itself
        return seen(What.SPECIAL, special.type, special.vector, newer)
    if scope.label(text) is not None:
        return LABEL
    return FUNCTION if text in scope.functions else UNKNOWN


def _component(text: str, field: str, scope: VisibleNames) -> OperandKind:
    base = see_name(text, scope)
    place = next((letters.index(field) for letters in _FIELDS if len(field) == 1 and field in letters), -1)
    match base.what:
        case What.SPECIAL if base.length and place >= 0:
            return seen(What.SPECIAL, base.type, space=base.space)
        case What.WIDE_REGISTER if 0 <= place < base.length:
            return seen(What.REGISTER, base.type)
        case What.REGISTER if field[:1] in {"b", "h"} and field[1:].isdigit():
            return seen(What.PART, base.type, space=field)
        case What.UNKNOWN:
            return UNKNOWN
        case _:
            return NO_PART if special_register(text) is None else HIDDEN


def _expression(operand: Operand, scope: VisibleNames) -> OperandKind:
    """A constant expression is an integer; a name and a number are a place in a variable; a register may be negated."""
    match operand:
        case Unary(operator, inner) if not sort_of(inner):
            base = see(inner, scope)
            return seen(What.NEGATED, base.type, space=operator) if base.what is What.REGISTER else _unknown(base)
        case Binary("+" | "-", Name(text), right) if text != "WARP_SZ" and constant(right) is not None:
            base = see_name(text, scope)
            sums = base.what in {What.VARIABLE, What.FUNCTION}
            return seen(What.SUM, space=base.space) if sums else _unknown(base)
        case _:
            sort = sort_of(operand)
            return INTEGER if sort == WHOLE else seen(What.FLOAT, sort) if sort[:1] == "f" else ODD


def _unknown(base: OperandKind) -> OperandKind:
    return base if base is UNKNOWN else ODD


def _indexed(base: Operand, index: Operand, scope: VisibleNames) -> OperandKind:
    """An element of an array, for its address: by a number, a register, or a register and a number (PTX ISA 6.4.2)."""
    if not isinstance(base, Name):
        return ODD
    symbol = scope.find(base.text)
    if symbol is None:
        return _unknown(see_name(base.text, scope))
    array = symbol.space != "reg" and symbol.declarator.dimensions
    if not (array and _counts(index, scope)):
        return ODD
    return seen(What.ELEMENT, symbol.type, space=symbol.space, owner=_owner(symbol, scope))


def _counts(index: Operand, scope: VisibleNames) -> bool:
    """Whether an operand may stand between the brackets behind an array's name."""
    while isinstance(index, Binary) and index.operator == "+" and sort_of(index.right) == WHOLE:
        index = index.left
    it = see(index, scope)
    whole = it.what is What.REGISTER and is_type(it.type) and element_type(it.type).kind in _WHOLE
    return whole or it.what is What.VARIABLE or sort_of(index) == WHOLE
