"""The sums that are exact or IEEE step by step: integers, single bits, and double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.machine.native.ir import Value, count, suffix, vector
from ptxloom.machine.tensor.accumulators import load_columns, store_columns
from ptxloom.machine.tensor.factors import COLUMNS, Window
from ptxloom.machine.tensor.registers import Column, RegisterColumns, columns

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.tensor.builder import TensorBuilder

Registers: TypeAlias = tuple[Value, ...]
#: D, A, B and C.
Operands: TypeAlias = tuple[Registers, Registers, Registers, Registers]

_QUIET = 1 << 51
_INFINITY = FLOAT_FORMATS["f64"].infinity
_DEFAULT_NAN = -(1 << 51)  # 0xfff8000000000000
#: Operands of `llvm.set.rounding`.
_MODES = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}


def integer_sum(b: TensorBuilder, form: MatrixForm, window: Window, c: Registers, d: Registers) -> None:
    """Products and sums of integers in `.f32`: all below 2^24, so exact. C is added once, wrapping or saturating."""
    addends = load_columns(b, form, c)
    results = b.array(COLUMNS * window.rows * 4)
    integer_columns(b, form, window, addends, results)
    store_columns(b, form, results, d)


def integer_columns(b: TensorBuilder, form: MatrixForm, window: Window, addends: Value, results: Value) -> None:
    """`integer_sum` from columns to columns."""
    rows = window.rows
    with b.loop(COLUMNS) as n:
        total = b.number(rows, "float", 0.0)
        for position in range(window.depth):
            product = b.apply("fmul contract", window.a(position), window.multiplier(position, n))
            total = b.apply("fadd contract", total, product)
        _add_integers(b, form, (b.convert("fptosi", total, "i32"), n), addends, results)


def bit_sum(b: TensorBuilder, form: MatrixForm, operands: Operands) -> None:
    """Population counts of `a & b` or `a ^ b`."""
    d, a, second, c = operands
    words = RegisterColumns(b, a)
    left = [words.rows(column) for column in columns(form, "a") if column.bit == 0]
    right = [column for column in columns(form, "b") if column.bit == 0]
    addends = load_columns(b, form, c)
    results = b.array(COLUMNS * form.m * 4)
    with b.loop(COLUMNS) as n:
        total = b.number(form.m, "i32", 0)
        for word, column in zip(left, right, strict=True):
            scalar = b.load("i32", b.at(second[column.registers[0]], n, 16, column.step * 4), 4)
            met = b.apply(form.bit_operation, word, b.splat(scalar, form.m))
            total = b.apply("add", total, b.intrinsic("llvm.ctpop", met))
        _add_integers(b, form, (total, n), addends, results)
    store_columns(b, form, results, d)


def _add_integers(
    b: TensorBuilder, form: MatrixForm, total: tuple[Value, Value], addends: Value, results: Value
) -> None:
    value, n = total
    addend = b.load(value.type, b.at(addends, n, form.m * 4), 4 * form.m)
    value = b.both("sadd.sat", value, addend) if form.satfinite else b.apply("add", value, addend)
    b.store(value, b.at(results, n, form.m * 4), 4 * form.m)


def double_sum(b: TensorBuilder, form: MatrixForm, operands: Operands) -> None:
    """Chains of IEEE fused multiply-adds; repeated with exact payloads if one of them ends as a NaN."""
    d, a, second, c = operands
    rows = form.m
    left = [_double_rows(b, a, column) for column in columns(form, "a")]
    right = columns(form, "b")
    results = b.array(COLUMNS * rows * 8)
    for n, column in enumerate(columns(form, "c")):
        b.store(_double_rows(b, c, column), b.offset(results, n * rows * 8), 64)
    chain = _Chain(b, form.rounding, rows)
    chain.set_mode()
    with b.loop(COLUMNS) as n:
        place = b.at(results, n, rows * 8)
        start = b.load(vector("double", rows), place, 64)
        factors = [
            (value, b.splat(b.load("double", b.at(second[column.registers[0]], n, 32, column.step * 8), 8), rows))
            for value, column in zip(left, right, strict=True)
        ]
        value = start
        for first, other in factors:
            value = chain.fma(first, other, value)
        b.store(value, place, 64)
        with b.when(b.any(chain.is_nan(value))):
            value = start
            for first, other in factors:
                value = chain.fma_with_payload(first, other, value)
            b.store(value, place, 64)
    chain.restore_mode()
    _store_doubles(b, form, results, d)


class _Chain:
    """Fused multiply-adds in one rounding mode."""

    def __init__(self, b: TensorBuilder, rounding: str, rows: int) -> None:
        self.b = b
        self._mode = _MODES[rounding or "rn"]
        self._name = f"llvm.experimental.constrained.fma.{suffix(vector('double', rows))}"
        b.attributes.append("strictfp")
        kind = vector("double", rows)
        declaration = f"declare {kind} @{self._name}({kind}, {kind}, {kind}, metadata, metadata)"
        b.declarations.setdefault(self._name, declaration)
        b.declarations.setdefault("llvm.set.rounding", "declare void @llvm.set.rounding(i32)")

    def set_mode(self) -> None:
        """From here on, round by the form."""
        if self._mode != _MODES["rn"]:
            self.b.do(f"call void @llvm.set.rounding(i32 {self._mode}) strictfp")

    def restore_mode(self) -> None:
        """From here on, round to nearest even."""
        if self._mode != _MODES["rn"]:
            self.b.do(f"call void @llvm.set.rounding(i32 {_MODES['rn']}) strictfp")

    def fma(self, first: Value, second: Value, third: Value) -> Value:
        """One step."""
        operands = f'{first}, {second}, {third}, metadata !"round.dynamic", metadata !"fpexcept.ignore"'
        return self.b.emit(third.type, f"call {third.type} @{self._name}({operands}) strictfp")

    def is_nan(self, value: Value) -> Value:
        """By the bits, since comparing floats is not free of side effects here."""
        b = self.b
        magnitude = b.mask(b.bits_of(value), (1 << 63) - 1)
        return b.compare("sgt", magnitude, b.like(magnitude, _INFINITY))

    def fma_with_payload(self, first: Value, second: Value, third: Value) -> Value:
        """One step, with NaNs propagated like the hardware: the second operand's first, then the third's."""
        b = self.b
        result = self.fma(first, second, third)
        bits = b.select(self.is_nan(result), b.number(count(result.type), "i64", _DEFAULT_NAN), b.bits_of(result))
        for operand in (first, third, second):
            quiet = b.apply("or", b.bits_of(operand), b.like(bits, _QUIET))
            bits = b.select(self.is_nan(operand), quiet, bits)
        return b.float_of(bits)


def _double_rows(b: TensorBuilder, registers: Registers, column: Column) -> Value:
    """A column of 64-bit registers, rows in their natural order."""
    parts: list[Value] = []
    for register in column.registers:
        lanes = b.load(vector("double", 32), registers[register], 8)
        parts.append(b.shuffle(lanes, tuple(range(column.step, 32, 4))))
    return b.concat(tuple(parts))


def _store_doubles(b: TensorBuilder, form: MatrixForm, results: Value, d: Registers) -> None:
    parts: dict[tuple[int, int], Value] = {}
    for n, column in enumerate(columns(form, "d")):
        for tile, register in enumerate(column.registers):
            place = b.offset(results, (n * form.m + 8 * tile) * 8)
            parts[register, column.step] = b.load(vector("double", 8), place, 64)
    for index, place in enumerate(d):
        whole = b.concat(tuple(parts[index, step] for step in range(4)))
        b.store(b.shuffle(whole, tuple(8 * (lane % 4) + lane // 4 for lane in range(32))), place, 8)
