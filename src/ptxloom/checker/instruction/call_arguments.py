"""Rules about one value that a call passes or receives, and its parameter (PTX ISA 7.1)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.binding.sizes import type_bytes
from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.instruction.values import undeclared
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Label
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.syntax.tree import Component, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Declaration, Operand

_WORD: Final = 32  # bits
_INTEGERS: Final = (Kind.UNSIGNED, Kind.SIGNED)
_NARROW: Final = frozenset(("u8", "s8", "u16", "s16", "pred"))
"""The types of single parameters for which ptxas has no calling convention."""


@dataclass(frozen=True, slots=True)
class Passed:
    """The known properties of a value or a parameter.

    Attributes:
        type: Its element type.
        count: How many elements an array has, 0 if it leaves that open; -1 for a single value.
        alignment: Its address is a multiple of this number of bytes.
    """

    type: str
    count: int
    alignment: int

    @property
    def bytes(self) -> int:
        """Its size."""
        return type_bytes(self.type) * abs(self.count)

    def __str__(self) -> str:
        return f"`.{self.type}`" if self.count < 0 else f"an array of {self.bytes} bytes"


def parameter_of(declaration: Declaration) -> Passed:
    """A function's declaration of a parameter."""
    sizes = next((each.dimensions for each in declaration.declarators), ())
    return _passed(declaration.type, sizes, declaration.alignment)


def _passed(type_: str, sizes: tuple[int | None, ...], alignment: int) -> Passed:
    count = prod(each or 0 for each in sizes) if sizes else -1
    return Passed(type_, count, max(alignment, type_bytes(type_), 1))


def _bits(type_: str) -> int:
    return element_type(type_).storage_bits if is_type(type_) else 0


def passes(site: Site, given: Operand, parameter: Declaration, *, returned: bool) -> Iterator[Diagnostic]:
    """The findings about one value and its parameter."""
    it, span, formal = see(given, site.scope), site.span(given), parameter_of(parameter)
    match it.what:
        case What.UNKNOWN:
            yield undeclared(site, given)
        case What.REGISTER if not isinstance(given, Component):
            yield from _agrees(site, given, _passed(it.type, (), 0), parameter)
        case What.VARIABLE if it.space == "param" and isinstance(given, Name):
            yield from _variable(site, given, parameter)
        case What.INTEGER | What.FLOAT:
            if not _takes(formal, it.type):
                message = f"the parameter is {formal}, and `{span.text}` is {it.what}"
                yield site.error("call-signature", message, span, related=(Label(parameter.span, "the parameter"),))
        case What.SINK if returned:
            return
        case What.VARIABLE:
            message = f"a call passes registers and `.param` variables, and `{span.text}` is `.{it.space}`"
            yield site.error("call-signature", message, span)
        case _:
            message = f"a call passes registers, `.param` variables and constants, and `{span.text}` is {it.what}"
            yield site.error("call-signature", message, span)


def _variable(site: Site, given: Name, parameter: Declaration) -> Iterator[Diagnostic]:
    symbol = site.scope.find(given.text)
    if symbol is None:
        return
    if symbol.declarator.start in site.scope.formal:
        message = f"`{given.text}` is a parameter of the caller, and a call cannot use it as it is"
        label = "copy it to a register or to a `.param` variable of the body"
        yield site.error("call-signature", message, site.span(given), label=label)
        return
    yield from _agrees(site, given, _passed(symbol.type, symbol.declarator.dimensions, symbol.alignment), parameter)


def _agrees(site: Site, given: Operand, it: Passed, parameter: Declaration) -> Iterator[Diagnostic]:
    """Check that a register or a variable agrees with the parameter."""
    formal, text = parameter_of(parameter), site.span(given).text
    if not (_bits(it.type) and _bits(formal.type)):
        return
    if (it.count < 0) is not (formal.count < 0) or (formal.count > 0 and it.bytes != formal.bytes):
        message = f"the parameter is {'an array' if formal.count == 0 else formal}, and `{text}` is {it}"
    elif formal.count < 0 and not _fits(it.type, formal.type):
        message = f"the parameter is {formal}, and `{text}` is {it}"
    elif it.alignment != formal.alignment and "pred" not in {it.type, formal.type}:
        message = f"the parameter is aligned to {formal.alignment} bytes, and `{text}` to {it.alignment}"
    else:
        return
    symbol = site.scope.find(text)
    declared = (Label(site.span(symbol.declarator), "declared here"),) if symbol else ()
    related = (*declared, Label(parameter.span, "the parameter"))
    yield site.error("call-signature", message, site.span(given), related=related)


def _fits(given: str, formal: str) -> bool:
    """Whether a value of one type may be passed as another: as many bits, and as numbers of one kind."""
    if given == formal:
        return True
    if "f16x2" in {given, formal}:  # for ptxas it is 32 bits, and so is a predicate
        return {given, formal} <= {"f16x2", "pred"} or _bits(given) == _bits(formal) == _WORD
    one, other = element_type(given), element_type(formal)
    if one.storage_bits != other.storage_bits or Kind.PREDICATE in {one.kind, other.kind}:
        return False
    return Kind.BITS in {one.kind, other.kind} or (one.kind in _INTEGERS and other.kind in _INTEGERS)


def _takes(formal: Passed, constant: str) -> bool:
    """Whether a constant may be passed for a parameter; its type is empty for an integer."""
    if formal.count >= 0 or not is_type(formal.type):
        return False
    kind = element_type(formal.type)
    if kind.count > 1:
        return constant == "f32"
    return kind.kind is Kind.BITS or (kind.kind is Kind.FLOAT if constant else kind.kind in _INTEGERS)


def conventional(site: Site, signature: tuple[Declaration, ...], where: Operand) -> Iterator[Diagnostic]:
    """Check that single values of fewer than 32 bits are passed as bits: ptxas has no convention for the others."""
    for parameter in signature:
        if parameter_of(parameter).count < 0 and parameter.type in _NARROW:
            message = f"a call cannot pass `.{parameter.type}`: declare the parameter `.b8`, `.b16` or `.b32`"
            related = (Label(parameter.span, "the parameter"),)
            finding = site.error if site.scope.in_kernel else site.warning
            yield finding("call-signature", message, site.span(where), related=related)
            return
