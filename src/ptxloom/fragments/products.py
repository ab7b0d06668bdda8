"""The fragments of `mma`, `mma.sp` and `wgmma`, and of their metadata, PTX ISA 9.7.14.5, 9.7.14.6.2 and 9.7.15.5.

The four warps of a `wgmma` are stacked: warp w has rows 16w to 16w + 15 of A, of D and of the metadata, as
`mma` would have them; columns go on for as many as D has.

Metadata are groups of four bits, one for each chunk of a row of A. A word has eight of them: where A's elements have 16
bits or more, four of row g and four of row g + 8, in fewer lanes of the quad than there are; narrower ones have eight
of one row, selected by the lane's lowest bit. Which lanes of a quad are read is the selector's choice: the
matrix of a place is the selector that reads it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.fragments.model import Axis, Digit, Evidence, Fragment
from ptxloom.fragments.tiles import LINES, WORD_BITS, digits, tile
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from ptxloom.fragments.tiles import Digits
    from ptxloom.isa.products import MatrixForm

_WARP_ROWS: Final = 16  # of a warp of a warpgroup
_GROUP_BITS: Final = 4  # of metadata


def operands_held(form: MatrixForm) -> tuple[str, ...]:
    """The operands of a product that registers hold; `e` is the metadata of a sparse A."""
    return (*("ad" if form.opcode == "wgmma" else "abcd"), *("e" * bool(form.sparse)))


@cache
def product_fragment(form: MatrixForm, operand: str | None) -> Fragment:
    """Where the elements of an operand of `mma` or `wgmma` are.

    Raises:
        UsageError: Registers hold no such operand.
    """
    legal = operands_held(form)
    if operand not in legal:
        *most, last = (f"'{name}'" for name in legal)
        shared = "; B is in shared memory: `ptxloom descriptor` draws how" if form.opcode == "wgmma" else ""
        raise UsageError("operand", operand, f"{', '.join(most)} or {last} for this {form.opcode}{shared}")
    lanes, values = _metadata(form) if operand == "e" else _elements(form, operand)
    evidence = Evidence.DOCUMENTS if form.kind else Evidence.SILICON
    if operand == "e":
        sizes = (_GROUP_BITS, _GROUP_BITS, 0, WORD_BITS)
    else:
        width = element_type(form.type_of(operand)).packed_bits
        sizes = (width, form.container_bits(operand), form.payload_shift(operand), form.register_bits)
    lanes += digits(Axis.ROW, _WARP_ROWS, _WARP_ROWS * form.warps)
    return Fragment(form.spelling, operand, lanes, values, *sizes, False, evidence)


def _elements(form: MatrixForm, operand: str) -> tuple[Digits, Digits]:
    """The lanes of one warp, and the values, of an operand other than the metadata."""
    rows, columns = form.extent(operand)
    extents = {Axis.ROW: rows // form.warps, Axis.COLUMN: columns, Axis.MATRIX: 4 if form.quad_pairs else 1}
    if form.quad_pairs:
        return _quad_pair(form, operand, extents)
    word = max(WORD_BITS // form.container_bits(operand), 1) if operand in ("a", "b") else 2
    if operand == "b":
        return tile(word, Axis.ROW, Axis.COLUMN, extents)
    return tile(word, Axis.COLUMN, Axis.ROW, extents)


def _metadata(form: MatrixForm) -> tuple[Digits, Digits]:
    """The lanes of one warp, and the values, of the metadata of a sparse A."""
    narrow = form.container_bits("a") < _WARP_ROWS
    high = digits(Axis.ROW, LINES, _WARP_ROWS)
    held = 8 if narrow else 4  # chunks of a row that one lane has
    chunks = digits(Axis.COLUMN, held, form.k // form.chunk)
    quad = (*(high if narrow else ()), *chunks, *digits(Axis.MATRIX, 1, form.selectors))
    return (*quad, *digits(Axis.ROW, 1, LINES)), (*digits(Axis.COLUMN, 1, held), *(() if narrow else high))


def _quad_pair(form: MatrixForm, operand: str, extents: dict[Axis, int]) -> tuple[Digits, Digits]:
    """One of four products held by a pair of quads, each lane a run of a line: `.m8n8k4` with f16 multiplicands."""
    order = {"a": form.a_layout, "b": form.b_layout}.get(operand, "row")
    along, line = (Axis.COLUMN, Axis.ROW) if order == "row" else (Axis.ROW, Axis.COLUMN)
    run = extents[along] if operand in ("c", "d") else 4
    held = [*digits(line, 1, extents[line]), *digits(along, run, extents[along])]
    values = list(digits(along, 1, run))
    if form.type_of(operand) == "f32":  # the wide accumulator trades its second digit with the lane's
        held[1], values[1] = values[1], held[1]
    quad: tuple[Digit, ...] = digits(Axis.MATRIX, 1, 4)
    return (held[0], held[1], *quad, held[2]), tuple(values)
