"""A register of a fragment as formulas: which elements lane T's register holds, for all lanes at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.fragments import Axis
from ptxloom.fragments.model import numerals
from ptxloom.views.fragments.prefaces import matrix_title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.fragments import Digit, Fragment

_ALONE: Final = "r"
"""The only operand of an instruction that has one."""


def register_line(fragment: Fragment, register: int) -> str:
    """The elements of one register in every lane T, as a sentence.

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


def register_part(fragment: Fragment, register: int) -> str:
    """Which part of the matrices one register holds, over all lanes: a matrix, or rows and columns as Python slices.

    Rows or columns that are no slice, such as 0 to 7 of every 16, are left open: `…`.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> register_part(fragment("m8n8.x4.b16"), 2)
        'm2'
        >>> register_part(fragment("mma.m16n8k16.row.col.f32.bf16.bf16.f32", "d"), 3)
        'd[8:16, 1:8:2]'
    """
    whole = range(fragment.rows), range(fragment.columns)
    held = [coordinates(fragment, axis, register) for axis in (Axis.ROW, Axis.COLUMN)]
    rows, columns = (_slice(one, of) for one, of in zip(held, whole, strict=True))
    name = "" if fragment.operand == _ALONE else fragment.operand
    matrices = coordinates(fragment, Axis.MATRIX, register)
    if len(matrices) == 1 and fragment.addressed:
        name = f"m{matrices[0]}"
    elif len(matrices) == 1 < fragment.matrices:
        name = f"{name} of {matrix_title(fragment, matrices[0])} ".removeprefix(" of ")
    return name if fragment.addressed and rows == columns == ":" else f"{name}[{rows}, {columns}]"


def coordinates(fragment: Fragment, axis: Axis, register: int) -> list[int]:
    """The values that a coordinate has in one register, over all lanes, in ascending order."""
    inside = held_together(fragment).bit_length() - 1
    found = {_constant(fragment, axis, register)}
    for digit in (*fragment.lanes, *fragment.values[:inside]):
        if digit.axis is axis:
            found = {one + digit.weight * count for one in found for count in range(digit.radix)}
    return sorted(found)


def _slice(held: list[int], whole: range) -> str:
    """Coordinates as Python writes a slice of them."""
    step = held[1] - held[0] if len(held) > 1 else 1
    if held != list(range(held[0], held[-1] + 1, step)):
        return "…"
    if len(held) == len(whole):
        return ":"
    end = held[-1] + step - held[0] % step
    return f"{held[0]}:{end}" + (f":{step}" if step > 1 else "")


def held_together(fragment: Fragment) -> int:
    """The number of elements in a register."""
    return max(1, fragment.register_bits // fragment.stride)


def coordinate(fragment: Fragment, axis: Axis, register: int) -> str:
    """A coordinate of the elements in a register, by the lane T and the element's number e in the register."""
    inside = held_together(fragment).bit_length() - 1
    constant = _constant(fragment, axis, register)
    terms = [*_terms("T", fragment.lanes, axis), *_terms("e", fragment.values[:inside], axis)]
    terms += [str(constant)] * bool(constant or not terms)
    return " + ".join(terms)


def _constant(fragment: Fragment, axis: Axis, register: int) -> int:
    """The part of a coordinate that follows from the register's number."""
    outside = numerals(register, fragment.values[held_together(fragment).bit_length() - 1 :])
    return sum(digit.weight * count for digit, count in outside if digit.axis is axis)


def _terms(name: str, digits: Sequence[Digit], axis: Axis) -> Iterator[str]:
    """The part of a coordinate from one number, by its binary digits; neighbours that stay neighbours together."""
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
