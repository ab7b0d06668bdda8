"""Rules about textures and surfaces (PTX ISA 9.7.10, 9.7.11): which objects, and places in them: how many numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.core.type_compatibility import register_fits
from ptxloom.checker.instruction.values import scalar, undeclared
from ptxloom.checker.instruction.vectors import neighbours, vector, vector_length
from ptxloom.diagnostics import Fix
from ptxloom.isa.types import element_type, is_type
from ptxloom.syntax.tree import Address, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.checker.core.context import Site
    from ptxloom.checker.core.expected_operand import ExpectedOperand
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Operand

_PADDED = 4  # numbers that may be given for any geometry; those that it does not need are ignored
_PLANE = 2  # dimensions
_WORD = 32  # bits


OPAQUE: Final[Mapping[str, str]] = {"texture": "texref", "surface": "surfref", "sampler": "samplerref"}
"""The operands that are not numbers, with the types of their variables."""


def opaque(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about a texture, a surface or a sampler: a variable of that type, or a register with its handle."""
    base = operand.base if isinstance(operand, Address) else operand
    it = see(base, site.scope)
    types = {OPAQUE[wanted.type]}
    beside = wanted.type == "sampler" and site.opcode != "txq" and not site.platform.independent
    if beside or wanted.has("texture"):
        types.add(OPAQUE["texture"])
    text = site.span(base).text
    if it.what is What.UNKNOWN:
        yield undeclared(site, base)
    elif it.what is What.REGISTER and is_type(it.type):
        if not register_fits(it.type, "u64", fixed=True):
            message = f"the handle of a {wanted.type} has 64 bits, and `{text}` is `.{it.type}`"
            yield site.error("operand-type", message, site.span(base), label=wanted.about)
    elif it.what is not What.VARIABLE or it.type not in types:
        found = f"a `.{it.type}` variable" if it.what is What.VARIABLE else str(it.what)
        message = f"`{site.name}` takes a {wanted.type} here, and `{text}` is {found}"
        yield site.error("operand-kind", message, site.span(base), label=wanted.about)
    if isinstance(operand, Address) and (operand.offset or operand.minus or operand.zero):
        message = f"a {wanted.type} is named as it is, with no offset"
        yield site.error("address-form", message, site.span(operand), label=wanted.about)


def place(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about coordinates: a vector as long as the geometry requires, or one value for one dimension."""
    it = see(operand, site.scope)
    if isinstance(operand, Vector):
        given = len(operand.elements)
    elif it.what is What.WIDE_REGISTER:
        given = it.length
    else:
        yield from _single(site, wanted, operand)
        return
    fitting = {wanted.length} if wanted.has("braced") else {wanted.length, max(2, wanted.length), _PADDED}
    if given not in fitting:
        yield vector_length(site, wanted, operand, given)
    elif isinstance(operand, Vector) and _is_indexed(site, wanted):
        yield from _indexed(site, wanted, operand)
        if site.opcode.startswith("su"):
            yield from neighbours(site, wanted, operand)
    else:
        yield from vector(site, wanted.of_length(given), operand)


def _single(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """One value, which stands for a vector of one."""
    if wanted.has("braced"):
        message = f"`{site.name}` takes braces here, even around one value"
        fix = Fix("add the braces", site.span(operand), "{" + site.span(operand).text + "}", is_safe=True)
        yield site.error("missing-braces", message, site.span(operand), label=wanted.about, fix=fix)
        return
    if wanted.length == 1:
        yield from scalar(site, wanted.of_length(0), operand)
        return
    message = f"coordinates of this geometry have {wanted.length} numbers in braces"
    if _counts_more(site) if wanted.indexed else wanted.length > _PLANE:
        yield site.error("vector-length", message, site.span(operand), label=wanted.about)
    else:
        yield site.warning("vector-length", f"{message}; ptxas lets it pass", site.span(operand), label=wanted.about)
        yield from scalar(site, wanted.of_length(0), operand)


def _counts_more(site: Site) -> bool:
    """Whether a place in a texture has the index in an array, or the number of a sample."""
    geometry = site.bound.qualifiers.get("geom")
    return site.opcode.startswith("t") and (geometry.startswith("a") or geometry.endswith("ms"))


def _is_indexed(site: Site, wanted: ExpectedOperand) -> bool:
    """Whether the first number is the index in an array."""
    return wanted.indexed and site.bound.qualifiers.get("geom").startswith("a")


def _indexed(site: Site, wanted: ExpectedOperand, operand: Vector) -> Iterator[Diagnostic]:
    """The index in an array, an integer, and coordinates of any type, all of 32 bits."""
    for place, node in enumerate(operand.elements):
        it = see(node, site.scope)
        is_single = it.what is What.REGISTER or (it.what is What.SPECIAL and not it.length)
        if not is_single or (it.what is What.REGISTER and not place):
            yield from scalar(site, wanted.of_length(0) if place else wanted.typed("u32"), node)
        elif it.type == "pred":
            message = f"`{site.span(node).text}` is a predicate among coordinates; ptxas lets it pass"
            yield site.warning("operand-type", message, site.span(node))
        elif is_type(it.type) and element_type(it.type).storage_bits != _WORD:
            message = f"a coordinate has 32 bits, and `{site.span(node).text}` is `.{it.type}`"
            yield site.error("operand-type", message, site.span(node), label=wanted.about)
