"""`mma.m8n8k4` with `.f16`: four products at once, one for each pair of quads. The rows of all four together: 32."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.fragments import fragment
from ptxloom.isa.types import element_type
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.convert import canonical, decode, float_to_half, half_to_float
from ptxloom.machine.tensor.factors import COLUMNS

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.tensor.builder import TensorBuilder

ROWS = 32
DEPTH = 4
_QUAD_PAIRS = 4


class QuadFactors:
    """The multiplicands of four products."""

    def __init__(self, b: TensorBuilder, form: MatrixForm, a: tuple[Value, ...], second: tuple[Value, ...]) -> None:
        self.b = b
        self.rows = ROWS
        self.depth = DEPTH
        held = fragment(form, "a")
        order = [held.holder(matrix=row // 8, row=row % 8, column=k) for k in range(DEPTH) for row in range(ROWS)]
        self._a = _gather(b, a, held, order)
        held = fragment(form, "b")
        order = [
            held.holder(matrix=pair, row=k, column=n)
            for k in range(DEPTH)
            for n in range(COLUMNS)
            for pair in range(_QUAD_PAIRS)
        ]
        self._b = _gather(b, second, held, order)

    def a(self, position: int | Value, first: Value | None = None, rows: int | None = None) -> Value:
        """Rows of a column of `a`."""
        column = self.b.at(self._a, as_index(position), ROWS * 4)
        place = column if first is None else self.b.at(column, first, 4)
        return half_to_float(self.b, self.b.load(vector("i32", rows or ROWS), place, 32))

    def multiplier(self, position: int | Value, n: Value, first: Value | None = None, rows: int | None = None) -> Value:
        """Column `n` of row `position` of each product's `b`, beside the rows it belongs to."""
        b = self.b
        four = b.at(b.at(self._b, n, 16), as_index(position), COLUMNS * 16)
        if first is None:
            spread = b.shuffle(b.load(vector("i32", 4), four, 16), tuple(lane // 8 for lane in range(ROWS)))
        else:
            pair = b.apply("lshr", first, Value("i64", "3"))
            spread = b.splat(b.load("i32", b.at(four, pair, 4), 4), rows or ROWS)
        return half_to_float(b, spread)


def as_index(position: int | Value) -> Value:
    """A position as an `i64`."""
    return position if isinstance(position, Value) else Value("i64", str(position))


def load_quads(b: TensorBuilder, form: MatrixForm, registers: tuple[Value, ...]) -> Value:
    """C as columns of 32 rows of `.f32`."""
    held = fragment(form, "c")
    order = [held.holder(matrix=row // 8, row=row % 8, column=n) for n in range(COLUMNS) for row in range(ROWS)]
    array = _gather(b, registers, held, order)
    with b.loop(COLUMNS) as n:
        place = b.at(array, n, ROWS * 4)
        word = b.load(vector("i32", ROWS), place, 64)
        b.store(decode(b, word, 0, form.c_type), place, 64)
    return array


def store_quads(b: TensorBuilder, form: MatrixForm, array: Value, registers: tuple[Value, ...]) -> None:
    """D from columns of 32 rows of `.f32`."""
    held = fragment(form, "d")
    size = element_type(form.d_type).packed_bits // 8
    order = [held.holder(matrix=row // 8, row=row % 8, column=n) for n in range(COLUMNS) for row in range(ROWS)]
    if size == 2:
        with b.loop(COLUMNS) as n:
            place = b.at(array, n, ROWS * 4)
            b.store(float_to_half(b, b.load(vector("float", ROWS), place, 64)), place, 64)
    stage = b.array(len(registers) * 128)
    table = b.table(tuple(_offset(element) for element in order))
    with b.loop(len(order)) as index:
        value = b.load("i32", b.at(array, index, 4), 4)
        offset = b.resize(b.load("i32", b.at(table, index, 4), 4), 64)
        b.store(b.resize(value, 8 * size), b.offset(stage, offset), size)
    for index, place in enumerate(registers):
        b.store(b.load(vector("i32", 32), b.offset(stage, index * 128), 64), place, 4)


def chain_sum(b: TensorBuilder, factors: QuadFactors, arrays: tuple[Value, Value], *, pairs: bool) -> None:
    """The code that ptxas emits for the form on `sm_80` and later, in `.f32`; see `recipe`."""
    c, d = arrays
    with b.loop(COLUMNS) as n:
        left = [factors.a(place) for place in range(DEPTH)]
        right = [factors.multiplier(place, n) for place in range(DEPTH)]
        addend = b.load(vector("float", ROWS), b.at(c, n, ROWS * 4), 64)
        if pairs:
            for first in (0, 2):
                # A product of two .f16 is exact in .f32.
                start = b.apply("fmul", left[first], right[first])
                addend = b.apply("fadd", addend, _fma(b, left[first + 1], right[first + 1], start))
            result = addend
        else:
            total = b.number(ROWS, "float", 0.0)
            for place in range(DEPTH):
                total = _fma(b, left[place], right[place], total)
            result = b.apply("fadd", addend, total)
        b.store(canonical(b, result), b.at(d, n, ROWS * 4), 64)


def _fma(b: TensorBuilder, first: Value, second: Value, third: Value) -> Value:
    return b.intrinsic("llvm.fma", first, second, third)


def _offset(element: Element) -> int:
    return element.register * 128 + element.lane * 4 + element.bit // 8


def _gather(b: TensorBuilder, registers: tuple[Value, ...], held: Fragment, order: list[Element]) -> Value:
    """Elements in a given order, one to a word."""
    stage = b.array(len(registers) * 128)
    for index, place in enumerate(registers):
        b.store(b.load(vector("i32", 32), place, 4), b.offset(stage, index * 128), 64)
    array = b.array(len(order) * 4)
    table = b.table(tuple(_offset(element) for element in order))
    with b.loop(len(order)) as index:
        offset = b.resize(b.load("i32", b.at(table, index, 4), 4), 64)
        value = b.load(f"i{held.width}", b.offset(stage, offset), held.width // 8)
        b.store(b.resize(value, 32), b.at(array, index, 4), 4)
    return array
