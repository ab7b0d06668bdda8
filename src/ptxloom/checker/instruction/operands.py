"""Rules about an instruction's operands: their number, and each against the ISA data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ptxloom.binding.touches import touches
from ptxloom.checker.core.classify import see
from ptxloom.checker.core.expected_operand import wanted
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.core.suggestions import near_label
from ptxloom.checker.findings.grouping import merged
from ptxloom.checker.instruction.addresses import address
from ptxloom.checker.instruction.fragments import fragment, register
from ptxloom.checker.instruction.row_address import row_address
from ptxloom.checker.instruction.texture_operands import OPAQUE, opaque, place
from ptxloom.checker.instruction.values import scalar
from ptxloom.checker.instruction.vectors import in_braces, packs, packs_whole, vector
from ptxloom.diagnostics import Fix
from ptxloom.isa.matrix import MOVES
from ptxloom.source import Span
from ptxloom.syntax.tree import Address, Name, Pair, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ptxloom.checker.core.context import Site
    from ptxloom.checker.core.expected_operand import ExpectedOperand
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot
    from ptxloom.isa.spec import OperandRule
    from ptxloom.syntax.tree import Operand

_PAIR = 2  # operands

BY_KIND: Mapping[str, Callable[[Site, OperandRule, Operand], Iterator[Diagnostic]]] = {
    "fragment": fragment,
    "register": register,
    "address": row_address,
}
"""The rules about an operand of a matrix move, by its kind in the ISA data."""


def operand_count(site: Site) -> Iterator[Diagnostic]:
    """There are as many operands as the syntax line has."""
    form = site.bound.form
    if form is None:
        return
    counts, found = form.counts, len(site.instruction.operands)
    if found not in counts:
        written = ", ".join(map(_spelled, form.operands(counts[-1])))
        yield site.error(
            "operand-count",
            f"`{site.name}` takes {_how_many(counts)}, not {found}",
            site.span(site.instruction.operands[-1]) if found else site.bound.qualifier_span(-1),
            help=f"its operands are `{written}`" if written else "",
        )
        return
    for name in _left_out(site):
        message = f"`{site.name}` needs `{name}` here"
        if wanted_of(site, name).has("spare"):
            yield site.warning("operand-count", f"{message}; ptxas lets it pass", site.bound.qualifier_span(-1))
        else:
            yield site.error("operand-count", message, site.bound.qualifier_span(-1))


def _spelled(slot: OperandSlot) -> str:
    """An operand as the manual spells it."""
    partner = f"|{slot.partner}" if slot.partner else ""
    return f"[{', '.join((slot.name, *slot.extra))}]" if slot.bracketed else f"{slot.name}{partner}"


def _how_many(counts: range) -> str:
    """A number of operands, in words."""
    *fewer, most = counts
    number = f"{', '.join(map(str, fewer))} or {most}" if fewer else str(most or "no")
    return f"{number} operand{'s' * (most != 1)}"


def _left_out(site: Site) -> Iterator[str]:
    """The missing operands that the manual requires: ptxas accepts some of these forms without them."""
    form = site.bound.form
    if form is None:
        return
    here = form.operands(len(site.instruction.operands))
    rules = site.spec.operands
    yield from (
        slot.name
        for slot in form.line.operands
        if slot.optional and slot not in here and any(trait == "spare" for trait, _ in rules[slot.name].traits)
    )


def each_operand(site: Site) -> Iterator[Diagnostic]:
    """Check every operand against the ISA data; each mistake is reported once."""
    form = site.bound.form
    if form is None:
        return
    findings = tuple(_every(site, form))
    if len(findings) > 1 and (swapped := _swapped(site, form)):
        yield swapped
    else:
        yield from merged(findings)


def _swapped(site: Site, form: Form) -> Diagnostic | None:
    """The finding that two operands are the wrong way round, if that is all that is wrong."""
    operands = site.instruction.operands
    slots = form.operands(len(operands))
    if len(operands) != _PAIR or site.opcode in MOVES:
        return None
    if any(_slot(site, slots[0], operands[1])) or any(_slot(site, slots[1], operands[0])):
        return None
    first, second = site.span(operands[0]), site.span(operands[1])
    both = Span(first.source, first.start, second.end)
    between = Span(first.source, first.end, second.start).text
    fix = Fix("swap them", both, f"{second.text}{between}{first.text}")
    message = f"the operands of `{site.name}` are the wrong way round"
    return site.error("operand-kind", message, both, fix=fix)


def _every(site: Site, form: Form) -> Iterator[Diagnostic]:
    """The findings about each operand by itself."""
    if site.opcode in MOVES:
        for name, operand in site.bound.operands.items():
            rule = site.spec.operands[name]
            if rule.kind in BY_KIND:
                yield from BY_KIND[rule.kind](site, rule, operand)
        return
    operands = site.instruction.operands
    slots = form.operands(len(operands))
    for slot, operand in zip(slots, operands, strict=False):
        yield from _slot(site, slot, operand)


def _slot(site: Site, slot: OperandSlot, operand: Operand) -> Iterator[Diagnostic]:
    """An operand, and what it brings along: a second destination, or more in its brackets."""
    want = wanted_of(site, slot.name)
    if isinstance(operand, Pair):
        if not slot.partner:
            yield _no_pair(site, operand)
            return
        yield from _one(site, want, operand.first)
        yield from _one(site, wanted_of(site, slot.partner), operand.second)
        return
    if slot.partner and not slot.alone:
        message = f"`{site.name}` sets two registers here: `{slot.name}|{slot.partner}`"
        yield site.error("operand-kind", message, site.span(operand), label=want.about)
        return
    if slot.bracketed and want.kind != "address" and not isinstance(operand, Address):
        text = site.span(operand).text
        fix = Fix("add the brackets", site.span(operand), f"[{text}]", is_safe=True)
        yield site.error("address-form", f"`{site.name}` takes brackets around `{text}`", site.span(operand), fix=fix)
        return
    yield from _one(site, want, _first(want, operand) if slot.bracketed else operand)
    if (slot.extra or want.kind == "address") and isinstance(operand, Address):
        yield from _inside(site, slot, operand)


def _first(want: ExpectedOperand, operand: Operand) -> Operand:
    """The first operand in brackets, if it is a value and not an address."""
    if isinstance(operand, Address) and want.kind == "value" and not (operand.offset or operand.minus):
        return operand.base
    return operand


def wanted_of(site: Site, name: str) -> ExpectedOperand:
    """The operand that the instruction requires under the manual's name."""
    form = site.bound.form
    if form is None:
        raise ValueError(name)
    return wanted(form, site.spec.operands[name])


def _one(site: Site, want: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    rule = _RULES.get(want.kind)
    if rule is not None:
        yield from rule(site, want, operand)


def _single(site: Site, want: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """One value, or the parts of one in braces."""
    if isinstance(operand, Vector) and want.has("pack"):
        yield from packs(site, want, operand)
    elif isinstance(operand, Vector) and want.has("brace") and len(operand.elements) == 1:
        yield in_braces(site, operand)
        yield from scalar(site, want, operand.elements[0])
    elif isinstance(operand, Vector) and want.has("braces"):
        yield from vector(site, want, operand)
    elif see(operand, site.scope).what is What.WIDE_REGISTER:
        yield from _several(site, want, operand)
    else:
        yield from scalar(site, want, operand)


def _several(site: Site, want: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """A register with several elements."""
    if want.has("pack"):
        yield from packs_whole(site, want, operand)
    elif want.has("braces"):
        yield from vector(site, want, operand)
    else:
        yield from scalar(site, want, operand)


def _sink(site: Site, want: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """`_` alone."""
    if not (isinstance(operand, Name) and operand.text == "_"):
        message = f"`{site.name}` returns nothing here: write `_`"
        fix = Fix("write `_`", site.span(operand), "_")
        yield site.error("sink", message, site.span(operand), label=want.about, fix=fix)


def _factor(site: Site, want: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """A factor of wgmma: a fragment in registers, or the descriptor of a matrix in shared memory."""
    if isinstance(operand, Vector):
        yield from vector(site, want, operand)
    else:
        yield from scalar(site, replace(want, kind="value", type="b64", fixed=True, length=0), operand)


def _symbol(site: Site, want: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """A label, or a list of labels; a texture, a surface or a sampler."""
    if want.type in OPAQUE:
        yield from opaque(site, want, operand)
        return
    if want.type not in {"label", "targets"}:
        return
    it = see(operand, site.scope)
    if it.what is What.UNKNOWN and isinstance(operand, Name):
        span = site.span(operand)
        label, fix = near_label(operand.text, span, site.scope.labels())
        message = f"`{operand.text}` names no label of this function"
        yield site.error("undeclared-name", message, span, label=label, fix=fix)
    elif it.what is not What.LABEL:
        message = f"`{site.name}` goes to a label, and `{site.span(operand).text}` is {it.what}"
        yield site.error("operand-kind", message, site.span(operand), label=want.about)


_RULES: Mapping[str, Callable[[Site, ExpectedOperand, Operand], Iterator[Diagnostic]]] = {
    **dict.fromkeys(("register", "value", "constant"), _single),
    "vector": vector,
    "place": place,
    "factor": _factor,
    "address": address,
    "sink": _sink,
    "symbol": _symbol,
}
"""The rules about an operand of any other instruction, by its kind in the ISA data."""


def _inside(site: Site, slot: OperandSlot, operand: Address) -> Iterator[Diagnostic]:
    """Check what follows a comma inside the brackets."""
    names = slot.inside(len(operand.extra))
    if not names and (operand.extra or slot.extra):
        fewest, most = 1 + len(slot.extra) - len(slot.spare), 1 + len(slot.extra)
        counts = f"{fewest} to {most}" if fewest < most else f"{most}"
        message = f"`[{', '.join(slot.names)}]` holds {counts} operands, not {1 + len(operand.extra)}"
        yield site.error("operand-count", message, site.span(operand))
        return
    for name, inner in zip(names, operand.extra, strict=True):
        yield from _one(site, wanted_of(site, name), inner)


def _no_pair(site: Site, operand: Pair) -> Diagnostic:
    span = site.span(operand)
    fix = Fix("write the first one alone", span, site.span(operand.first).text)
    return site.error("operand-kind", f"`{site.name}` sets one register here, not two", span, fix=fix)


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
    else:
        yield from _unguarded(site)


def _unguarded(site: Site) -> Iterator[Diagnostic]:
    """What is passed by calls is read and written without a guard."""
    found = touches(site.instruction)
    if not any(touch.space == "param" and (touch.loads or touch.stores) for touch in found):
        return
    for operand in site.instruction.operands:
        it = see(operand.base, site.scope) if isinstance(operand, Address) else None
        if it is not None and it.what is What.VARIABLE and it.space == "param" and it.owner in {"", "returned"}:
            text = site.span(operand).text
            message = f"`{text}` is passed by calls: it is read and written without a guard"
            yield site.error("call-sequence", message, site.span(operand), help="branch around the whole call instead")
