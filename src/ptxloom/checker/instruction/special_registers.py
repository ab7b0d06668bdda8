"""The rule about availability of special registers (PTX ISA 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.isa.special import special_register
from ptxloom.syntax.tree import Component, Name, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform, Site
    from ptxloom.isa.spec import Need
    from ptxloom.source import Span
    from ptxloom.syntax.tree import Operand


def special_registers_exist(site: Site) -> Iterator[Diagnostic]:
    """The special registers that an instruction reads exist in the module's version and for its target."""
    for operand in site.instruction.operands:
        for name in _names(operand):
            register = special_register(name.text) if name.text[:1] == "%" else None
            if register is not None and site.scope.find(name.text) is None:
                yield from _lacking(name.text, register.needs, site.platform, site.span(name), register.section)


def _lacking(word: str, needs: Need, platform: Platform, place: Span, section: str) -> Iterator[Diagnostic]:
    """The finding that a module's version, or its target, does not have a word yet."""
    if platform.version is not None and platform.version < needs.version:
        where = platform.version_span
        says = "the module says" if where else "it is checked for"
        yield Diagnostic(
            "needs-version",
            Severity.ERROR,
            f"`{word}` needs PTX {needs.version} or later; {says} {platform.version}",
            place,
            f"new in PTX {needs.version}",
            section,
            fix=Fix(f"say `.version {needs.version}`", where, f".version {needs.version}") if where else None,
            related=(Label(where, "the version is stated here"),) if where else (),
        )
    if platform.target is not None and needs.targets is not None and platform.target not in needs.targets:
        where = platform.target_span
        says = "the module says" if where else "it is checked for"
        yield Diagnostic(
            "needs-target",
            Severity.ERROR,
            f"`{word}` needs {needs.targets}; {says} {platform.target}",
            place,
            f"not on {platform.target}",
            section,
            related=(Label(where, "the target is stated here"),) if where else (),
        )


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
