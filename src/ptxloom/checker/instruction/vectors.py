"""Rules about vector expressions (PTX ISA 6.4.3): how many elements, of which types, and what they add up to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.core.type_compatibility import register_fits
from ptxloom.checker.instruction.values import scalar, undeclared
from ptxloom.diagnostics import Severity
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.source import Span
from ptxloom.syntax.tree import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.checker.core.expected_operand import ExpectedOperand
    from ptxloom.checker.core.operand_kind import OperandKind
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.types import ElementType
    from ptxloom.syntax.tree import Operand

_INTEGERS = (Kind.UNSIGNED, Kind.SIGNED)
_CONSTANT = (What.INTEGER, What.FLOAT)
_LONG = 50  # characters of what an operand means, beyond which a label leaves it out
_MOST_ELEMENTS = 256  # a longer vector is wrong as a whole


def vector(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about an operand that is a vector, or one value where the form has no `.v2`, `.v4` or `.v8`."""
    it = see(operand, site.scope)
    if isinstance(operand, Vector):
        yield from _braces(site, wanted, operand)
    elif it.what is What.WIDE_REGISTER:
        yield from _wide(site, wanted, operand, it)
    elif it.what is What.SINK and wanted.has("sink"):
        return
    elif not wanted.length:
        yield from scalar(site, wanted, operand)
    elif it.what in _stand_ins(wanted):
        message = f"`{site.name}` takes {wanted.phrase} here; ptxas lets one value pass"
        yield site.warning("operand-kind", message, site.span(operand))
        yield from scalar(site, wanted, operand)
    elif it.what is What.UNKNOWN:
        yield undeclared(site, operand)
    else:
        text = site.span(operand).text
        message = f"`{site.name}` takes {wanted.phrase} here, and `{text}` is {it.what}"
        yield site.error("operand-kind", message, site.span(operand), label=wanted.about)


def _braces(site: Site, wanted: ExpectedOperand, operand: Vector) -> Iterator[Diagnostic]:
    """A vector in braces, or one value in them."""
    if not (wanted.length or wanted.has("pack") or wanted.has("braces") or wanted.has("brace")):
        yield from scalar(site, wanted, operand)
    elif len(operand.elements) not in _lengths(wanted):
        yield vector_length(site, wanted, operand, len(operand.elements))
    elif len(operand.elements) <= _MOST_ELEMENTS:
        if not wanted.length and not wanted.has("pack") and (wanted.kind == "value" or len(operand.elements) > 1):
            yield in_braces(site, operand)
        yield from _elements(site, wanted, operand.elements)


def in_braces(site: Site, operand: Operand) -> Diagnostic:
    """The warning about braces around a single value."""
    message = f"`{site.name}` takes one value here; ptxas lets the braces pass"
    return site.warning("operand-kind", message, site.span(operand))


def _lengths(wanted: ExpectedOperand) -> tuple[int, ...]:
    """The numbers of elements that ptxas accepts: if one value may be in braces, any legal length."""
    return (1, 2, 4) if wanted.has("braces") and not wanted.length else (max(1, wanted.length),)


def _stand_ins(wanted: ExpectedOperand) -> frozenset[What]:
    """The kinds of operands that ptxas accepts for a vector."""
    if wanted.has("single"):
        return frozenset((What.REGISTER, What.INTEGER, What.FLOAT))
    return frozenset((What.INTEGER, What.FLOAT, What.SUM, What.FUNCTION)) if wanted.has("lone") else frozenset()


def _wide(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    """A register declared with `.v2` or `.v4`, without braces."""
    if it.length not in _lengths(wanted):
        yield vector_length(site, wanted, operand, it.length)
    elif wanted.has("braced"):
        message = f"`{site.name}` takes the elements in braces here, not `{site.span(operand).text}` as a whole"
        yield site.error("missing-braces", message, site.span(operand), label=wanted.about)
    elif not wanted.fits(it.type) and not _same_width(it.type, wanted) and not _enough(wanted, it.type, it.length):
        text = site.span(operand).text
        message = f"`{text}` has elements of `.{it.type}`, and `{site.name}` takes `.{wanted.type}`"
        yield site.error("operand-type", message, site.span(operand))


def packs(site: Site, wanted: ExpectedOperand, operand: Vector) -> Iterator[Diagnostic]:
    """The findings about a vector that stands for one value, of which its elements are the parts (`mov`)."""
    yield from _elements(site, wanted, operand.elements, packed=True)


def packs_whole(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about a vector register that stands for one value."""
    it = see(operand, site.scope)
    yield from _adds_up(site, wanted, (operand,) * it.length, it.type)


def _same_width(register: str, wanted: ExpectedOperand) -> bool:
    """Whether a vector register has the right width: ptxas checks nothing else."""
    return is_type(register) and register_fits(f"b{element_type(register).storage_bits}", wanted.type, wanted.wider)


def _enough(wanted: ExpectedOperand, part: str, count: int) -> bool:
    """Whether several elements together are as wide as the one value that they stand for, or wider."""
    if wanted.length or not wanted.wider or not (is_type(part) and is_type(wanted.type)):
        return False
    whole, one = element_type(wanted.type), element_type(part)
    return whole.kind is Kind.BITS and one.kind is not Kind.PREDICATE and one.storage_bits * count >= whole.storage_bits


def vector_length(site: Site, wanted: ExpectedOperand, operand: Operand, found: int) -> Diagnostic:
    """The finding that a vector has too few or too many elements."""
    expected = max(1, wanted.length)
    message = f"`{site.name}` takes a vector of {expected} here, not of {found}"
    label = f"{found} {'element' if found == 1 else 'elements'} here"
    label += f": {wanted.about}" if 0 < len(wanted.about) < _LONG else ""
    return site.error("vector-length", message, site.span(operand), label=label)


def _elements(
    site: Site, wanted: ExpectedOperand, nodes: tuple[Operand, ...], *, packed: bool = False
) -> Iterator[Diagnostic]:
    found = [(node, see(node, site.scope)) for node in nodes]
    sound = True
    for node, it in found:
        for finding in _element(site, wanted, node, it):
            sound = sound and finding.severity is not Severity.ERROR
            yield finding
    if not sound:
        return
    typed = [(node, it) for node, it in found if it.what is not What.SINK]
    if not typed:
        yield site.error("sink", f"`{site.name}` cannot drop all of its results", site.span(nodes[0]))
        return
    if misplaced := _leading_constant(site, wanted, *found[0]):
        yield misplaced
        return
    yield from _together(site, wanted, nodes, typed, packed=packed)


def _together(
    site: Site,
    wanted: ExpectedOperand,
    nodes: tuple[Operand, ...],
    typed: list[tuple[Operand, OperandKind]],
    *,
    packed: bool,
) -> Iterator[Diagnostic]:
    """Check the elements against each other, and all of them against what the instruction takes."""
    if all(it.what in _CONSTANT for _, it in typed) and any(it.what is What.FLOAT for _, it in typed):
        yield from _all_constant(site, wanted, typed, packed=packed)
        return
    common = ""
    for place, (_, it) in enumerate(typed):
        common = _join(common, _type_of(it, wanted, leads=not place)) or ""
    findings = tuple(_neighbours(site, wanted, typed))
    yield from findings
    if any(finding.severity is Severity.ERROR for finding in findings):
        return
    if packed:
        yield from _adds_up(site, wanted, nodes, common)
    elif common and not _enough(wanted, common, len(nodes)):
        yield from _common(site, wanted, typed, common)


def _all_constant(
    site: Site, wanted: ExpectedOperand, typed: list[tuple[Operand, OperandKind]], *, packed: bool
) -> Iterator[Diagnostic]:
    """Check constants without a register among them: a decimal one is `.f64`, one of bits has its letter's type."""
    integer = next((node for node, it in typed if it.what is What.INTEGER), None)
    common = "f64" if any(it.type == "f64" for _, it in typed) else "f32"
    need = element_type(wanted.type) if is_type(wanted.type) else None
    if integer is not None:
        message = "neighbours in a vector agree in type, and integers and floating-point constants do not"
        yield site.error("element-types", message, site.span(integer))
    elif packed:
        yield from _adds_up(site, wanted, tuple(node for node, _ in typed), common)
    elif need is not None and (wanted.has("numbers") or need.kind is not Kind.FLOAT) and not _is(common, need):
        message = f"without a register among them these constants are `.{common}`, and `{site.name}` takes"
        yield site.error("constant-type", f"{message} `.{wanted.type}`", site.span(typed[0][0]), label=wanted.about)


def _is(constant: str, need: ElementType) -> bool:
    """Whether constants of a type are legal as elements: of the same type, or of as many bits."""
    return need.name == constant or (need.kind is Kind.BITS and need.storage_bits == int(constant[1:]))


_HALVES = frozenset(("f16", "bf16", "f16x2", "bf16x2"))


def _leading_constant(site: Site, wanted: ExpectedOperand, node: Operand, it: OperandKind) -> Diagnostic | None:
    """A constant that leads a vector of halves, of which there are no constants."""
    integer = it.what is What.INTEGER and wanted.type != "f16"
    if wanted.type not in _HALVES or not (it.what is What.FLOAT or integer):
        return None
    message = f"there are no constants of `.{wanted.type}` to lead a vector"
    return site.error("constant-type", message, site.span(node), label="only a register fits")


def neighbours(site: Site, wanted: ExpectedOperand, operand: Vector) -> Iterator[Diagnostic]:
    """The findings about elements that do not go together."""
    found = [(node, see(node, site.scope)) for node in operand.elements]
    if all(it.what is not What.UNKNOWN for _, it in found):
        yield from _neighbours(site, wanted, [(node, it) for node, it in found if it.what is not What.SINK])


def _neighbours(site: Site, wanted: ExpectedOperand, typed: list[tuple[Operand, OperandKind]]) -> Iterator[Diagnostic]:
    """Whether each element goes with the one before it: ptxas looks no further."""
    before = ""
    for place, (node, it) in enumerate(typed):
        kind = _type_of(it, wanted, leads=not place)
        if _join(before, kind) is None:
            message = f"neighbours in a vector agree in type, and `.{before}` and `.{kind}` do not"
            yield site.error("element-types", message, site.span(node), label=f"`.{kind}`")
            return
        before = kind
        if kind == "pred" and wanted.has("numbers"):
            message = f"`{site.span(node).text}` is a predicate, and `{site.name}` takes numbers"
            yield site.error("operand-type", message, site.span(node))
        elif kind == "pred":
            message = f"`{site.span(node).text}` is a predicate among numbers; ptxas lets it pass"
            yield site.warning("operand-type", message, site.span(node))


def _common(
    site: Site, wanted: ExpectedOperand, typed: list[tuple[Operand, OperandKind]], common: str
) -> Iterator[Diagnostic]:
    """The type that the elements have in common against the one that the instruction takes."""
    registers = [node for node, it in typed if it.what not in _CONSTANT]
    node, *_ = registers or [node for node, _ in typed]
    if registers and wanted.lets_pass(common):
        message = f"`{site.name}` takes elements of `.{wanted.type}` here; ptxas lets `.{common}` pass"
        yield site.warning("operand-type", message, site.span(node), label=wanted.about)
    elif not wanted.fits(common):
        text = site.span(node).text
        message = f"`{text}` is `.{common}`, and `{site.name}` takes elements of `.{wanted.type}` here"
        yield site.error("operand-type", message, site.span(node), label=wanted.about)


def _element(site: Site, wanted: ExpectedOperand, node: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    """One element by itself: it can be an element at all."""
    span = site.span(node)
    match it.what:
        case What.REGISTER:
            return
        case What.UNKNOWN:
            yield undeclared(site, node)
        case What.SINK if not (wanted.written or wanted.has("holes")):
            yield site.error("sink", "`_` is not a source", span)
        case What.SINK:
            return
        case What.SPECIAL if not it.length:
            if wanted.written:
                message = f"`{site.name}` writes registers, and `{span.text}` is a special register"
                yield site.warning("not-a-register", f"{message}; ptxas lets it pass", span)
        case What.INTEGER | What.FLOAT if not wanted.written:
            return
        case _:
            expected = "a register" if wanted.written else "a register or a constant"
            message = f"an element of a vector is {expected}, and `{span.text}` is {it.what}"
            yield site.error("not-a-register", message, span)


def _type_of(it: OperandKind, wanted: ExpectedOperand, *, leads: bool) -> str:
    """The type of an element; of a constant, the one it takes on among the others."""
    if it.what is What.INTEGER:
        if is_type(wanted.type) and element_type(wanted.type).kind is not Kind.FLOAT:
            return ""
        return "s16" if leads and wanted.type == "f16" else "s32"
    if it.what is What.FLOAT:
        return wanted.type if is_type(wanted.type) and element_type(wanted.type).kind is Kind.FLOAT else ""
    if it.what is What.SPECIAL and is_type(it.type):
        return f"b{element_type(it.type).storage_bits}"
    return it.type


def _join(one: str, other: str) -> str | None:
    """The type that two neighbours have in common; None if they share no type."""
    if not one or not other or one == other:
        return one or other
    if not (is_type(one) and is_type(other)):
        return None
    if "pred" in (one, other):  # ptxas takes it as 32 bits of no type
        return "b32" if "b32" in (one, other) else None
    a, b = element_type(one), element_type(other)
    if a.storage_bits != b.storage_bits:
        return None
    if a.kind is Kind.BITS or b.kind is Kind.BITS:
        return one if a.kind is Kind.BITS else other
    return one if a.kind in _INTEGERS and b.kind in _INTEGERS else None


def _adds_up(site: Site, wanted: ExpectedOperand, nodes: tuple[Operand, ...], common: str) -> Iterator[Diagnostic]:
    if not is_type(wanted.type) or not is_type(common):
        return
    whole, part = element_type(wanted.type).storage_bits, element_type(common).storage_bits
    sum_ = part * len(nodes)
    if sum_ != whole:
        first, last = site.span(nodes[0]), site.span(nodes[-1])
        message = f"`{site.opcode}.{wanted.type}` has {whole} bits, and {len(nodes)} elements of {part} have {sum_}"
        yield site.error("vector-length", message, Span(first.source, first.start, last.end))
