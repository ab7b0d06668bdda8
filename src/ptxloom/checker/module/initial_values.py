"""Rules about initial values: where they are legal, how many, of which type (PTX ISA 5.4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.sizes import OPAQUE
from ptxloom.checker.findings.report import error
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.source import Span
from ptxloom.syntax.constants import constant
from ptxloom.syntax.tree import Apply, Binary, Cast, Float, Integer, Name, Ternary, Unary, Vector

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.node import Node
    from ptxloom.syntax.tree import Declaration, Declarator, Operand

_RULE: Final = "initial-value"
_SECTION: Final = "5.4.4"
_ADDRESS: Final = frozenset(("u32", "u64"))
_PARTS: Final = _ADDRESS | {"u8", "u16"}


def initial_value(declaration: Declaration, declarator: Declarator, known: Collection[str]) -> Iterator[Diagnostic]:
    """The findings about the initial value of a variable; `known` are the names that are declared before it."""
    value = declarator.initializer
    if value is None or declaration.type in OPAQUE:
        return
    span = value.span_in(declaration.source)
    if declaration.space in {"shared", "local", "reg", "param"}:
        yield _bad(f"`.{declaration.space}` variables have no initial values", span, "store it in the function's body")
    elif declaration.linkage == "extern":
        yield _bad(f"`{declarator.name}` is `.extern`: its initial value belongs where it is defined", span)
    elif declaration.type == "f16" or (declaration.type == "f16x2" and not isinstance(value, Vector)):
        yield _bad(
            f"`.{declaration.type}` variables have no initial values",
            span,
            "declare `.b16` or `.b32` and write the bits",
        )
    elif declaration.type != "f16x2":
        sizes = (*declarator.dimensions, *((declaration.vector,) if declaration.vector else ()))
        yield from _Initialiser(declaration, {*known, declarator.name}).inside(value, sizes)


def _bad(message: str, span: Span, label: str = "") -> Diagnostic:
    return error(_RULE, message, span, _SECTION, label=label)


class _Initialiser:
    """Checks the values in braces against the dimensions of an array."""

    def __init__(self, declaration: Declaration, known: Collection[str]) -> None:
        self._declaration = declaration
        self._known = known
        self._plain = _plain_literals(declaration.type)

    def inside(self, value: Operand, sizes: tuple[int | None, ...]) -> Iterator[Diagnostic]:
        """A value of an array with a number of dimensions, or of an element."""
        if not sizes:
            yield from self._element(value)
        elif not isinstance(value, Vector):
            yield _bad("the initial value of an array needs braces", self._span(value))
        elif sizes[0] is None and not value.elements:
            yield _bad("an array whose size is left open needs initial values", self._span(value))
        elif sizes[0] is not None and len(value.elements) > sizes[0]:
            over = value.elements[sizes[0]]
            yield _bad(
                f"{len(value.elements)} initial values for {sizes[0]} elements", self._span(over), "one too many"
            )
        elif len(sizes) == 1 and self._declaration.vector and len(value.elements) != sizes[0]:
            yield _bad(f"a vector of {sizes[0]} needs as many initial values", self._span(value))
        else:
            for element in value.elements:
                if len(sizes) > 1 or not (type(element) in self._plain or self._is_negative(element)):
                    yield from self.inside(element, sizes[1:])

    def _is_negative(self, value: Operand) -> bool:
        """Whether a value is just a signed number of the right kind."""
        return type(value) is Unary and value.operator == "-" and type(value.operand) in self._plain

    def _span(self, node: Node) -> Span:
        return node.span_in(self._declaration.source)

    def _element(self, value: Operand) -> Iterator[Diagnostic]:
        kind = self._declaration.type
        if not is_type(kind):
            return
        floating = element_type(kind).kind is Kind.FLOAT
        leaves = list(_leaves(value))
        names = [one for one in leaves if isinstance(one, Name) and one.text != "WARP_SZ"]
        if isinstance(value, Vector):
            yield _bad("the initial value of one element is a number or an address, not a list", self._span(value))
        elif names:
            yield from self._address(value, names[0])
        elif _divides_by_zero(value, leaves):
            yield _bad("the initial value divides by zero", self._span(value))
        elif floating and any(isinstance(one, Integer) for one in leaves):
            span = self._span(value)
            yield _bad(f"`.{kind}` needs a floating-point number", span, f"write `{span.text}.0`")
        elif element_type(kind).kind in {Kind.SIGNED, Kind.UNSIGNED} and any(isinstance(one, Float) for one in leaves):
            yield _bad(f"`.{kind}` needs an integer", self._span(value))

    def _address(self, value: Operand, name: Name) -> Iterator[Diagnostic]:
        masked = isinstance(value, Apply) and isinstance(value.function, Integer)
        span = Span(self._declaration.source, name.start, name.end)
        if f"shared {name.text}" in self._known:
            yield _bad(f"`{name.text}` has no address before the kernel runs: it is `.shared`", span)
        elif name.text not in self._known:
            yield _bad(f"`{name.text}` names no variable or function that is declared before this point", span)
        elif self._declaration.type not in (_PARTS if masked else _ADDRESS):
            yield _bad(f"an address is `.u64` (or `.u32`), and this is `.{self._declaration.type}`", span)


def _plain_literals(kind: str) -> tuple[type[Node], ...]:
    """The literals that are legal for an element of a type, whatever their value."""
    if is_type(kind):
        match element_type(kind).kind:
            case Kind.FLOAT:
                return (Float,)
            case Kind.SIGNED | Kind.UNSIGNED:
                return (Integer,)
            case _:
                pass
    return (Integer, Float)


def _divides_by_zero(value: Operand, leaves: list[Operand]) -> bool:
    """Whether an integer expression divides by zero."""
    return all(isinstance(one, Integer | Name) for one in leaves) and constant(value) is None


def _leaves(value: Operand) -> Iterator[Operand]:
    """The literals and names that a value is made of."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        match one:
            case Unary(_, inner) | Cast(_, inner) | Apply(_, inner):
                waiting.append(inner)
            case Binary(_, left, right):
                waiting += [right, left]
            case Ternary(condition, then, otherwise):
                waiting += [otherwise, then, condition]
            case _:
                yield one
