"""Rules about the address of a matrix move: its form, the register or variable it starts from, space and alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import Fix, Label
from ptxloom.isa.special import special_register
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.source import Span
from ptxloom.syntax.tree import Address, Integer, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.checker.core.scope import Symbol
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.spec import OperandRule
    from ptxloom.syntax.tree import Operand

_INTEGERS = (Kind.BITS, Kind.UNSIGNED, Kind.SIGNED)
_WIDTHS = (32, 64)
_ROW_BYTES = 16
_NOT_GENERIC = ("param", "const")  # variables that have no generic address of their own here


def row_address(site: Site, rule: OperandRule, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about an operand that is an address."""
    if not isinstance(operand, Address):
        yield unbracketed(site, operand, rule.about)
        return
    if (reason := _misshapen(operand) or parenthesised(site, operand)) is not None:
        yield site.error("address-form", reason, site.span(operand), fix=minus_fix(site, operand))
        return
    name = operand.base.text if isinstance(operand.base, Name) else ""
    symbol = site.scope.find(name)
    special = special_register(name)
    if special is not None and symbol is None:
        yield from _special(site, operand, special.vector)
    elif symbol is None:
        yield site.undeclared(name, site.span(operand.base))
    elif symbol.space == "reg":
        yield from _register(site, operand, symbol)
    else:
        yield from _space(site, operand, symbol)


def unbracketed(site: Site, operand: Operand, about: str) -> Diagnostic:
    """The finding that an address, which is about something, stands without brackets."""
    span = site.span(operand)
    fix = (
        Fix(f"write `[{operand.text}]`", span, f"[{operand.text}]", is_safe=True) if isinstance(operand, Name) else None
    )
    message = f"`{site.name}` takes an address in brackets here"
    return site.error("operand-kind", message, span, label=about, fix=fix)


def _misshapen(operand: Address) -> str | None:
    """The error in the form of an address; None if it is right."""
    if operand.extra:
        return "the address of a row is one value; nothing follows it in the brackets"
    if operand.minus:
        return "PTX has no subtraction in an address; add a negative offset: `+-`"
    if isinstance(operand.base, Integer) or (isinstance(operand.base, Name) and operand.base.text == "WARP_SZ"):
        return "a row has no constant address; name a register or a variable"
    if not isinstance(operand.base, Name) or operand.base.text == "_":
        return "an address is a register or a variable, and perhaps `+` and a constant"
    return None


def parenthesised(site: Site, operand: Address) -> str | None:
    """The error of an address that starts with a parenthesis; None if it does not."""
    starts = site.span(operand).text[1:].lstrip().startswith("(")
    return "an address has no parentheses around its start" if starts else None


def minus_fix(site: Site, operand: Address) -> Fix | None:
    """The edit that turns a difference into a sum of a negative offset."""
    text = site.instruction.source.text
    at = text.find("-", operand.base.end, operand.end)
    is_there = operand.minus and at >= 0
    return Fix("write `+-`", Span(site.instruction.source, at, at + 1), "+-", is_safe=True) if is_there else None


def _special(site: Site, operand: Address, vector: int) -> Iterator[Diagnostic]:
    if vector:
        message = "an address is one register, not a vector"
        yield site.error("address-register", message, site.span(operand.base))
    else:
        message = "a special register is hardly meant as an address; ptxas lets it pass"
        yield site.warning("address-register", message, site.span(operand.base))


def _register(site: Site, operand: Address, symbol: Symbol) -> Iterator[Diagnostic]:
    span = site.span(operand.base)
    related = (Label(site.span(symbol.declarator), f"declared `.{symbol.type}` here"),)
    kind = element_type(symbol.type) if is_type(symbol.type) else None
    if symbol.vector:
        message = f"an address is one register, and `{symbol.name}` is a vector"
        yield site.error("address-register", message, span, related=related)
    elif kind is None or kind.kind not in _INTEGERS or kind.bits > max(_WIDTHS):
        message = f"an address is an integer of 32 or 64 bits, and `{symbol.name}` is `.{symbol.type}`"
        yield site.error("address-register", message, span, related=related)
    elif kind.bits not in _WIDTHS:
        message = f"an address has 32 or 64 bits, and `{symbol.name}` is `.{symbol.type}`"
        if site.bound.qualifiers.get("ss"):
            yield site.warning("address-register", f"{message}; ptxas lets it pass", span, related=related)
        else:
            yield site.error("address-register", message, span, related=related)


def _space(site: Site, operand: Address, symbol: Symbol) -> Iterator[Diagnostic]:
    """A variable's own state space against the instruction's; then whether rows can be aligned in it."""
    if symbol.space == "shared":
        yield from _alignment(site, operand, symbol)
        return
    stated = site.bound.qualifiers.get("ss")
    message = f"`{site.opcode}` reaches shared memory only, and `{symbol.name}` is `.{symbol.space}`"
    related = (Label(site.span(symbol.declarator), f"declared `.{symbol.space}` here"),)
    if stated or symbol.space in _NOT_GENERIC:
        yield site.error("state-space", message, site.span(operand.base), related=related)
    else:
        label = "ptxas lets a generic address pass"
        yield site.warning("state-space", message, site.span(operand.base), label=label, related=related)


def _alignment(site: Site, operand: Address, symbol: Symbol) -> Iterator[Diagnostic]:
    row = _ROW_BYTES if site.bound.qualifiers.get("src_fmt") != "s4" else _ROW_BYTES // 2
    if operand.offset % row == 0 and symbol.alignment % row == 0:
        return
    if operand.offset % min(row, symbol.alignment) or symbol.alignment % row == 0:
        label = f"{operand.offset} is not a multiple of {row}"
    else:
        label = f"`{symbol.name}` is aligned to {symbol.alignment} {'byte' if symbol.alignment == 1 else 'bytes'} only"
    message = f"a row starts at a multiple of {row} bytes; ptxas does not check this, but the hardware faults"
    related = (Label(site.span(symbol.declarator), "declared here"),)
    yield site.warning("row-alignment", message, site.span(operand), label=label, related=related)
