"""The rule from which every fragment follows, PTX ISA 9.7.14.5.1-5.14 (mma), 5.15-5.17 (matrix moves).

*Lines* are the rows of A, C and D, and the columns of B; an element's place in its line runs *along* it. One core
tile is 8 lines of 4 lanes, each lane holding a word: lane l holds word l % 4 of line l / 4. A word is 32 bits, the
elements next to each other along the line and packed from bit 0 upwards; one element if that is wider, and never
more than a fourth of the line. Accumulators are 8 wide, so their words are two elements at any width. What one core
tile does not cover is covered by repeating it: first over the lines, then along them, then over the matrices; each
repetition takes the next word of the lane's registers.

A line of ldmatrix and stmatrix is an addressed row of 16 bytes. `.trans` exchanges the roles: lines are the columns
of what the rows hold.

One form is older than this rule: `.m8n8k4` with f16 multiplicands, made for Volta, computes four products, each by
one pair of quads: lanes 4q to 4q+3 and 16+4q to 19+4q. Within a pair each lane holds as many elements of one line as
it has registers for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments.model import Axis, Digit, Evidence, Fragment
from ptxloom.isa import known
from ptxloom.isa.matrix import MOVES, MatrixMove, memory_move
from ptxloom.isa.products import MatrixForm, matrix_form
from ptxloom.isa.shapes import is_shape
from ptxloom.isa.spelled import spelling_of
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.types import element_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.isa.spelled import Spelled

_LINES: Final = 8  # of a core tile
_QUAD: Final = 4  # lanes that share a line of a core tile
_WORD_BITS: Final = 32


def fragment(instruction: str | Spelled | MatrixMove | MatrixForm, operand: str | None = None) -> Fragment:
    """Where every element of a warp-level matrix operand lives.

    Realises PTX ISA 9.7.14.5.1 to 9.7.14.5.17; the rule stands in this module's docstring.

    Args:
        instruction: A spelling, full or short (`m8n8.x4.b16` is an ldmatrix, `m16n8.x4.trans.b8` a
            stmatrix, `m16n8k16...` an mma), an instruction
            of a parsed module, or a form.
        operand: "a", "b", "c" or "d" of mma; "a" or "d" of movmatrix (d if left out); none of ldmatrix and stmatrix.

    Returns:
        A one-to-one map (lane, register, bit) <-> (matrix, row, column).

    Raises:
        UnsupportedForm: The instruction does not exist or holds no matrix.
        UsageError: It has no such operand.

    Example:
        >>> f = fragment("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
        >>> f.holder(matrix=1, row=3, column=5)
        Element(lane=21, register=1, bit=16, width=16, matrix=1, row=3, column=5)
        >>> fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a").registers
        4
    """
    form = _form(instruction)
    match form:
        case MatrixMove():
            return _of_move(form, operand)
        case MatrixForm():
            if operand not in ("a", "b", "c", "d"):
                raise UsageError("operand", operand, "'a', 'b', 'c' or 'd' for an mma")
            return _of_mma(form, operand)


def _form(instruction: str | Spelled | MatrixMove | MatrixForm) -> MatrixMove | MatrixForm:
    match instruction:
        case MatrixMove() | MatrixForm():
            return instruction
        case _:
            return _read(spelling_of(instruction))


@cache
def _read(text: str) -> MatrixMove | MatrixForm:
    opcode, *_ = words = text.split(".")
    if opcode == "mma" or any(is_shape(word) and "k" in word for word in words):
        return matrix_form(text)
    if not known(opcode) and (near := near_misses(opcode, (*MOVES, "mma"))):
        raise UnsupportedForm(f"`{text}` holds no matrix: there is no `{opcode}`; did you mean `{near[0]}`?")
    if opcode not in MOVES and not any(is_shape(word) for word in words):
        raise UnsupportedForm(
            f"`{text}` holds no matrix; the instructions that do are ldmatrix, stmatrix, movmatrix and mma"
        )
    return memory_move(text)


@cache
def _of_move(move: MatrixMove, operand: str | None) -> Fragment:
    bits = move.held.bits
    addressed = move.opcode != "movmatrix"
    if addressed:
        if operand not in (None, "r"):
            raise UsageError("operand", operand, f"left out: {move.opcode} has one operand that holds elements")
        transposed, name = move.trans, "r"
    else:
        if operand not in (None, "a", "d"):
            raise UsageError("operand", operand, "'a' (the source) or 'd' (the destination) for a movmatrix")
        name = operand or "d"
        transposed = name == "d"
    along, line = (Axis.ROW, Axis.COLUMN) if transposed else (Axis.COLUMN, Axis.ROW)
    extents = {Axis.ROW: move.rows, Axis.COLUMN: move.row_elements, Axis.MATRIX: move.num}
    word = min(_WORD_BITS // bits, extents[along] // _QUAD)
    lanes, values = _tile(word, along, line, extents)
    on_hopper = bits == 16 or move.source.name == "s4"
    evidence = Evidence.SILICON if on_hopper else Evidence.DOCUMENTS
    return Fragment(move.spelling, name, lanes, values, bits, bits, 0, _WORD_BITS, addressed, evidence)


@cache
def _of_mma(form: MatrixForm, operand: str) -> Fragment:
    if form.opcode != "mma":
        raise UnsupportedForm(f"the fragments of `{form.opcode}` are not known here")
    rows, columns = form.extent(operand)
    bits = form.container_bits(operand)
    extents = {Axis.ROW: rows, Axis.COLUMN: columns, Axis.MATRIX: 4 if form.quad_pairs else 1}
    if form.quad_pairs:
        lanes, values = _quad_pair(form, operand, extents)
    elif operand == "b":
        lanes, values = _tile(max(_WORD_BITS // bits, 1), Axis.ROW, Axis.COLUMN, extents)
    else:
        word = max(_WORD_BITS // bits, 1) if operand == "a" else columns // _QUAD
        lanes, values = _tile(word, Axis.COLUMN, Axis.ROW, extents)
    element = element_type(form.type_of(operand))
    shift = form.payload_shift(operand)
    evidence = Evidence.DOCUMENTS if form.kind else Evidence.SILICON
    sizes = (element.packed_bits, bits, shift, form.register_bits)
    return Fragment(form.spelling, operand, lanes, values, *sizes, False, evidence)


def _tile(word: int, along: Axis, line: Axis, extents: dict[Axis, int]) -> tuple[tuple[Digit, ...], tuple[Digit, ...]]:
    """The core tile of words of `word` elements, repeated over lines, along them, and over matrices."""
    in_word = _digits(along, 1, word)
    lanes = (*_digits(along, word, word * _QUAD), *_digits(line, 1, _LINES))
    repeated = (
        *_digits(line, _LINES, extents[line]),
        *_digits(along, word * _QUAD, extents[along]),
        *_digits(Axis.MATRIX, 1, extents[Axis.MATRIX]),
    )
    return lanes, (*in_word, *repeated)


def _quad_pair(form: MatrixForm, operand: str, extents: dict[Axis, int]) -> tuple[tuple[Digit, ...], tuple[Digit, ...]]:
    """One of four products held by a pair of quads, each lane a run of a line: `.m8n8k4` with f16 multiplicands."""
    order = {"a": form.a_layout, "b": form.b_layout}.get(operand, "row")
    along, line = (Axis.COLUMN, Axis.ROW) if order == "row" else (Axis.ROW, Axis.COLUMN)
    run = extents[along] if operand in ("c", "d") else 4
    held = [*_digits(line, 1, extents[line]), *_digits(along, run, extents[along])]
    values = list(_digits(along, 1, run))
    if form.type_of(operand) == "f32":  # the wide accumulator trades its second digit with the lane's
        held[1], values[1] = values[1], held[1]
    quad = _digits(Axis.MATRIX, 1, 4)
    return (held[0], held[1], *quad, held[2]), tuple(values)


def _digits(axis: Axis, start: int, stop: int) -> Iterable[Digit]:
    """The binary digits of a coordinate from weight `start` up to, not including, `stop`."""
    return tuple(Digit(axis, 1 << place) for place in range(start.bit_length() - 1, stop.bit_length() - 1))
