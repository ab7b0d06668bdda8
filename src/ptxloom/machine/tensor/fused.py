"""The tensor core's fused sum in vector code, exact in every bit: three ways, chosen at run time.

All compute, for one column of D at a time and all rows at once: the largest exponent E among the products and C, all
of them truncated to integers in units of 2^(E - fraction bits), their exact sum, and one rounding.

*Exact* is fastest: where all multiplicands have so few bits, and such exponents, that every sum of products is a
multiple of some 2^u below 2^(u + 22), and C is one too, nothing is truncated and `.f32` holds every partial sum. Small
integers are like this, and quantised values.

*Narrow* is fast and takes finite operands with exponents from -30 to 31 (every finite `.f16`) and a finite C (0, or at
least 2^-96, if all products of a sum are zeros): a product is exact in `.f32`, `fptosi` of the scaled product cuts
toward zero, and the sum of up to 16 products fits in 32 bits: 16 * (2 - 2^-10)^2 * 2^25 = 2^31 - 2^21. C can push it
over; that is detected, and all is repeated the other way. Exponents are added and compared as bytes, 64 at a time.
Several steps are run column by column, so that one column's sums overlap with the next one's.

*Wide* (`wide.py`) takes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.convert import INFINITY, toward_zero
from ptxloom.machine.tensor.doubles import half_value
from ptxloom.machine.tensor.exponents import FLOOR
from ptxloom.machine.tensor.factors import COLUMNS, Window
from ptxloom.machine.tensor.wide import Rule, WideSum, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.tensor.builder import TensorBuilder
    from ptxloom.machine.tensor.exponents import Exponents

_EXACT_BITS = 22  # of the sum of all products where sums are exact anyway; C takes as many, and the sum of both 24
_NARROW_SUM = 1 << 31  # of as many products as there may be
_BLOCK = 4  # columns whose sums are formed side by side
_LEAST_F32 = -126
_FRACTION = FLOAT_FORMATS["f32"].fraction
_MODEST = 60  # exponents with which nothing leaves the range of `.f32`


class FusedSum:
    """One step of a fused sum, over a window of the factors.

    `c` and `d` are columns on the stack: `[column][row]`, `.f32` in and out (a half's value where results are `.f16`).
    """

    def __init__(self, b: TensorBuilder, rule: Rule, window: Window, exponents: Exponents | None) -> None:
        self.b = b
        self.rule = rule
        self.window = window
        self.rows = window.rows
        self._exponents = exponents

    def add(self, c: Value, d: Value) -> None:
        """Add the window's products to `c`; the result is `d`."""
        b = self.b
        if self._exponents is None:
            self._wide(c, d)
        elif self._exponents.ranged:
            with b.when(self.try_exact(c, d)):
                self._exponents.complete()
                self._add_cut(self._exponents, c, d)
        else:
            self._add_cut(self._exponents, c, d)

    def _add_cut(self, exponents: Exponents, c: Value, d: Value) -> None:
        """Add products that may have to be truncated."""
        b = self.b
        if self.window.depth << self.rule.fraction_bits + 2 > _NARROW_SUM:
            self._wide(c, d)
            return
        with b.when(self.narrow(((self.window, None),), exponents, c, d)):
            self._wide(c, d)

    def _is_left(self, flag: Value) -> Value:
        return self.b.compare("ne", self.b.load("i32", flag, 4), Value("i32", "0"))

    # ------------------------------------------------------------------------------------------------------- exact

    def try_exact(self, c: Value, d: Value) -> Value:
        """Form the sums in `.f32` if that is exact; returns whether they still have to be formed."""
        b = self.b
        assert self._exponents is not None
        left = b.array(4)
        b.store(Value("i32", "1"), left, 4)
        one, other = self._exponents.ranges()
        unit = b.apply("add", one.last, other.last)
        # sums of products are below 2^top
        carried = 2 + (self.window.depth - 1).bit_length()
        added = Value("i32", str(carried))
        top = b.apply("add", b.apply("add", one.first, other.first), added)
        bits = min(_EXACT_BITS, self.rule.fraction_bits + carried)
        few = b.compare("sle", b.apply("sub", top, unit), Value("i32", str(bits)))
        modest = b.apply("and", *(b.compare("sle", r.first, Value("i32", str(_MODEST))) for r in (one, other)))
        least = max(-_MODEST, self.rule.least_c - self.rule.fraction_bits)
        modest = b.apply("and", modest, b.compare("sge", unit, Value("i32", str(least))))
        with b.when(b.apply("and", few, modest)), b.when(self._whole_units(unit, c, d)):
            with b.loop(COLUMNS // _BLOCK) as block:
                self._exact_columns(b.apply("mul", block, Value("i64", str(_BLOCK))), d)
            b.store(Value("i32", "0"), left, 4)
        return self._is_left(left)

    def _exact_columns(self, first: Value, d: Value) -> None:
        """Add the products of a few columns to D; each column of `a` is read once for all of them."""
        b, rows = self.b, self.rows
        b.settle(d)  # else LLVM would copy the columns of `a` to the stack before the loop
        columns = [b.apply("add", first, Value("i64", str(index))) for index in range(_BLOCK)]
        places = [b.at(d, n, rows * 4) for n in columns]
        totals = [b.load(vector("float", rows), place, 4 * rows) for place in places]
        for position in range(self.window.depth):
            left = self.window.a(position)
            for index, n in enumerate(columns):
                product = b.apply("fmul contract", left, self.window.multiplier(position, n))
                totals[index] = b.apply("fadd contract", totals[index], product)
        for total, place in zip(totals, places, strict=True):
            result = shortened(b, self.rule, total) if self.rule.wide else half_value(b, total)
            b.store(result, place, 4 * rows)

    def _whole_units(self, unit: Value, c: Value, d: Value) -> Value:
        """Whether every C is a multiple of 2^unit, so few that it is not truncated, and not -0; copies it to D."""
        b, rows = self.b, self.rows
        field = b.apply("shl", b.apply("add", unit, Value("i32", str(127 + 23))), Value("i32", "23"))
        magic = b.float_of(b.splat(b.apply("or", field, Value("i32", str(1 << 22))), rows))  # rounds to units
        changed, moved = b.number(rows, "i32", 0), b.number(rows, "i32", 0)
        too_many = b.apply("add", unit, Value("i32", str(127 + self.rule.fraction_bits + 1)))
        most = b.splat(b.apply("shl", too_many, Value("i32", "23")), rows)
        for column in range(COLUMNS):
            value = b.load(vector("float", rows), b.offset(c, column * rows * 4), 4 * rows)
            lifted = b.apply("fadd", value, magic)
            rounded = b.apply("fsub", lifted, magic)
            changed = b.apply("or", changed, b.apply("xor", b.bits_of(rounded), b.bits_of(value)))
            moved = b.apply("or", moved, b.apply("xor", b.bits_of(lifted), b.bits_of(magic)))
            if self.rule.fraction_bits < _EXACT_BITS:
                above = b.compare("uge", b.mask(b.bits_of(value), 0x7FFFFFFF), most)
                changed = b.apply("or", changed, b.resize(above, 32, signed=True))
            b.store(rounded, b.offset(d, column * rows * 4), 4 * rows)
        # a sum with another exponent than 2^(unit + 23): C is too large, or NaN
        bad = b.apply("or", changed, b.mask(moved, -(1 << 23)))
        return b.compare("eq", b.reduce("or", bad), Value("i32", "0"))

    def _tiny(self, c: Value) -> Value:
        """Whether some C is too small to be taken in the units of a sum without products."""
        b = self.b
        least = b.number(self.rows, "i32", -1)
        for column in range(COLUMNS):
            bits = b.load(least.type, b.offset(c, column * self.rows * 4), 4 * self.rows)
            least = b.both("umin", least, b.add(b.mask(bits, 0x7FFFFFFF), -1))  # zero comes out largest
        return b.any(b.compare("ult", least, b.like(least, _field(FLOOR) - 1)))

    # ------------------------------------------------------------------------------------------------------ narrow

    def narrow(self, steps: Sequence[tuple[Window, Value | None]], exponents: Exponents, c: Value, d: Value) -> Value:
        """The fast way, through one or more steps; returns whether all sums still have to be formed.

        They have to if some multiplicand or C is unfit, or a sum came near 2^31.

        Args:
            steps: The window of each step, and its number if there are several.
            exponents: Those of all multiplicands.
            c: The addends.
            d: The results.
        """
        b = self.b
        left = b.array(4)
        b.store(Value("i32", "1"), left, 4)
        with b.when(b.compare("eq", exponents.unfit, Value("i1", "false"))):
            b.store(b.resize(self._narrow(steps, exponents, c, d), 32), left, 4)
        return self._is_left(left)

    def _narrow(self, steps: Sequence[tuple[Window, Value | None]], exponents: Exponents, c: Value, d: Value) -> Value:
        b, rows = self.b, self.rows
        # leave room for C, and as much again: by hand, a sum is rounded up before it is truncated
        limit = _NARROW_SUM - (4 << self.rule.fraction_bits)
        watched = self.window.depth << self.rule.fraction_bits + 2 > limit
        addends, sums, again = b.array(rows * 4), b.array(rows * 4) if watched else None, b.array(4)
        for place in (addends, sums) if sums else (addends,):
            b.store(b.number(rows, "i32", 0), place, 4 * rows)
        b.store(Value("i32", "0"), again, 4)
        largest: list[Value] = []
        empty = Value("i1", "false")
        for window, number in steps:
            found, is_empty = (exponents if number is None else exponents.at_step(number)).largest(window.depth)
            largest.append(found)
            empty = b.apply("or", empty, is_empty)
        if self.rule.floor <= FLOOR:
            with b.when(empty):
                b.store(b.resize(self._tiny(c), 32), again, 4)
        with b.loop(COLUMNS) as n:
            value = b.load(vector("float", rows), b.at(c, n, rows * 4), 4 * rows)
            self._note(addends, b.mask(b.bits_of(value), INFINITY))
            for (window, _), fields in zip(steps, largest, strict=True):
                most = b.load(vector("i8", rows), b.at(fields, n, rows), rows)
                value = self._cut(value, b.shift_left(b.resize(most, 32), _FRACTION), (window, n), sums)
            b.store(value, b.at(d, n, rows * 4), 4 * rows)
        # of a finite C, products below 2^69 make nothing infinite: if C is that large, they are truncated to nothing
        unfit = self._some(addends, INFINITY)
        if sums:
            unfit = b.apply("or", unfit, self._some(sums, limit))
        return b.apply("or", unfit, self._is_left(again))

    def _some(self, place: Value, limit: int) -> Value:
        """Whether a number in a column is not below a limit."""
        found = self.b.load(vector("i32", self.rows), place, 4 * self.rows)
        return self.b.any(self.b.compare("sge", found, self.b.like(found, limit)))

    def _note(self, place: Value, value: Value) -> None:
        """Track the largest of a column."""
        found = self.b.load(value.type, place, 4 * self.rows)
        self.b.store(self.b.both("smax", found, value), place, 4 * self.rows)

    def _cut(self, addend: Value, fields: Value, share: tuple[Window, Value], sums: Value | None) -> Value:
        """One step of one column; notes the largest sum. Exponents are in the position of an `.f32`'s."""
        b, rows, fraction = self.b, self.rows, self.rule.fraction_bits
        window, n = share
        own = b.mask(b.bits_of(addend), INFINITY)
        if self.rule.least_c > _LEAST_F32:  # a subnormal of a narrower type
            zero = b.compare("eq", own, b.like(own, 0))
            own = b.select(zero, own, b.both("umax", own, b.like(own, _field(self.rule.least_c))))
        most = b.both("umax", fields, own)
        if self.rule.floor > FLOOR:
            most = b.both("umax", most, b.like(most, _field(self.rule.floor)))
        scale = b.float_of(b.apply("sub", b.like(most, _field(127 + fraction)), most))
        total = b.number(rows, "i32", 0)
        for position in range(window.depth):
            product = b.apply("fmul", window.a(position), window.multiplier(position, n))
            total = b.apply("add", total, b.convert("fptosi", b.apply("fmul", product, scale), "i32"))
        if sums:
            self._note(sums, b.absolute(total))
        total = b.apply("add", total, b.convert("fptosi", b.apply("fmul", addend, scale), "i32"))
        unit = b.float_of(b.add(most, -(fraction << _FRACTION)))
        cut = toward_zero(b, total, odd=not self.rule.wide)
        result = shortened(b, self.rule, b.apply("fmul", cut, unit))
        return result if self.rule.wide else half_value(b, result)

    # -------------------------------------------------------------------------------------------------------- wide

    def _wide(self, c: Value, d: Value) -> None:
        WideSum(self.b, self.rule, self.window).add(c, d)


def _field(exponent: int) -> int:
    """An exponent in the position of an `.f32`'s: also the bits of a power of two."""
    return exponent + 127 << _FRACTION
