"""The operands of `tcgen05.mma` that tensor memory holds: D, A, metadata, scales (PTX ISA 9.7.16.10.5 to 9.7.16.10.8).

D is spread by its layout (`tensor_layouts`); A and its metadata are in the lanes of D's rows. Where D's columns
are cut in parts (layouts B, E and G), each part's lanes have a copy of A.

Metadata are groups of four bits, one for each chunk of a row of A. Of types of 16 bits or more a column has those of
rows r and r + 8, in its low and its high half: the first four chunks in eight lanes, the others in the next eight; the
selector gives their distance in columns. Of narrower types a lane has all chunks of its row.

Scales of 32 rows of A, or columns of B, are in 32 lanes, those of the next 32 in the next column; each quarter of the
lanes has a copy. The descriptor selects the first used byte of a column's four: the matrix of a place is that number,
its *scale factor id*. Where K is 96 a row's scales can run on into the next four bytes, which are as many columns
further as rows take, those of 128 or the next multiple of it: a column is a byte of these eight.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments.model import Axis, Digit, Evidence, Fragment
from ptxloom.fragments.tensor_layouts import accumulator_layout
from ptxloom.fragments.tiles import WORD_BITS, digits
from ptxloom.isa.limits import TENSOR_LANES
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from ptxloom.descriptors.tensor_instruction import TensorInstruction
    from ptxloom.fragments.tensor_layouts import TensorLayout
    from ptxloom.fragments.tiles import Digits

_GROUP_BITS: Final = 4  # of metadata
_HALF: Final = 8  # rows whose metadata are in one half of a column
_QUARTER: Final = 32
_SCALE_BITS: Final = 8
_SCALES_OF_WORD: Final = 4


def tensor_operands(one: TensorInstruction) -> tuple[str, ...]:
    """The operands of an instruction that tensor memory holds, or can hold."""
    return ("d", "a", *("e",) * one.told.sparse, *("sfa", "sfb") * one.told.is_scaled)


def layout_of(one: TensorInstruction) -> TensorLayout:
    """The layout of D."""
    return accumulator_layout(one.told.m, one.product.ctas, ws=one.product.ws, sparse=one.told.sparse)


@cache
def tensor_fragment(one: TensorInstruction, operand: str | None) -> Fragment:
    """Which lane and column of tensor memory holds each element of an operand.

    Raises:
        UsageError: Tensor memory holds no such operand.
    """
    legal = tensor_operands(one)
    if operand not in legal:
        *most, last = (f"'{name}'" for name in legal)
        shared = "; B is in shared memory: `ptxloom descriptor` draws how" if operand == "b" else ""
        raise UsageError("operand", operand, f"{', '.join(most)} or {last} for this tcgen05.mma{shared}")
    told, layout, form = one.told, layout_of(one), one.form
    match operand:
        case "d":
            width = element_type(told.d_type).packed_bits
            lanes = _lanes(layout, Digit(Axis.COLUMN, told.n // layout.folds, layout.folds))
            values, sizes = digits(Axis.COLUMN, 1, told.n // layout.folds), (width, WORD_BITS, 0)
        case "a":
            stored = form.k // 2 if told.sparse else form.k
            lanes, values = _lanes(layout, Digit(Axis.COPY, 1, layout.folds)), digits(Axis.COLUMN, 1, stored)
            sizes = (element_type(told.a_type).packed_bits, form.container_bits("a"), form.payload_shift("a"))
        case "e":
            lanes, values = _metadata(one, layout)
            sizes = (_GROUP_BITS, _GROUP_BITS, 0)
        case _:
            lanes, values = _scales(one, operand)
            sizes = (_SCALE_BITS, _SCALE_BITS, 0)
    return Fragment(one.spelling, operand, lanes, values, *sizes, WORD_BITS, False, Evidence.DOCUMENTS, True)


def _lanes(layout: TensorLayout, fold: Digit) -> Digits:
    """What the digits of a lane's number stand for in a layout; `fold` is what its parts are."""
    return (
        *digits(Axis.ROW, 1, layout.group),
        *digits(Axis.ADDRESS, 1, layout.pitch // layout.group),
        *digits(Axis.ROW, layout.group, layout.rows),
        *(fold._replace(weight=fold.weight << place, radix=2) for place in range(fold.radix.bit_length() - 1)),
        *digits(Axis.ROW, layout.rows, layout.rows * layout.ctas),
    )


def _metadata(one: TensorInstruction, layout: TensorLayout) -> tuple[Digits, Digits]:
    """The lanes and values of the metadata of a sparse A."""
    chunks = one.form.k // one.form.chunk
    lanes = _lanes(layout, Digit(Axis.COPY, 1, layout.folds))
    if element_type(one.told.a_type).packed_bits <= 8:
        return lanes, digits(Axis.COLUMN, 1, chunks)
    place = lanes.index(Digit(Axis.ROW, _HALF))
    half = chunks // 2
    lanes = (*lanes[:place], Digit(Axis.COLUMN, half), *lanes[place + 1 :])
    return lanes, (*digits(Axis.COLUMN, 1, half), *digits(Axis.ROW, _HALF, 2 * _HALF), Digit(Axis.MATRIX, 1))


def _scales(one: TensorInstruction, operand: str) -> tuple[Digits, Digits]:
    """The lanes and values of the scales of A or of B; lines are those of 128 or of the next multiple of 32."""
    told, ctas = one.told, one.product.ctas
    own = told.m // ctas if operand == "sfa" else told.n
    split = operand == "sfb" and ctas == 2 and told.m == TENSOR_LANES
    unit = TENSOR_LANES if told.k_96 else 2 * _QUARTER
    if split and own % unit:
        raise UnsupportedForm(
            f"`{one.spelling}`: the scales of the two halves of B are distinguished here only if N is a multiple of "
            f"{unit}"
        )
    if told.k_96 and operand == "sfa" and own < TENSOR_LANES:
        raise UnsupportedForm(
            f"`{one.spelling}`: with K = 96 no map leaves out the columns that the scales of {own} rows a CTA do: "
            f"those of row r are in lane r % {_QUARTER} of each quarter, four in column r / {_QUARTER}, the others in "
            f"the column {TENSOR_LANES // _QUARTER} further"
        )
    lines = -(-own // (2 * _QUARTER if split else _QUARTER)) * _QUARTER
    if told.k_96:
        lines = -(-own // TENSOR_LANES) * TENSOR_LANES // (2 if split else 1)
    upper = Digit(Axis.ROW, lines) if split else Digit(Axis.COPY, 2)
    lanes = (*digits(Axis.ROW, 1, _QUARTER), Digit(Axis.COPY, 1), upper)
    if ctas == 2:
        far = Digit(Axis.ROW, lines) if operand == "sfa" else Digit(Axis.COPY, 2 if split else 4)
        lanes = (*lanes, far)
    rows = digits(Axis.ROW, _QUARTER, lines)
    if told.k_96:
        return lanes, (*digits(Axis.COLUMN, 1, _SCALES_OF_WORD), *rows, Digit(Axis.COLUMN, _SCALES_OF_WORD))
    count = one.form.scales
    within = (*digits(Axis.COLUMN, 1, count), *digits(Axis.MATRIX, 1, _SCALES_OF_WORD // count))
    return lanes, (*within, *rows)
