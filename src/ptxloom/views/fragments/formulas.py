"""A register of a fragment as formulas: which elements lane T's register holds, for all lanes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.fragments import Axis
from ptxloom.fragments.model import numerals
from ptxloom.views.fragments.prefaces import matrix_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.fragments import Digit, Fragment


def register_line(fragment: Fragment, register: int) -> str:
    """What one register of every lane T holds, as a sentence.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> register_line(fragment("m8n8.x4.b16"), 2)
        'lane T holds row T/4, column 2*(T%4) + e of matrix 2; e is 0 to 1, from the low bits up'
    """
    held = held_together(fragment)
    row, column = coordinate(fragment, Axis.ROW, register), coordinate(fragment, Axis.COLUMN, register)
    number = coordinate(fragment, Axis.MATRIX, register)
    matrix = f" of {matrix_title(fragment, number)}" if fragment.matrices > 1 else ""
    several = f"; e is 0 to {held - 1}, from the low bits up" if held > 1 else ""
    return f"lane T holds row {row}, column {column}{matrix}{several}"


def held_together(fragment: Fragment) -> int:
    """How many elements one register holds."""
    return max(1, fragment.register_bits // fragment.stride)


def coordinate(fragment: Fragment, axis: Axis, register: int) -> str:
    """A coordinate of the elements in a register, by the lane T and the element's number e in the register."""
    inside = held_together(fragment).bit_length() - 1
    outside = numerals(register, fragment.values[inside:])
    constant = sum(digit.weight * count for digit, count in outside if digit.axis is axis)
    terms = [*_terms("T", fragment.lanes, axis), *_terms("e", fragment.values[:inside], axis)]
    terms += [str(constant)] * bool(constant or not terms)
    return " + ".join(terms)


def _terms(name: str, digits: Sequence[Digit], axis: Axis) -> Iterator[str]:
    """The part of a coordinate that the binary digits of one number give: neighbours that stay neighbours together."""
    place = 0
    while place < len(digits):
        first = place
        if digits[first].axis is axis:
            while _goes_on(digits, first, place + 1):
                place += 1
            yield _term(name, first, place + 1 - first, len(digits), digits[first].weight)
        place += 1


def _goes_on(digits: Sequence[Digit], first: int, place: int) -> bool:
    """Whether the digit at `place` stands as far above the first one in the coordinate as in the number."""
    return place < len(digits) and digits[place] == digits[first]._replace(weight=digits[first].weight << place - first)


def _term(name: str, first: int, count: int, whole: int, weight: int) -> str:
    """`count` binary digits of a number of `whole` ones, from `first` up, times a weight."""
    text = f"{name}/{1 << first}" if first else name
    if first + count < whole:
        text = f"{text}%{1 << count}"
    if weight == 1:
        return text
    return f"{weight}*({text})" if text != name else f"{weight}*{name}"
