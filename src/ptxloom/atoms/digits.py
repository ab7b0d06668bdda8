"""From a fragment's digits to CuTe layouts: (thread, value) to a number, each digit with a weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.layout import Layout, coalesce, make_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ptxloom.fragments import Digit


def mode_of(worths: Iterable[int], last: int = 2) -> Layout:
    """The coalesced layout of digits with weights, the lowest digit first; binary, except the last."""
    strides = tuple(worths)
    shape = [2] * len(strides)
    shape[-1:] = [last] * len(shape[-1:])
    return coalesce(Layout(tuple(shape), strides))


def thread_value_layout(lanes: Iterable[int], values: Iterable[int], last: int = 2) -> Layout:
    """The layout (thread, value) of lane digits and value digits with weights.

    Args:
        lanes: The weights of the digits of a thread's number.
        values: The weights of those of a value's number.
        last: The radix of the highest of these.

    Example:
        >>> print(thread_value_layout((2, 4, 8, 16, 32), (1, 64)))
        (32,(2,2)):(2,(1,64))
    """
    return make_layout(mode_of(lanes), mode_of(values, last))


def bits_of_element(bits: int) -> tuple[int, ...]:
    """The weights of the binary digits of a bit's number inside an element, in bits.

    Example:
        >>> bits_of_element(16)
        (1, 2, 4, 8)
    """
    return tuple(1 << place for place in range(bits.bit_length() - 1))


def worths(digits: Iterable[Digit], worth: Callable[[Digit], int]) -> tuple[int, ...]:
    """The weight of each digit."""
    return tuple(worth(digit) for digit in digits)
