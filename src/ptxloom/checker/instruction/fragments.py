"""Rules about the registers that hold a matrix fragment: braces, number, width, types, sinks."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What, seen
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Fix, Label
from ptxloom.isa.matrix import of_form
from ptxloom.isa.special import special_register
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.syntax.tree import Component, Float, Integer, Name, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.spec import OperandRule
    from ptxloom.syntax.tree import Operand

SINK = "_"
_FIELDS = ("xyzw", "rgba")
_REGISTER_BITS = 32
_MOST_ELEMENTS = 256  # a longer vector is wrong as a whole


@dataclass(frozen=True, slots=True)
class VectorElement:
    """An element of a vector expression.

    Attributes:
        node: The element.
        type: Its type's name; empty if it has no type (the sink, an undeclared name).
        constant: Whether it is a literal.
        wide: Whether it is a literal of 64 bits, as integers and most floating-point literals are.
        special: Whether it is a special register.
        problem: Why it is illegal here in every form, as a rule and a message; None if it is not.
    """

    node: Operand
    type: str = ""
    constant: bool = False
    wide: bool = False
    special: bool = False
    problem: tuple[str, str] | None = None


def fragment(site: Site, rule: OperandRule, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about an operand that holds a matrix fragment."""
    form = site.bound.form
    if form is None:
        return
    expected = of_form(form).registers
    match operand:
        case Vector(elements):
            yield from _length(site, operand, len(elements), expected)
            if len(elements) <= _MOST_ELEMENTS:
                yield from _elements(site, rule, elements)
        case Name("_"):
            yield site.error("sink", f"`_` cannot stand for the whole vector of `{site.opcode}`", site.span(operand))
        case Name() | Component():
            yield from _bare(site, operand, expected)
        case _:
            message = f"`{site.opcode}` takes a vector of registers here"
            yield site.error("operand-kind", message, site.span(operand), label=rule.about)


def register(site: Site, rule: OperandRule, operand: Operand) -> Iterator[Diagnostic]:
    """The findings about an operand that is one 32-bit register."""
    if isinstance(operand, Name) and operand.text == SINK:
        yield site.error("sink", f"`_` cannot stand for a register of `{site.opcode}`", site.span(operand))
        return
    if not rule.written and _passes(site, operand):
        message = f"`{site.opcode}` takes a register here; ptxas lets this pass"
        yield site.warning("operand-kind", message, site.span(operand), label=rule.about)
        return
    if not isinstance(operand, Name | Component) or operand == Name("WARP_SZ"):
        message = f"`{site.opcode}` takes a register here"
        yield site.error("operand-kind", message, site.span(operand), label=rule.about)
        return
    element = _element(site, operand)
    if element.special:
        message = f"`{site.opcode}` takes no special register"
        yield site.error("not-a-register", message, site.span(operand))
    else:
        yield from _fit(site, rule, element)


def _passes(site: Site, operand: Operand) -> bool:
    """Whether ptxas accepts an operand as a register of 32 bits: the bits of a single, a variable and an offset."""
    it = see(operand, site.scope)
    return it is seen(What.FLOAT, "f32") or (it.what is What.SUM and bool(it.space))


def _length(site: Site, operand: Operand, found: int, expected: int) -> Iterator[Diagnostic]:
    if found != expected:
        yield site.error(
            "vector-length",
            f"`{_subject(site)}` moves {expected} {_registers(expected)} of each thread, not {found}",
            site.span(operand),
            label=f"{found} {'element' if found == 1 else 'elements'} here",
        )


def _bare(site: Site, operand: Name | Component, expected: int) -> Iterator[Diagnostic]:
    """A vector without braces: a register declared with `.v2` or `.v4`, of the right length."""
    symbol = site.scope.find(operand.text) if isinstance(operand, Name) else None
    if symbol is not None and symbol.vector and symbol.space == "reg":
        yield from _length(site, operand, symbol.vector, expected)
        yield from _width(site, VectorElement(operand, symbol.type))
        return
    element = _element(site, operand)
    if element.problem is not None:
        yield from _unfit(site, element)
        return
    span = site.span(operand)
    braced = f"{{{span.text}}}"
    yield site.error(
        "missing-braces",
        f"`{site.opcode}` takes its registers in braces, even one",
        span,
        fix=Fix(f"write `{braced}`", span, braced, is_safe=True) if expected == 1 else None,
    )


def _elements(site: Site, rule: OperandRule, nodes: tuple[Operand, ...]) -> Iterator[Diagnostic]:
    elements = [_element(site, node) for node in nodes]
    sinks = [element for element in elements if isinstance(element.node, Name) and element.node.text == SINK]
    yield from _sinks(site, rule, sinks, len(elements))
    for element in elements:
        if element not in sinks:
            yield from _fit(site, rule, element)
    if not rule.written:
        yield from _constants(site, elements)
    yield from _neighbours(site, [element for element in elements if element.type])
    if rule.written:
        yield from _duplicates(site, elements)


def _sinks(site: Site, rule: OperandRule, sinks: list[VectorElement], length: int) -> Iterator[Diagnostic]:
    if not rule.written:
        for sink in sinks:
            message = f"`_` is not a source: `{site.opcode}` stores every register of its vector"
            yield site.error("sink", message, site.span(sink.node))
    elif sinks and len(sinks) == length:
        message = f"`{site.opcode}` cannot drop all of its registers"
        yield site.error("sink", message, site.span(sinks[0].node), label="at least one must be a register")


def _fit(site: Site, rule: OperandRule, element: VectorElement) -> Iterator[Diagnostic]:
    """One element by itself: declared, a register that may be written, 32 bits wide."""
    if element.problem is not None:
        yield from _unfit(site, element)
    elif (element.special or element.constant) and rule.written:
        what = "a special register" if element.special else "a constant"
        laxity = "; ptxas lets it pass" if element.special else ""
        message = f"`{site.opcode}` writes registers, and `{site.span(element.node).text}` is {what}{laxity}"
        yield site.error("not-a-register", message, site.span(element.node))
    elif not element.constant:
        yield from _width(site, element, rule.written)


def _unfit(site: Site, element: VectorElement) -> Iterator[Diagnostic]:
    rule, message = element.problem or ("", "")
    if rule == "undeclared-name" and isinstance(element.node, Name):
        yield site.undeclared(element.node.text, site.span(element.node))
    else:
        yield site.error(rule, message, site.span(element.node))


def _width(site: Site, element: VectorElement, written: bool = False) -> Iterator[Diagnostic]:
    if element.type == "pred" and written:
        message = f"`{site.opcode}` moves 32-bit registers, and `{site.span(element.node).text}` is a predicate"
        yield site.warning("element-width", f"{message}; ptxas lets it pass", site.span(element.node))
        return
    if is_type(element.type):
        kind = element_type(element.type)
        if kind.kind is not Kind.PREDICATE and kind.storage_bits == _REGISTER_BITS:
            return
    yield site.error(
        "element-width",
        f"`{site.opcode}` moves 32-bit registers, and `{site.span(element.node).text}` is `.{element.type}`",
        site.span(element.node),
        label="must be .b32, .u32, .s32, .f32 or .f16x2",
    )


def _constants(site: Site, elements: list[VectorElement]) -> Iterator[Diagnostic]:
    """Check constants among the sources of a store: ptxas takes them if something else gives their width."""
    constants = [element for element in elements if element.constant]
    if constants and len(constants) == len(elements) and all(element.wide for element in constants):
        message = f"`{site.opcode}` stores 32-bit registers, and constants of 64 bits stand alone here"
        yield site.error("not-a-register", message, site.span(constants[0].node))
        return
    for element in (element for element in elements if element.constant or element.special):
        what = "a constant" if element.constant else "a special register"
        message = f"`{site.opcode}` stores registers, and this is {what}; ptxas lets it pass"
        yield site.warning("not-a-register", message, site.span(element.node))


def _neighbours(site: Site, elements: list[VectorElement]) -> Iterator[Diagnostic]:
    for first, second in pairwise(elements):
        if not (first.special or second.special or _agree(first.type, second.type)):
            yield site.error(
                "element-types",
                f"neighbours in a vector agree in type, and `.{first.type}` and `.{second.type}` do not",
                site.span(second.node),
                label=f"`.{second.type}`",
                help="`.b32` fits any of them",
                related=(Label(site.span(first.node), f"`.{first.type}`"),),
            )


def _agree(first: str, second: str) -> bool:
    """Whether two element types may stand side by side: untyped bits fit all, signed fits unsigned.

    Types of another width than 32 bits are another rule's finding.
    """
    if not (is_type(first) and is_type(second)):
        return True
    if "pred" in (first, second):
        return {first, second} <= {"pred", "b32"}
    one, other = element_type(first), element_type(second)
    if (one.storage_bits, other.storage_bits) != (_REGISTER_BITS, _REGISTER_BITS):
        return True
    integers = {Kind.SIGNED, Kind.UNSIGNED}
    return first == second or Kind.BITS in (one.kind, other.kind) or {one.kind, other.kind} <= integers


def _duplicates(site: Site, elements: list[VectorElement]) -> Iterator[Diagnostic]:
    seen: dict[Operand, Operand] = {}
    for element in elements:
        node = element.node
        if not element.type or element.special or element.constant:
            continue
        if node in seen:
            message = f"`{site.span(node).text}` receives two different parts; ptxas lets it pass, and one is lost"
            related = (Label(site.span(seen[node]), "written here too"),)
            yield site.warning("duplicate-destination", message, site.span(node), related=related)
        seen.setdefault(node, node)


def _element(site: Site, node: Operand) -> VectorElement:
    match node:
        case Name("WARP_SZ") | Integer():
            return VectorElement(node, "s32", constant=True, wide=True)
        case Float(_, width):
            return VectorElement(node, "f32", constant=True, wide=width == 64)
        case Name(text):
            return _named(site, node, text)
        case Component(Name(text), field):
            return _component(site, node, text, field)
        case _:
            return VectorElement(node, problem=("not-a-register", "an element of a vector is a register"))


def _named(site: Site, node: Name, text: str) -> VectorElement:
    if text == SINK:
        return VectorElement(node)
    symbol = site.scope.find(text)
    if symbol is None and (special := special_register(text)) is not None:
        part = ("not-a-register", f"`{text}` is a vector; name one part, such as `{text}.x`")
        return VectorElement(node, problem=part) if special.vector else VectorElement(node, special.type, special=True)
    if symbol is None:
        return VectorElement(node, problem=("undeclared-name", ""))
    if symbol.space != "reg":
        return VectorElement(
            node, problem=("not-a-register", f"`{text}` is a `.{symbol.space}` variable, not a register")
        )
    if symbol.vector:
        message = f"`{text}` is a vector; name its parts, such as `{text}.x`, or write it without braces"
        return VectorElement(node, problem=("not-a-register", message))
    return VectorElement(node, symbol.type)


def _component(site: Site, node: Component, text: str, field: str) -> VectorElement:
    place = next((letters.index(field) for letters in _FIELDS if len(field) == 1 and field in letters), -1)
    symbol = site.scope.find(text)
    if symbol is None and (special := special_register(text)) is not None:
        if special.vector and place >= 0:
            return VectorElement(node, special.type, special=True)
        return VectorElement(node, problem=("not-a-register", f"`{text}` has no part `.{field}`"))
    if symbol is None:
        return VectorElement(node.base, problem=("undeclared-name", ""))
    if symbol.space != "reg" or not symbol.vector or place < 0:
        return VectorElement(node, problem=("not-a-register", f"`{text}` has no part `.{field}`"))
    if place >= symbol.vector:
        message = f"`{text}` has {symbol.vector} elements, and `.{field}` is beyond them; ptxas lets it pass"
        return VectorElement(node, problem=("not-a-register", message))
    return VectorElement(node, symbol.type)


def _subject(site: Site) -> str:
    written = site.bound.qualifiers
    return f"{site.opcode}.{written.get('shape')}.{written.get('num')}"


def _registers(count: int) -> str:
    return "register" if count == 1 else "registers"
