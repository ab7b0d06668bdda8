"""The rule from which every fragment follows, PTX ISA 9.7.14.5.1-5.14 (mma), 5.15-5.17 (matrix moves).

*Lines* are the rows of A, C and D, and the columns of B; an element's place in its line runs *along* it. One core
tile is 8 lines of 4 lanes, each lane holding a word: lane l holds word l % 4 of line l / 4. A word is 32 bits, the
elements next to each other along the line and packed from bit 0 upwards; one element if that is wider, and never
more than a fourth of the line. Accumulators are 8 wide, so their words are two elements at any width. What one core
tile does not cover is covered by repeating it: first over the lines, then along them, then over the matrices; each
repetition takes the next word of the lane's registers.

A line of ldmatrix and stmatrix is an addressed row of 16 bytes. `.trans` exchanges the roles: lines are the columns
of what the rows hold. Other fragments of core tiles are described in their modules: warpgroups and metadata
(`products`), the fragments of `wmma` (`wmma`), tensor memory (`tensor_memory`, `tensor_operands`).

One form is older than this rule: `.m8n8k4` with f16 multiplicands, made for Volta, computes four products, each by
one pair of quads: lanes 4q to 4q+3 and 16+4q to 19+4q. Within a pair each lane holds as many elements of one line as
it has registers for.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.descriptors.tensor_instruction import TensorInstruction, is_tensor_product, tensor_instruction
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments.model import Axis, Evidence, Fragment
from ptxloom.fragments.products import operands_held, product_fragment
from ptxloom.fragments.tensor_memory import copy_fragment, shift_fragment, tensor_memory_fragment
from ptxloom.fragments.tensor_operands import tensor_fragment, tensor_operands
from ptxloom.fragments.tiles import QUAD, WORD_BITS, tile
from ptxloom.fragments.wmma import wmma_fragment
from ptxloom.isa import known
from ptxloom.isa.form import Form
from ptxloom.isa.matrix import MOVES, MatrixMove, memory_move, transpose
from ptxloom.isa.products import PRODUCTS, MatrixForm, form_of, matrix_form
from ptxloom.isa.resolution.forms import resolve
from ptxloom.isa.shapes import is_shape
from ptxloom.isa.short import HOLDERS, PARTS
from ptxloom.isa.spelled import spelling_of
from ptxloom.isa.spelling import near_misses
from ptxloom.isa.vectors import vector_length

if TYPE_CHECKING:
    from ptxloom.descriptors.instruction import InstructionDescriptor
    from ptxloom.isa.spelled import Spelled


def fragment(
    instruction: str | Spelled | MatrixMove | MatrixForm | TensorInstruction,
    operand: str | None = None,
    *,
    descriptor: InstructionDescriptor | int | None = None,
) -> Fragment:
    """Where every element of a matrix operand lives that a warp, a warpgroup or tensor memory holds.

    Realises PTX ISA 9.7.14.4 to 9.7.14.6, 9.7.15.5 and 9.7.16.8 to 9.7.16.10; this module's docstring has the rule.

    Args:
        instruction: A spelling, full or short (`m8n8.x4.b16` is an ldmatrix, `m16n8.x4.trans.b8` a
            stmatrix, `m16n8k16...` an mma, `m64n8k16...` a wgmma), an instruction
            of a parsed module, or a form. D's shape and the types of a `tcgen05.mma` follow its qualifiers, as in
            `tcgen05.mma.cta_group::2.kind::f16.m256n128k16.f32.f16.f16`, or come from its descriptor.
        operand: "a", "b", "c" or "d" of mma and wmma.mma, "a" (if it is in registers) or "d" of wgmma, "e" for the
            metadata of sparse ones; "d", "a", "e", "sfa" and "sfb" (scales) of tcgen05.mma; "a" or "d" of movmatrix
            (d if left out); empty for an instruction with a single one.
        descriptor: The instruction descriptor of a tcgen05.mma, or its 32 bits.

    Returns:
        A one-to-one map (lane, register, bit) <-> (matrix, row, column); of wmma, registers may repeat others.

    Raises:
        UnsupportedForm: The instruction does not exist or holds no matrix.
        UsageError: It has no such operand.

    Example:
        >>> f = fragment("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
        >>> f.holder(matrix=1, row=3, column=5)
        Element(lane=21, register=1, bit=16, width=16, matrix=1, row=3, column=5)
        >>> fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a").registers
        4
        >>> fragment("wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16", "d").holder(row=50, column=40)
        Element(lane=104, register=20, bit=0, width=32, matrix=0, row=50, column=40)
    """
    match _form(instruction, descriptor):
        case TensorInstruction() as product:
            return tensor_fragment(product, operand)
        case MatrixMove() as move:
            return _of_move(move, operand)
        case MatrixForm(opcode="wmma") as product:
            if operand is None or operand not in operands_held(product):
                raise UsageError("operand", operand, "'a', 'b', 'c' or 'd' for a wmma.mma")
            return wmma_fragment(product, operand, product.spelling)
        case MatrixForm() as product:
            return product_fragment(product, operand)
        case Form() as part:
            if operand not in (None, "r"):
                raise UsageError("operand", operand, f"left out: {part.opcode} has one that holds elements here")
            return _of_part(part)


@cache
def transposition() -> tuple[int, ...]:
    """For each half of movmatrix's destination, by lane, the half of the source that it receives."""
    source, destination = fragment(transpose(), "a"), fragment(transpose(), "d")
    held = (source.holder(row=e.row, column=e.column) for e in destination)
    return tuple(2 * half.lane + source.value_of(half) for half in held)


def fragment_operands(
    instruction: str | Spelled | MatrixMove | MatrixForm | TensorInstruction,
    descriptor: InstructionDescriptor | int | None = None,
) -> tuple[str | None, ...]:
    """The values of `operand` that `fragment` accepts for an instruction; None if it has a single one.

    Raises:
        UnsupportedForm: The instruction does not exist or holds no matrix.

    Example:
        >>> fragment_operands("m16n8k16.row.col.f32.f16.f16.f32"), fragment_operands("ldmatrix.m8n8.x4.b16")
        (('a', 'b', 'c', 'd'), (None,))
    """
    form = _form(instruction, descriptor)
    if isinstance(form, TensorInstruction):
        return tensor_operands(form)
    if isinstance(form, MatrixForm):
        return operands_held(form)
    return ("a", "d") if form.opcode == "movmatrix" else (None,)


def _form(
    instruction: str | Spelled | MatrixMove | MatrixForm | TensorInstruction,
    descriptor: InstructionDescriptor | int | None,
) -> MatrixMove | MatrixForm | Form | TensorInstruction:
    if isinstance(instruction, (MatrixMove, MatrixForm, TensorInstruction)):
        found = instruction
    else:
        text = spelling_of(instruction)
        if is_tensor_product(text):
            if descriptor is None and not isinstance(instruction, str):
                raise UnsupportedForm(f"`{text}`: its instruction descriptor defines the product; pass it")
            return tensor_instruction(text, descriptor)
        found = _read(text)
    if descriptor is not None:
        raise UsageError("descriptor", descriptor, "left out: only a tcgen05.mma has an instruction descriptor")
    return found


@cache
def _read(text: str) -> MatrixMove | MatrixForm | Form:
    opcode, *words = text.split(".")
    if not set(PARTS.get(opcode, ())).isdisjoint(words):
        return _part(opcode, tuple(words), text)
    if opcode in PRODUCTS or any(is_shape(word) and "k" in word for word in (opcode, *words)):
        return matrix_form(text)
    if not known(opcode) and (near := near_misses(opcode, HOLDERS)):
        raise UnsupportedForm(f"`{text}` holds no matrix: there is no `{opcode}`; did you mean `{near[0]}`?")
    if opcode not in MOVES and not any(is_shape(word) for word in (opcode, *words)):
        *most, last = HOLDERS
        raise UnsupportedForm(f"`{text}` holds no matrix; forms of {', '.join(most)} and {last} do")
    return memory_move(text)


def _part(opcode: str, words: tuple[str, ...], text: str) -> Form:
    """The form of a load or a store of a fragment."""
    if {"cp", "shift"}.isdisjoint(words):
        words = (*words, *(word for word in ("sync", "aligned") if word not in words))
    form = resolve(opcode, words).form
    if form is None:
        from ptxloom.isa.resolution.phrase import reasons  # noqa: PLC0415 - only a miss needs the words

        raise UnsupportedForm(f"`{text}` is not a form of `{opcode}`: {reasons(opcode, words)}")
    if ("shape" not in form.filling and "shift" not in words) or "spfactor" in form.filling:
        raise UnsupportedForm(f"`{text}` holds no matrix")
    return form


def _of_part(form: Form) -> Fragment:
    if "cp" in form.words:
        return copy_fragment(form)
    if "shift" in form.words:
        return shift_fragment(form)
    operand = next(slot.name for slot in form.line.operands if form.spec.operands[slot.name].kind == "fragment")
    if form.opcode == "tcgen05":
        return tensor_memory_fragment(form, vector_length(form, operand))
    role = next(matrix for matrix in "abcd" if form.filling.get(matrix))
    return wmma_fragment(form_of(form), role, form.spelling)


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
    word = min(WORD_BITS // bits, extents[along] // QUAD)
    lanes, values = tile(word, along, line, extents)
    on_hopper = bits == 16 or move.source.name == "s4"
    evidence = Evidence.SILICON if on_hopper else Evidence.DOCUMENTS
    return Fragment(move.spelling, name, lanes, values, bits, bits, 0, WORD_BITS, addressed, evidence)
