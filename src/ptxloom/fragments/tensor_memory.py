"""The data that `tcgen05.ld`, `.st` and `.cp` move: the place of each register or shared row (PTX ISA 9.7.16).

Rows are lanes of tensor memory and columns its columns of 32 bits, both counted from where the address points. Of
`.32x32b` each lane has a row of its own. The shapes of 16 rows are core tiles: the lanes of a quad hold neighbours in
one of 8 rows, and what is as far in rows 8 to 15 is held by a lane (`.16x64b`) or a register (the wider ones) more.
`.16x32bx2` is two halves, each held by 16 lanes; an operand says how much further the columns of the second begin.

`tcgen05.cp` brings rows of shared memory to lanes, some of them to several: each word of a row, or what was packed and
gets a byte, is an element. A pair's CTAs copy from their own shared memory: the matrix of a place is the CTA's.
`tcgen05.shift` moves 32 lanes of eight columns by one; rows are where they are before.

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
    """The places in tensor memory of the registers of a `tcgen05.ld` or `tcgen05.st`.

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


# The meaning of the seven digits of the lane's number, by the qualifiers for the row's copies.
_ALONE: Final = digits(Axis.ROW, 1, 128)
_WAYS: Final[dict[str, Digits]] = {
    "warpx2::02_13": (*digits(Axis.ROW, 1, 64), Digit(Axis.COPY, 1)),
    "warpx2::01_23": (*digits(Axis.ROW, 1, 32), Digit(Axis.COPY, 1), Digit(Axis.ROW, 32)),
    "warpx4": (*digits(Axis.ROW, 1, 32), *digits(Axis.COPY, 1, 4)),
    "4x256b": (*digits(Axis.ADDRESS, 1, 32), *digits(Axis.ROW, 1, 4)),
}
_PACKED: Final = {"b4x16_p64": (4, 2), "b6x16_p32": (6, 0)}  # bits of an element, and where in its byte they begin


def copy_fragment(form: Form) -> Fragment:
    """The lanes and columns of tensor memory that a `tcgen05.cp` writes, and the part of a row that each receives."""
    said = form.words
    _, bits = (int(number) for number in form.filling["shape"].removesuffix("b").split("x"))
    lanes = next((way for word, way in _WAYS.items() if word in said), _ALONE)
    if "cta_group::2" in said:
        lanes = (*lanes, Digit(Axis.MATRIX, 1))
    width, shift = next((found for word, found in _PACKED.items() if word in said), (WORD_BITS, 0))
    stride = WORD_BITS if width == WORD_BITS else 8
    values = _columns(1, bits // stride)
    return Fragment(form.spelling, "r", lanes, values, width, stride, shift, WORD_BITS, False, Evidence.DOCUMENTS, True)


_SHIFTED: Final = (*digits(Axis.ROW, 1, 32), *digits(Axis.ADDRESS, 1, 4))
_SHIFTED_COLUMNS: Final = 8


def shift_fragment(form: Form) -> Fragment:
    """Which lanes and columns a `tcgen05.shift.down` moves: rows as before it, each but row 0 one lane down."""
    lanes = (*_SHIFTED, Digit(Axis.MATRIX, 1)) if "cta_group::2" in form.words else _SHIFTED
    values = _columns(1, _SHIFTED_COLUMNS)
    width = WORD_BITS
    return Fragment(form.spelling, "r", lanes, values, width, width, 0, width, False, Evidence.DOCUMENTS, True)
