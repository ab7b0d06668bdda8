"""Rules about addresses in general (PTX ISA 6.4.1): their form, what they start from, and its state space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.instruction.row_address import minus_fix, parenthesised, unbracketed
from ptxloom.checker.instruction.values import undeclared
from ptxloom.diagnostics import Label
from ptxloom.isa.spaces import MEMORY
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.syntax.tree import Address, Indexed, Integer, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.checker.core.expected_operand import ExpectedOperand
    from ptxloom.checker.core.operand_kind import OperandKind
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.types import ElementType
    from ptxloom.syntax.tree import Operand

_INTEGERS = (Kind.BITS, Kind.UNSIGNED, Kind.SIGNED)
_NARROWEST, _WIDEST = 32, 64
_LONG = ("", "global")  # the spaces whose addresses have 64 bits


def address(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about an operand that is an address."""
    if isinstance(operand, Indexed) and wanted.has("element"):
        yield from _element(site, wanted, operand)
        return
    if not isinstance(operand, Address):
        yield unbracketed(site, operand, wanted.about)
        return
    reason = _misshapen(site, operand, wanted)
    if reason is not None:
        yield site.error("address-form", reason, site.span(operand), fix=minus_fix(site, operand))
        return
    if isinstance(operand.base, Integer):
        return
    it = see(operand.base, site.scope)
    match it.what:
        case What.UNKNOWN:
            yield undeclared(site, operand.base)
        case What.REGISTER:
            yield from _register(site, wanted, operand, it)
        case What.SPECIAL if not it.length and not wanted.has("ordinary"):
            message = "a special register is hardly meant as an address; ptxas lets it pass"
            yield site.warning("address-register", message, site.span(operand.base))
        case What.VARIABLE:
            findings = tuple(_space(site, wanted, operand, it))
            yield from findings
            if not findings and wanted.has("register"):
                message = f"`{site.name}` takes an address in a register here, not the name of a variable"
                yield site.error("address-register", message, site.span(operand.base), label=wanted.about)
        case _:
            message = f"an address is a register or a variable, and `{site.span(operand.base).text}` is {it.what}"
            yield site.error("address-register", message, site.span(operand.base), label=wanted.about)


def _element(site: Site, wanted: ExpectedOperand, operand: Indexed) -> Iterator[Diagnostic]:
    """An element of an array, which stands for its address."""
    it = see(operand, site.scope)
    if it.what is What.UNKNOWN:
        yield undeclared(site, operand)
    elif it.what is What.ELEMENT:
        yield from _space(site, wanted, operand, it)
    else:
        message = "an element is named by an array and, in brackets, an integer, a register, or both with `+` between"
        yield site.error("address-form", message, site.span(operand), label=wanted.about)


def _misshapen(site: Site, operand: Address, wanted: ExpectedOperand) -> str | None:
    """The error in the form of an address; None if it is right."""
    if operand.minus:
        return "PTX has no subtraction in an address; add a negative offset: `+-`"
    base = operand.base
    if isinstance(base, Integer) or (isinstance(base, Name) and base.text == "WARP_SZ"):
        allowed = wanted.type == "local" or wanted.has("absolute")
        return None if allowed else "only local memory has constant addresses; name a register or a variable"
    if not isinstance(base, Name) or base.text == "_":
        return "an address is a register or a variable, and perhaps `+` and a constant"
    if operand.extra and (operand.offset or operand.zero):
        return "an address that coordinates follow takes no offset"
    return parenthesised(site, operand)


def _register(site: Site, wanted: ExpectedOperand, operand: Address, it: OperandKind) -> Iterator[Diagnostic]:
    span = site.span(operand.base)
    text = span.text
    symbol = site.scope.find(text)
    related = (Label(site.span(symbol.declarator), f"declared `.{symbol.type}` here"),) if symbol else ()
    kind = element_type(it.type) if is_type(it.type) else None
    if wanted.has("anything") or (wanted.has("twin") and it.type == "f16x2"):
        if kind is None or kind.kind not in _INTEGERS or kind.bits != _WIDEST:
            bits = _NARROWEST if wanted.has("twin") else _WIDEST
            message = f"an address is an integer of {bits} bits, and `{text}` is `.{it.type}`; ptxas lets it pass"
            yield site.warning("address-register", message, span, related=related)
    elif kind is None or kind.kind not in _INTEGERS or kind.count > 1 or kind.bits > _WIDEST:
        message = f"an address is an integer of 32 or 64 bits, and `{text}` is `.{it.type}`"
        yield site.error("address-register", message, span, related=related)
    else:
        yield from _width(site, wanted, operand, kind)


def _width(site: Site, wanted: ExpectedOperand, operand: Address, kind: ElementType) -> Iterator[Diagnostic]:
    """The bits of an integer that is an address."""
    span = site.span(operand.base)
    text = span.text
    symbol = site.scope.find(text)
    related = (Label(site.span(symbol.declarator), f"declared `.{symbol.type}` here"),) if symbol else ()
    if wanted.type == "tensor" and kind.bits != _NARROWEST:
        message = f"an address in tensor memory has 32 bits, and `{text}` is `.{kind.name}`"
        yield site.error("address-register", message, span, label=wanted.about, related=related)
    elif kind.kind is not Kind.BITS and wanted.has("bits32"):
        message = f"`{site.name}` takes an address in a `.b32` register here, and `{text}` is `.{kind.name}`"
        yield site.error("address-register", message, span, label=wanted.about, related=related)
    elif kind.bits < _NARROWEST and wanted.has("word"):
        message = f"an address has 32 or 64 bits, and `{text}` is `.{kind.name}`"
        yield site.error("address-register", message, span, related=related)
    elif kind.bits < _NARROWEST:
        message = f"an address has 32 or 64 bits, and `{text}` is `.{kind.name}`; ptxas lets it pass"
        yield site.warning("address-register", message, span, related=related)
    elif kind.bits < _WIDEST and wanted.type in _LONG:
        message = f"{'global' if wanted.type else 'generic'} addresses have 64 bits, and `{text}` is `.{kind.name}`"
        if wanted.has("narrow"):
            yield site.warning("address-size", f"{message}; ptxas lets it pass here", span, related=related)
        else:
            yield site.error("address-size", message, span, label="ptxas assembles no 32-bit programs", related=related)


def _space(site: Site, wanted: ExpectedOperand, operand: Address | Indexed, it: OperandKind) -> Iterator[Diagnostic]:
    """A variable's own state space against the instruction's."""
    stated = wanted.type.partition("::")[0] or wanted.space
    if it.space == stated == "param":
        yield from _parameter(site, wanted, operand, it.owner)
        return
    if it.space == stated or (not stated and it.space in MEMORY and MEMORY[it.space].is_generic):
        return
    span = site.span(operand.base)
    symbol = site.scope.find(span.text)
    related = (Label(site.span(symbol.declarator), f"declared `.{it.space}` here"),) if symbol else ()
    if stated:
        message = f"`{site.name}` reaches `.{stated}` here, and `{span.text}` is `.{it.space}`"
        yield site.error("state-space", message, span, label=wanted.about, related=related)
    else:
        message = f"a generic address reaches no `.{it.space}` variable such as `{span.text}`"
        yield site.error("state-space", message, span, label="name the state space", related=related)


_OWNERS = {"param::entry": "entry", "param::func": "func"}


def _parameter(site: Site, wanted: ExpectedOperand, operand: Address | Indexed, received: str) -> Iterator[Diagnostic]:
    """Check the owner of a parameter, the kernel or a function, and that received parameters are not written."""
    span = site.span(operand.base)
    owner = received if received in {"entry", "func"} else "func"
    if wanted.has("result") and received in {"entry", "func"}:
        message = (
            f"`{span.text}` is what the {'kernel' if owner == 'entry' else 'function'} receives: it can only be read"
        )
        yield site.error("state-space", message, span, label=wanted.about)
    elif wanted.has("returned") and received == "result":
        message = f"`{span.text}` is what the function returns: it can only be written"
        yield site.error("state-space", message, span, label=wanted.about)
    elif wanted.has("returned") and not received:
        message = f"no call before here has returned `{span.text}`, so it cannot be read"
        yield site.error("call-sequence", message, span, label=wanted.about)
    elif wanted.has("received") and owner != "entry":
        message = f"`{site.name}` takes a parameter of the kernel here, and `{span.text}` is one of a call"
        yield site.error("state-space", message, span, label=wanted.about)
    elif owner != _OWNERS.get(wanted.type, owner):
        message = f"`{span.text}` is a parameter of a {'kernel' if owner == 'entry' else 'function'}"
        yield site.error("state-space", message, span, label=f"`.{wanted.type}` is a different space")
