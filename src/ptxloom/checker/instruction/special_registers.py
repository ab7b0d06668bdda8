"""The rule about availability of special registers (PTX ISA 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.lacking import lacking
from ptxloom.isa.special import special_register
from ptxloom.syntax.tree import Component, Name, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Operand


def special_registers_exist(site: Site) -> Iterator[Diagnostic]:
    """The special registers that an instruction reads exist in the module's version and for its target."""
    for operand in site.instruction.operands:
        for name in _names(operand):
            register = special_register(name.text) if name.text[:1] == "%" else None
            if register is not None and site.scope.find(name.text) is None:
                yield from lacking(name.text, register.needs, site.platform, site.span(name), register.section)


def _names(operand: Operand) -> tuple[Name, ...]:
    """The names in an operand that may be special registers."""
    match operand:
        case Name():
            return (operand,)
        case Component(base, _):
            return (base,)
        case Vector(elements):
            return tuple(name for element in elements for name in _names(element))
        case _:
            return ()
