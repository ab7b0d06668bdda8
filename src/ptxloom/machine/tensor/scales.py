"""The scales of block-scaled forms, unpacked: a number and an exponent for each row or column of each block.

Realises PTX ISA 9.7.14.3: scales of A come from two lanes of each quad, the even one's row g and the odd one's row
g + 8; scales of B from one lane of each quad, for its column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.native.ir import Value, count, vector
from ptxloom.machine.tensor.convert import decode
from ptxloom.machine.tensor.doubles import exponent, is_zero, power
from ptxloom.machine.tensor.factors import COLUMNS
from ptxloom.machine.tensor.registers import ROWS, RegisterColumns

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.tensor.builder import TensorBuilder


class ScaleSelectors(NamedTuple):
    """The first byte in the scales' registers, and the lanes of a quad that hold them."""

    a_byte: int = 0
    a_thread: int = 0
    b_byte: int = 0
    b_thread: int = 0

    def fit(self, form: MatrixForm) -> bool:
        """Whether the manual allows them: a block's scales are aligned, and A's lanes are pairs."""
        count = form.scales
        if not count:
            return self == ScaleSelectors()
        bytes_ = range(0, 4, count)
        return (
            self.a_byte in bytes_ and self.b_byte in bytes_ and self.a_thread in range(2) and self.b_thread in range(4)
        )


class Scales:
    """All scales on the stack: `.f64` numbers and `i32` exponents, `[block][row]` and `[block][column]`."""

    def __init__(
        self, b: TensorBuilder, form: MatrixForm, registers: tuple[Value, Value], selectors: ScaleSelectors
    ) -> None:
        self.b = b
        self.rows = form.m
        self._blocks = form.scales
        of_rows, of_columns = self._words(registers, selectors)
        self._a = self._unpacked(of_rows, selectors.a_byte, form.scale_type)
        self._b = self._unpacked(of_columns, selectors.b_byte, form.scale_type)

    def _words(self, registers: tuple[Value, Value], selectors: ScaleSelectors) -> tuple[Value, Value]:
        """The words with the scales of the rows, in the order `ROWS`, and those of the columns, in theirs."""
        b = self.b
        left, right = (RegisterColumns(b, (register,)) for register in registers)
        pair = 2 * selectors.a_thread
        of_rows = b.concat((left.column(0, pair), left.column(0, pair + 1)))
        return of_rows, b.shuffle(right.column(0, selectors.b_thread), [ROWS.index(n) for n in range(COLUMNS)])

    def _unpacked(self, words: Value, byte: int, kind: str) -> tuple[Value, Value]:
        """Arrays of the numbers and of their exponents."""
        b, lanes = self.b, count(words.type)
        values, exponents = b.array(self._blocks * lanes * 8), b.array(self._blocks * lanes * 4)
        for block in range(self._blocks):
            code = b.resize(b.mask(b.shift_right(words, 8 * (byte + block)), 0xFF), 32)
            value, above = _scale(b, code, kind)
            b.store(value, b.offset(values, block * lanes * 8), 64)
            b.store(above, b.offset(exponents, block * lanes * 4), 32)
        return values, exponents

    def of(self, term: Value, terms: int, n: Value, first: Value) -> tuple[Value, Value]:
        """For a term, column `n` and eight rows: the product of both scales, and the sum of their exponents."""
        b = self.b
        block = b.apply("udiv", term, Value("i64", str(terms // self._blocks)))
        found: list[Value] = []
        for (of_row, of_column), kind, size, join in zip(
            zip(self._a, self._b, strict=True), ("double", "i32"), (8, 4), ("fmul", "add"), strict=True
        ):
            rows = b.load(vector(kind, 8), b.at(b.at(of_row, block, self.rows * size), first, size), 8 * size)
            column = b.load(kind, b.at(b.at(of_column, block, COLUMNS * size), n, size), size)
            found.append(b.apply(join, rows, b.splat(column, 8)))
        return found[0], found[1]


def _scale(b: TensorBuilder, byte: Value, kind: str) -> tuple[Value, Value]:
    """The number and the exponent of a scale; the sign of a `.ue4m3` is ignored."""
    if kind == "ue8m0":
        above = b.add(byte, -127)
        nan = b.compare("eq", byte, b.like(byte, 0xFF))
        return b.select(nan, b.like(power(b, above), "0x7FF8000000000000"), power(b, above)), above
    single = decode(b, b.mask(byte, 0x7F), 0, "e4m3")
    above = b.select(is_zero(b, single), b.like(byte, -126), exponent(b, single, -6))
    return b.convert("fpext", single, "double"), above
