"""The fused sum of anything: products in `.f64`, and IEEE arithmetic beside it to see infinities and NaNs.

The terms of a sum are single products, or groups of products that an architecture sums exactly before alignment.
Block-scaled forms multiply every term by its row's and its column's scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.doubles import exponent, is_zero, power, rounded, special
from ptxloom.machine.tensor.factors import COLUMNS, Window

if TYPE_CHECKING:
    from ptxloom.machine.tensor.builder import TensorBuilder
    from ptxloom.machine.tensor.scales import Scales

_F32_FRACTION_BITS: Final = FLOAT_FORMATS["f32"].fraction
_NOTHING: Final = -400  # an exponent below all others


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of a fused sum.

    Attributes:
        fraction_bits: The bits kept below the largest exponent.
        wide: Whether the result is `.f32`, else `.f16`.
        least: The least exponents of the multiplicands of A and of B.
        group: The number of products that are added exactly, and aligned as one.
        floor_depth: How far below the result's least exponent the alignment exponent may be.
    """

    fraction_bits: int
    wide: bool
    least: tuple[int, int]
    group: int = 1
    floor_depth: int = 7

    @property
    def least_c(self) -> int:
        """The least exponent of C, which has the result's type."""
        return -126 if self.wide else -14

    @property
    def floor(self) -> int:
        """The least exponent for alignment: smaller terms lose bits too far below it."""
        return self.least_c - self.floor_depth

    @property
    def dropped(self) -> int:
        """The number of low bits of an `.f32` result that are zero: it has no more bits than the sum."""
        return max(_F32_FRACTION_BITS - self.fraction_bits, 0) if self.wide else 0


def shortened(b: TensorBuilder, rule: Rule, result: Value) -> Value:
    """A finite `.f32` result without the bits that the sum does not keep."""
    return b.float_of(b.mask(b.bits_of(result), -(1 << rule.dropped))) if rule.dropped else result


class WideSum:
    """One step of a fused sum over a window of the factors; C and D as in `FusedSum`."""

    def __init__(self, b: TensorBuilder, rule: Rule, window: Window, scales: Scales | None = None) -> None:
        self.b = b
        self.rule = rule
        self.window = window
        self._scales = scales
        self._floor = rule.floor if scales is None else _NOTHING  # scaled forms: not measured so far down
        self._terms = window.depth // rule.group

    def add(self, c: Value, d: Value) -> None:
        """Add the window's products to `c`; the result is `d`."""
        b, rows = self.b, self.window.rows
        with b.loop(COLUMNS) as n, b.loop(rows // 8) as tile:
            first = b.apply("shl", tile, Value("i64", "3"))
            places = tuple(b.at(b.at(array, n, rows * 4), first, 4) for array in (c, d))
            self._column(n, first, (places[0], places[1]))

    def _column(self, n: Value, first: Value, places: tuple[Value, Value]) -> None:
        b, fraction = self.b, self.rule.fraction_bits
        addend = b.load(vector("float", 8), places[0], 32)
        own = b.convert("fpext", addend, "double")
        largest = b.select(is_zero(b, addend), b.number(8, "i32", self._floor), exponent(b, addend, self.rule.least_c))
        most, ieee, total = b.array(32), b.array(64), b.array(64)
        b.store(largest, most, 32)
        b.store(own, ieee, 64)
        with b.loop(self._terms) as term:
            value, above = self._term(term, n, first)
            b.store(b.both("smax", b.load(above.type, most, 32), above), most, 32)
            b.store(b.apply("fadd", b.load(value.type, ieee, 64), value), ieee, 64)
        largest = b.load(largest.type, most, 32)
        scale = power(b, b.apply("sub", b.like(largest, fraction), largest))
        b.store(self._cut(own, scale), total, 64)
        with b.loop(self._terms) as term:
            cut = self._cut(self._term(term, n, first)[0], scale)
            b.store(b.apply("fadd", b.load(cut.type, total, 64), cut), total, 64)
        exact = b.apply("fmul", b.load(own.type, total, 64), power(b, b.add(largest, -fraction)))
        finite = shortened(b, self.rule, rounded(b, exact, wide=self.rule.wide))
        b.store(special(b, b.load(own.type, ieee, 64), finite), places[1], 32)

    def _cut(self, value: Value, scale: Value) -> Value:
        """Truncate to units of the last kept bit, toward zero."""
        return self.b.intrinsic("llvm.trunc", self.b.apply("fmul", value, scale))

    def _term(self, term: Value, n: Value, first: Value) -> tuple[Value, Value]:
        """A term, exactly, and its exponent for alignment."""
        b = self.b
        if self.rule.group == 1:
            value, above = self._product(term, n, first)
        else:
            value, above = self._group(term, n, first), b.number(8, "i32", 0)
        if self._scales is not None:
            factor, more = self._scales.of(term, self._terms, n, first)
            value, above = b.apply("fmul", value, factor), b.apply("add", above, more)
        if self.rule.group == 1:
            above = b.select(is_zero(b, value), b.number(8, "i32", _NOTHING), above)
        return value, above

    def _product(self, position: Value, n: Value, first: Value) -> tuple[Value, Value]:
        """A product, and the sum of its factors' exponents."""
        b = self.b
        factors = self.window.a(position, first, 8), self.window.multiplier(position, n, first, 8)
        exponents = (exponent(b, value, least) for value, least in zip(factors, self.rule.least, strict=True))
        left, right = (b.convert("fpext", value, "double") for value in factors)
        return b.apply("fmul", left, right), b.apply("add", *exponents)

    def _group(self, term: Value, n: Value, first: Value) -> Value:
        """The exact sum of a group of products."""
        b, size = self.b, self.rule.group
        total = b.array(64)
        b.store(b.number(8, "double", "0.0"), total, 64)
        start = b.apply("mul", term, Value("i64", str(size)))
        with b.loop(size) as index:
            product, _ = self._product(b.apply("add", start, index), n, first)
            b.store(b.apply("fadd", b.load(product.type, total, 64), product), total, 64)
        return b.load(vector("double", 8), total, 64)
