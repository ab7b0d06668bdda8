"""The fragments of `tcgen05.ld` and `tcgen05.st`: which lane's register is which place of tensor memory, 9.7.16.8.

Rows are lanes of tensor memory and columns its columns of 32 bits, both counted from where the address points. Of
`.32x32b` each lane has a row of its own. The shapes of 16 rows are core tiles: the lanes of a quad hold neighbours in
one of 8 rows, and what is as far in rows 8 to 15 is held by a lane (`.16x64b`) or a register (the wider ones) more.
`.16x32bx2` is two halves, each held by 16 lanes; the columns of the second begin so many further as an operand says.

`.pack::16b` and `.unpack::16b` put the low halves of two columns next to each other into one register.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.fragments.model import Axis, Digit, Evidence, Fragment
from ptxloom.fragments.tiles import LINES, WORD_BITS, digits

if TYPE_CHECKING:
    from ptxloom.fragments.tiles import Digits
    from ptxloom.isa.form import Form

_HIGH: Final = Digit(Axis.ROW, LINES)
_ROWS: Final = digits(Axis.ROW, 1, LINES)
_HALF_BITS: Final = 16


def _columns(start: int, stop: int) -> Digits:
    return digits(Axis.COLUMN, start, stop)


# What the five digits of the lane's number stand for, and the lowest ones of the register's.
_SHAPES: Final[dict[str, tuple[Digits, Digits]]] = {
    "32x32b": (digits(Axis.ROW, 1, 32), ()),
    "16x64b": ((_HIGH, *_columns(1, 2), *_ROWS), ()),
    "16x128b": ((*_columns(1, 4), *_ROWS), (_HIGH,)),
    "16x256b": ((*_columns(2, 8), *_ROWS), (*_columns(1, 2), _HIGH)),
    "16x32bx2": ((*digits(Axis.ROW, 1, 16), Digit(Axis.MATRIX, 1)), ()),
}


def tensor_memory_fragment(form: Form, registers: int) -> Fragment:
    """Which places of tensor memory the registers of a `tcgen05.ld` or `tcgen05.st` are.

    Args:
        form: The instruction.
        registers: How many registers a lane has.
    """
    lanes, low = _SHAPES[form.filling["shape"]]
    reached = prod(digit.radix for digit in (*lanes, *low) if digit.axis is Axis.COLUMN)
    values = (*low, *_columns(reached, reached * registers >> len(low)))
    width = WORD_BITS
    if form.filling.get("pack::16b") or form.filling.get("unpack::16b"):
        width = _HALF_BITS
        lanes, values = _wider(lanes), (*_columns(1, 2), *_wider(values))
    return Fragment(form.spelling, "r", lanes, values, width, width, 0, WORD_BITS, False, Evidence.DOCUMENTS)


def _wider(held: Digits) -> Digits:
    """The same digits where each column is two."""
    return tuple(d._replace(weight=2 * d.weight) if d.axis is Axis.COLUMN else d for d in held)
