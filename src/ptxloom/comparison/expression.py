"""`C = A @ B`: the expected array as an expression over the others, and the error that rounding can explain.

The text is parsed as Python and evaluated here: names, numbers, `+ - * / @`, `.T` and the functions
of `functions`. It is never executed as Python.
"""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.comparison.functions import ALONG, ELEMENTWISE, NAMES, OF_TWO
from ptxloom.comparison.model import Reference
from ptxloom.comparison.quantity import NoQuantity, Quantity, must_have_room
from ptxloom.comparison.rounding import assumed
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments.number_types import is_array, is_complex, is_float, is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from ptxloom.comparison.rounding import Precision

LONGEST: Final = 1000
"""Characters of an expression."""
_OPERATORS: Final[dict[type[ast.operator], Callable[[Quantity, Quantity], Quantity]]] = {
    ast.Add: Quantity.plus,
    ast.Sub: Quantity.minus,
    ast.Mult: Quantity.times,
    ast.Div: Quantity.over,
    ast.MatMult: Quantity.product,
}
_MEANT: Final = f"names, numbers, + - * / @, .T and {', '.join(sorted(NAMES))}"


class BadExpression(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """An expression cannot be read or worked out; the message is a sentence that shows the part at fault."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """A parsed expression: the array that it is about, and its expected value."""

    text: str
    name: str
    body: ast.expr

    def names(self) -> frozenset[str]:
        """The names that the value depends on."""
        called = {node.func for node in ast.walk(self.body) if isinstance(node, ast.Call)}
        return frozenset(n.id for n in ast.walk(self.body) if isinstance(n, ast.Name) and n not in called)


def read_expectation(text: str) -> Expectation:
    """Read `C = A @ B`.

    Raises:
        BadExpression: It is something else.

    Example:
        >>> read_expectation("C = relu(A @ B.T)").name
        'C'
    """
    shown = text if len(text) <= LONGEST else f"{text[:40]}..."
    if len(text) > LONGEST:
        raise BadExpression(f"`{shown}` is longer than {LONGEST:,} characters")
    try:
        with warnings.catch_warnings(action="ignore"):
            statements = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        statements = []
    match statements:
        case [ast.Assign([ast.Name(name)], body)]:
            return Expectation(text.strip(), name, body)
        case _:
            raise BadExpression(f"`{shown}` does not name the array and its value; write it as `C = A @ B`")


def reference(
    expected: Expectation,
    values: Mapping[str, Any],
    precision: Precision | None,
    rtol: float | None = None,
    atol: float | None = None,
    *,
    accumulate: str = "",
) -> Reference:
    """Compute the expected value of an array.

    Args:
        expected: The expression.
        values: Arrays and numbers by name, as they are before the launch; the array itself among them.
        precision: The types that the kernel computes in, if known: they decide the expected rounding.
        rtol: The relative difference allowed instead of that.
        atol: The absolute one.
        accumulate: The type that sums may be rounded to; if left out, one no coarser than the array's.

    Raises:
        BadExpression: A name or shape does not fit, or it would be too large.
    """
    target = values.get(expected.name)
    if not is_array(target):
        raise BadExpression(f"`{expected.text}`: {expected.name} is not an array among the arguments")
    if not is_number(target.dtype):
        raise BadExpression(f"`{expected.text}`: {expected.name} holds {target.dtype}, not numbers")
    own = precision or assumed(target.dtype)
    wanted_in = own.behind(target.dtype, accumulate)
    try:
        with np.errstate(all="ignore"):
            found = _Evaluation(expected, values, wanted_in).of(expected.body)
            coarse = found if own == wanted_in else _Evaluation(expected, values, own).of(expected.body)
    except RecursionError:
        raise BadExpression(f"`{expected.text}` is nested too deeply") from None
    except MemoryError:
        raise BadExpression(f"`{expected.text}` needs more memory than there is") from None
    made = _as_reference(expected, found, target, rtol, atol)
    coarse_error = None if coarse is found else np.broadcast_to(coarse.error, target.shape)
    return replace(made, accumulate=accumulate, coarse_error=coarse_error)


def _as_reference(
    expected: Expectation, found: Quantity, target: NDArray[Any], rtol: float | None, atol: float | None
) -> Reference:
    try:
        value, error = (np.broadcast_to(one, target.shape) for one in (found.value, found.error))
    except ValueError:
        shapes = f"{list(found.shape)}, and {expected.name} has {list(target.shape)}"
        raise BadExpression(f"`{expected.text}` has the shape {shapes}") from None
    if is_complex(value.dtype) != is_complex(target.dtype):
        raise BadExpression(f"`{expected.text}` is {value.dtype}, and {expected.name} holds {target.dtype}")
    if found.is_integer and not is_float(target.dtype):
        value = value.astype(target.dtype)  # wraps, as the kernel's does
    against = expected.text.partition("=")[2].strip()
    return Reference(value, rtol, atol, error, found.terms, against)


@dataclass(frozen=True, slots=True)
class _Evaluation:
    expected: Expectation
    values: Mapping[str, Any]
    precision: Precision

    def of(self, node: ast.expr) -> Quantity:
        """The value of one part.

        Raises:
            BadExpression: It has no value.
        """
        try:
            return self._plain(node)
        except NoQuantity as error:
            part = ast.unparse(node)
            raise BadExpression(f"`{self.expected.text}`: `{part}` {error}") from None

    def _plain(self, node: ast.expr) -> Quantity:
        match node:
            case ast.Name(name):
                return self._named(name)
            case ast.Constant(int() | float() as number) if not isinstance(number, bool):
                return self._number(number)
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, part):
                return self.of(part).negative() if isinstance(sign, ast.USub) else self.of(part)
            case ast.BinOp(left, sign, right) if type(sign) in _OPERATORS:
                return _OPERATORS[type(sign)](self.of(left), self.of(right))
            case ast.Attribute(part, "T"):
                return self.of(part).transposed()
            case ast.Call(ast.Name(name), parts, options):
                return self._call(name, parts, options)
            case _:
                raise NoQuantity(f"means nothing here; known are {_MEANT}")

    def _named(self, name: str) -> Quantity:
        value = self.values.get(name)
        if is_array(value):
            if not is_number(value.dtype):
                raise NoQuantity(f"holds {value.dtype}, not numbers")
            must_have_room(value.shape)
            return Quantity.of(value, self.precision)
        if isinstance(value, (int, float)):
            return self._number(value)
        raise NoQuantity(f"is no argument; the arguments are {', '.join(sorted(self.values)) or '(none)'}")

    def _number(self, number: float) -> Quantity:
        if isinstance(number, int) and not -(1 << 63) <= number < 1 << 63:
            number = _nearest(number)
        return Quantity.of(np.asarray(number), self.precision)

    def _call(self, name: str, parts: list[ast.expr], options: list[ast.keyword]) -> Quantity:
        given = [self.of(part) for part in parts]
        if name in ELEMENTWISE and len(given) == 1 and not options:
            return ELEMENTWISE[name](given[0])
        if name in OF_TWO and len(given) == 2 and not options:
            return OF_TWO[name](given[0], given[1])
        if name in ALONG and len(given) == 1:
            return ALONG[name](given[0], _axis(options))
        known = f"takes {'two arguments' if name in OF_TWO else 'one argument'}" if name in NAMES else "is no function"
        raise NoQuantity(f"cannot be worked out: {name} {known}; known are {', '.join(sorted(NAMES))}")


def _nearest(number: int) -> float:
    """The nearest number in double precision; an infinity if there is none."""
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _axis(options: list[ast.keyword]) -> int | None:
    """`axis=1` among the arguments of a call."""
    match options:
        case []:
            return None
        case [ast.keyword("axis", value)]:
            match value:
                case ast.Constant(int() as axis) if not isinstance(axis, bool):
                    return axis
                case ast.UnaryOp(ast.USub(), ast.Constant(int() as axis)) if not isinstance(axis, bool):
                    return -axis
                case _:
                    pass
        case _:
            pass
    raise NoQuantity("takes axis=NUMBER and no other option")
