"""C and D: registers to columns of `[column][row]` on the stack, and columns back to registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.convert import decode, float_to_half
from ptxloom.machine.tensor.factors import COLUMNS
from ptxloom.machine.tensor.registers import RegisterColumns, columns, store_words

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.tensor.builder import TensorBuilder


def load_columns(b: TensorBuilder, form: MatrixForm, registers: tuple[Value, ...]) -> Value:
    """C as columns of `.f32` values (integers: of their bits)."""
    words = RegisterColumns(b, registers)
    array = b.array(COLUMNS * form.m * 4)
    for n, column in enumerate(columns(form, "c")):
        word = words.rows(column)
        value = word if form.c_type == "s32" else decode(b, word, column.bit, form.c_type)
        b.store(value, b.offset(array, n * form.m * 4), 4 * form.m)
    return array


def store_columns(b: TensorBuilder, form: MatrixForm, array: Value, registers: tuple[Value, ...]) -> None:
    """D from columns of `.f32` values or bits."""
    words: dict[tuple[int, int], Value] = {}
    for n, column in enumerate(columns(form, "d")):
        for tile, register in enumerate(column.registers):
            place = b.offset(array, (n * form.m + 8 * tile) * 4)
            value = b.load(vector("i32", 8), place, 32)
            if form.d_type == "f16":
                value = b.shift_left(float_to_half(b, b.float_of(value)), column.bit)
            key = (register, column.step)
            words[key] = b.apply("or", words[key], value) if key in words else value
    store_words(b, registers, words)
