"""The functions that expressions may call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.comparison import rounding
from ptxloom.comparison.quantity import NoQuantity, Quantity, elementwise

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Axis = int | None


def _exp(of: Quantity) -> Quantity:
    """An `ex2.approx` of a product: its rounding error is multiplied by the exponent."""
    of = of.made(of.value.astype(np.float64), of.error + of.precision.eps * np.abs(of.value))
    return elementwise(of, np.exp, lambda _, value: value)


def _ones(x: NDArray[Any], value: NDArray[Any]) -> NDArray[Any]:
    del value
    return np.ones_like(x, np.float64)


ELEMENTWISE: Final[dict[str, Callable[[Quantity], Quantity]]] = {
    "abs": lambda of: elementwise(of, np.abs, _ones),
    "exp": _exp,
    "log": lambda of: elementwise(of, np.log, lambda x, _: 1 / x),
    "relu": lambda of: elementwise(of, lambda x: np.maximum(x, 0), _ones),
    "sqrt": lambda of: elementwise(of, np.sqrt, lambda _, value: 0.5 / value),
    "tanh": lambda of: elementwise(of, np.tanh, lambda _, value: 1 - value * value),
}
"""Of each number."""


def _axis(of: Quantity, axis: Axis) -> Axis:
    if axis is not None and not -of.value.ndim <= axis < of.value.ndim:
        raise NoQuantity(f"has no axis {axis}: its shape is {list(of.shape)}")
    return axis


def _length(of: Quantity, axis: Axis) -> int:
    return of.value.size if axis is None else of.shape[axis]


def _sum(of: Quantity, axis: Axis, *, keep: bool = False) -> Quantity:
    axis = _axis(of, axis)
    value = np.asarray(of.value.sum(axis, keepdims=keep))
    if of.is_integer:
        return of.made(value, np.zeros(()), terms=_length(of, axis))
    size = np.abs(of.value)
    squares = np.sqrt((size * size).sum(axis, keepdims=keep))
    error = np.broadcast_to(of.error, of.shape).sum(axis, keepdims=keep)
    terms = _length(of, axis)
    return of.made(value, error + rounding.of_sum(of.precision.eps, terms, value, squares), terms=terms)


def _mean(of: Quantity, axis: Axis) -> Quantity:
    total = _sum(of, axis)
    return total.over(Quantity.of(np.asarray(_length(of, axis)), of.precision))


def _extreme(of: Quantity, axis: Axis, which: Callable[..., Any], *, keep: bool = False) -> Quantity:
    axis = _axis(of, axis)
    if not _length(of, axis):
        raise NoQuantity("is empty, and has no largest or smallest element")
    error = np.broadcast_to(of.error, of.shape).max(axis, keepdims=keep)
    return of.made(np.asarray(which(of.value, axis=axis, keepdims=keep)), np.asarray(error))


def _softmax(of: Quantity, axis: Axis) -> Quantity:
    axis = -1 if axis is None else axis
    powers = _exp(of.minus(_extreme(of, axis, np.max, keep=True)))
    return powers.over(_sum(powers, axis, keep=True))


ALONG: Final[dict[str, Callable[[Quantity, Axis], Quantity]]] = {
    "max": lambda of, axis: _extreme(of, axis, np.max),
    "mean": _mean,
    "min": lambda of, axis: _extreme(of, axis, np.min),
    "softmax": _softmax,
    "sum": _sum,
}
"""Along an axis (`sum(A, axis=1)`), or over everything; softmax along the last one if no axis is stated."""


def _of_two(which: Callable[..., Any]) -> Callable[[Quantity, Quantity], Quantity]:
    def pick(first: Quantity, second: Quantity) -> Quantity:
        shared = first.plus(second)  # refuses shapes that do not go together
        return shared.made(which(first.value, second.value), np.maximum(first.error, second.error))

    return pick


OF_TWO: Final = {"maximum": _of_two(np.maximum), "minimum": _of_two(np.minimum)}
"""Of two numbers each."""
NAMES: Final = (*ELEMENTWISE, *ALONG, *OF_TWO)
