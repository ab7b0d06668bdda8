"""The drawn part of a large fragment: one block, and a sentence on how the others repeat it.

The highest digits of a coordinate are folded away if they are those of whole registers, or of warps: then all blocks
look alike, except for the numbers of the registers or of the lanes.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.fragments import Axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.fragments import Digit, Fragment

MOST: Final = 32  # rows or columns that are drawn whole
BLOCK: Final = 16  # and if there are more, the number aimed at
_CORNER: Final = 8  # both, of what tensor memory holds: a picture of all of it stands beside
_WARP_DIGITS: Final = 5  # of a lane's number


@dataclass(frozen=True, slots=True)
class Block:
    """What is drawn of each matrix, from its first row and column on.

    Attributes:
        rows: How many rows.
        columns: How many columns.
        repeats: How the rest follows from it, a sentence each; empty if it is all.
    """

    rows: int
    columns: int
    repeats: tuple[str, ...]


class FoldedStep(NamedTuple):
    """A step of rows or columns, and the step of lanes or registers that it is."""

    weight: int
    far: int
    noun: str


def block_of(fragment: Fragment) -> Block:
    """The part of a fragment to draw.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> found = block_of(fragment("wgmma.mma_async.m64n256k16.f32.f16.f16", "d"))
        >>> found.rows, found.columns, found.repeats[1]
        (16, 16, 'Columns 16 to 255 repeat columns 0 to 15: 16 columns on is 8 registers on.')
    """
    rows, of_rows = _folded(fragment, Axis.ROW)
    columns, of_columns = _folded(fragment, Axis.COLUMN)
    return Block(rows, columns, (*of_rows, *of_columns))


def _folded(fragment: Fragment, axis: Axis) -> tuple[int, tuple[str, ...]]:
    """How many places of an axis are drawn, and how the others repeat them."""
    extent = shown = fragment.extent(axis)
    steps: list[FoldedStep] = []
    most, aim = (_CORNER, _CORNER) if fragment.in_tensor_memory else (MOST, BLOCK)
    if extent > most:
        repeating = _repeating(fragment)
        for digit in sorted((d for d in (*fragment.lanes, *fragment.values) if d.axis is axis), reverse=True):
            if shown <= aim or digit not in repeating:
                break
            shown = digit.weight
            steps.append(FoldedStep(shown, *repeating[digit]))
    if not steps:
        return extent, ()
    name = f"{axis}s"
    lines = "; ".join(f"{step.weight} {name} on is {many(step.far, step.noun)} on" for step in _irregular(steps))
    return shown, (f"{name.capitalize()} {shown} to {extent - 1} repeat {name} 0 to {shown - 1}: {lines}.",)


def _repeating(fragment: Fragment) -> dict[Digit, tuple[int, str]]:
    """The digits that count whole registers or warps, and how far on each of them is."""
    whole, noun = (0, "column of tensor memory") if fragment.in_tensor_memory else (_WARP_DIGITS, "register")
    found = {digit: (1 << place, "lane") for place, digit in enumerate(fragment.lanes) if place >= whole}
    for place, digit in enumerate(fragment.values):
        bits = prod(below.radix for below in fragment.values[:place]) * fragment.stride
        if bits >= fragment.register_bits:
            found[digit] = bits // fragment.register_bits, noun
    return found


def _irregular(steps: Sequence[FoldedStep]) -> list[FoldedStep]:
    """The steps that do not follow from a shorter one: 32 columns on is twice as far as 16 columns on."""
    kept: list[FoldedStep] = []
    for step in reversed(steps):
        if not any(step.noun == less.noun and step.far * less.weight == less.far * step.weight for less in kept):
            kept.append(step)
    return kept


def many(number: int, noun: str) -> str:
    """A number of things.

    Example:
        >>> many(1, "lane"), many(2, "lane")
        ('1 lane', '2 lanes')
    """
    first, *rest = noun.split(" ", 1)
    return " ".join((f"{number} {first}" + "s" * (number != 1), *rest))
