"""Rules about an instruction's operands: their number, and each by what the ISA data says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.addresses import address
from ptxloom.checker.fragments import fragment, register
from ptxloom.isa.matrix import MOVES
from ptxloom.syntax.tree import Name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ptxloom.checker.site import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.spec import OperandRule
    from ptxloom.syntax.tree import Operand

BY_KIND: Mapping[str, Callable[[Site, OperandRule, Operand], Iterator[Diagnostic]]] = {
    "fragment": fragment,
    "register": register,
    "address": address,
}
"""The rules about an operand, by the kind that the ISA data gives it."""


def operand_count(site: Site) -> Iterator[Diagnostic]:
    """There are as many operands as the syntax line has."""
    form = site.bound.form
    if form is None:
        return
    counts, found = form.counts, len(site.instruction.operands)
    if found not in counts:
        written = ", ".join(f"[{slot.name}]" if slot.bracketed else slot.name for slot in form.line.operands)
        expected = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        yield site.error(
            "operand-count",
            f"`{site.opcode}` takes {expected} operands, not {found}",
            site.span(site.instruction.operands[-1]) if found else site.bound.qualifier_span(-1),
            help=f"its operands are `{written}`",
        )


def each_operand(site: Site) -> Iterator[Diagnostic]:
    """Every operand of a matrix move is what the ISA data says of it."""
    if site.opcode not in MOVES:
        return
    for name, operand in site.bound.operands.items():
        rule = site.spec.operands[name]
        if rule.kind in BY_KIND:
            yield from BY_KIND[rule.kind](site, rule, operand)


def guard(site: Site) -> Iterator[Diagnostic]:
    """The guard is a declared predicate register."""
    predicate = site.instruction.predicate
    if predicate is None:
        return
    symbol = site.scope.find(predicate.name)
    span = site.span(predicate)
    if symbol is None:
        yield site.undeclared(
            predicate.name, site.span(Name(predicate.name, start=predicate.end - len(predicate.name)))
        )
    elif (symbol.space, symbol.type, symbol.vector) != ("reg", "pred", 0):
        yield site.error("guard-type", f"a guard is a `.pred` register, and `{symbol.name}` is `.{symbol.type}`", span)
