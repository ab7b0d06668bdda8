"""The exponents of multiplicands, determined before a sum is formed: of each, and of all together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.factors import COLUMNS, SUMMARY_BYTES

if TYPE_CHECKING:
    from ptxloom.machine.tensor.builder import TensorBuilder
    from ptxloom.machine.tensor.factors import Factors

LEAST_FIELD, MOST_FIELD = 97, 158  # exponents -30 and 31
FLOOR = -96  # means no product, and keeps the scale finite
_FITNESS, _LAST, _FIRST = 0, 4, 8  # offsets in a summary
_UNKNOWN = 2  # not yet known whether all suit the narrow way
_FOUR = 4  # columns processed together
_SUBNORMAL = -1000  # far below what could be exact
_HIDDEN = 1 << 23


class ExponentRange(NamedTuple):
    """A range of floats, as `i32`: an exponent below which they have no bits, and that of the largest's first bit."""

    last: Value
    first: Value


class Exponents:
    """The exponents of both multiplicands as bytes, whether all of them suit the narrow way, and their range.

    They are stored after the floats of `factors`: first their range; the bytes only when needed.
    """

    def __init__(self, b: TensorBuilder, factors: Factors, least: tuple[int, int], *, ranged: bool = False) -> None:
        self.b = b
        self.rows = factors.rows
        self.ranged = ranged
        self._factors = factors
        self._least = least
        self._offsets = tuple(factors.b_offset(place) // 4 for place in factors.positions)
        self._column_bytes = factors.lane_bytes
        self._shares = (
            factors.depth * factors.rows,
            len(factors.planes) * factors.depth // len(factors.positions) * 64,
        )
        self._a = b.offset(factors.a_array, factors.a_floats * 4)
        self._b = b.offset(factors.b_array, factors.b_floats * 4)
        self._step = Value("i64", "0")

    def survey_a(self) -> None:
        """Determine the range of `a`."""
        self._survey(self._factors.a_array, self._factors.a_floats, self._summaries()[0], self._least[0])

    def survey_b(self) -> None:
        """Determine the range of `b`."""
        self._survey(self._factors.b_array, self._factors.b_floats, self._summaries()[1], self._least[1])

    def scan(self) -> None:
        """Find all exponents."""
        first, second = self._summaries()
        self._scan_a(first)
        self._scan_b(second)

    def complete(self) -> None:
        """Find the exponents of `a` and `b` that are not known yet."""
        for summary, scan in zip(self._summaries(), (self._scan_a, self._scan_b), strict=True):
            place = self.b.offset(summary, _FITNESS)
            unknown = self.b.compare("eq", self.b.load("i32", place, 4), _word(_UNKNOWN))
            with self.b.when(unknown):
                scan(summary)

    def _scan_a(self, summary: Value) -> None:
        b, factors = self.b, self._factors
        scan = _Scan(b, self._least[0])
        for start in range(0, factors.a_floats, 32):
            b.store(scan.exponents(factors.a_array, start), b.offset(self._a, start), 32)
        scan.store(summary)

    def _scan_b(self, summary: Value) -> None:
        b, factors = self.b, self._factors
        scan = _Scan(b, self._least[1])
        for start in range(0, factors.b_floats, 32):
            # Each 16 bytes twice, so that a byte can be spread over a vector from within its half.
            found = scan.exponents(factors.b_array, start)
            for half in (0, 16):
                twice = b.shuffle(found, tuple(range(half, half + 16)) * 2)
                b.store(twice, b.offset(self._b, 2 * (start + half)), 32)
        scan.store(summary)

    def _survey(self, array: Value, floats: int, summary: Value, least: int) -> None:
        b = self.b
        bits, largest, smallest = b.number(32, "i32", 0), b.number(32, "i32", 0), b.number(32, "i32", -1)
        for start in range(0, floats, 32):
            word = b.load(bits.type, b.offset(array, start * 4), 64)
            magnitude = b.mask(word, 0x7FFFFFFF)
            bits = b.apply("or", bits, word)
            largest = b.both("umax", largest, magnitude)
            smallest = b.both("umin", smallest, b.add(magnitude, -1))  # zero comes out largest
        found = _range(b, b.reduce("or", bits), b.reduce("umax", largest), b.reduce("umin", smallest))
        for place, value in (
            (_FITNESS, _word(_UNKNOWN)),
            (_LAST, found.last),
            (_FIRST, b.both("smax", found.first, _word(least))),
        ):
            b.store(value, b.offset(summary, place), 4)

    @property
    def unfit(self) -> Value:
        """Whether some multiplicand does not suit the narrow way, `i1`."""
        flags = [self.b.load("i32", self.b.offset(place, _FITNESS), 4) for place in self._summaries()]
        return self.b.compare("ne", self.b.apply("or", *flags), _word(0))

    def ranges(self) -> tuple[ExponentRange, ExponentRange]:
        """The ranges of `a` and `b`."""
        b = self.b
        first, second = (
            ExponentRange(b.load("i32", b.offset(place, _LAST), 4), b.load("i32", b.offset(place, _FIRST), 4))
            for place in self._summaries()
        )
        return first, second

    def _summaries(self) -> tuple[Value, Value]:
        factors = self._factors
        return (
            self.b.offset(factors.a_array, factors.a_bytes - SUMMARY_BYTES),
            self.b.offset(factors.b_array, factors.b_bytes - SUMMARY_BYTES),
        )

    def at_step(self, step: Value) -> Exponents:
        """The exponents of a step's share."""
        self._step = step
        return self

    def largest(self, depth: int) -> tuple[Value, Value]:
        """The largest sum of exponents of each row for each column, in the form of an `.f32`: `[n][row]` of bytes.

        Also whether some row has no products in some column, `i1`.
        """
        b, rows = self.b, self.rows
        array = b.array(COLUMNS * rows)
        left_base, right_base = (
            b.at(base, self._step, size) for base, size in zip((self._a, self._b), self._shares, strict=True)
        )
        least = b.number(_FOUR * rows, "i8", 127)
        for first in range(0, COLUMNS, _FOUR):
            result = b.number(_FOUR * rows, "i8", FLOOR)
            for position in range(depth):
                left = b.load(vector("i8", rows), b.offset(left_base, position * rows), rows)
                left = b.shuffle(left, tuple(range(rows)) * _FOUR)
                right = self._right(right_base, first, self._offsets[position])
                result = b.both("smax", result, b.both("sadd.sat", left, right))
            least = b.both("smin", least, result)
            b.store(b.add(result, 127), b.offset(array, first * rows), _FOUR * rows)
        return array, b.any(b.compare("eq", least, b.like(least, FLOOR)))

    def _right(self, base: Value, first: int, byte: int) -> Value:
        """The exponents of a row of `b` in four columns, each repeated for every row."""
        b, column_bytes = self.b, self._column_bytes
        within = byte % column_bytes
        start = byte - within + first * column_bytes
        size = 2 * _FOUR * column_bytes  # each 16 bytes twice
        several = b.load(vector("i8", size), b.offset(base, 2 * start), size)
        places = [column * column_bytes + within for column in range(_FOUR)]
        found = [at // 16 * 32 + column % 2 * 16 + at % 16 for column, at in enumerate(places)]
        return b.shuffle(several, [found[lane // self.rows] for lane in range(_FOUR * self.rows)])


class _Scan:
    """Goes over floats, 32 at a time."""

    def __init__(self, b: TensorBuilder, least_exponent: int) -> None:
        self.b = b
        self._least = least_exponent
        self._unfit = b.number(32, "i1", "false")

    def exponents(self, array: Value, start: int) -> Value:
        """The exponents of 32 floats as bytes; zeros have -127."""
        b = self.b
        bits = b.load(vector("i32", 32), b.offset(array, start * 4), 64)
        field = b.resize(b.shift_right(b.shift_left(bits, 1), 24), 8)
        zero = b.compare("eq", field, b.like(field, 0))
        exponent = b.add(field, -127)
        outside = b.compare("ugt", field, b.like(field, MOST_FIELD - 256))
        if self._least > -30:
            exponent = b.both("smax", exponent, b.like(exponent, self._least))
        else:
            # A subnormal has field 0 too, but is not a zero.
            small = b.compare("ult", b.add(field, -1), b.like(field, LEAST_FIELD - 1))
            subnormal = b.apply("and", zero, b.compare("ne", b.mask(bits, 0x7FFFFFFF), b.like(bits, 0)))
            outside = b.apply("or", b.apply("or", outside, small), subnormal)
        self._unfit = b.apply("or", self._unfit, outside)
        return b.select(zero, b.like(field, -127), exponent)

    def store(self, summary: Value) -> None:
        """Store whether all suit the narrow way."""
        b = self.b
        b.store(b.resize(b.any(self._unfit), 32), b.offset(summary, _FITNESS), 4)


def _range(b: TensorBuilder, bits: Value, largest: Value, smallest: Value) -> ExponentRange:
    """From all bits of some floats, the largest magnitude, and the smallest of those that are not zero, less 1."""
    zeros = b.intrinsic("llvm.cttz", b.apply("or", bits, _word(_HIDDEN)), Value("i1", "true"))
    field = b.apply("lshr", b.apply("add", smallest, _word(1)), _word(23))
    last = b.apply("add", b.apply("add", field, zeros), _word(-127 - 23))
    last = b.select(b.compare("eq", field, _word(0)), _word(_SUBNORMAL), last)
    last = b.select(b.compare("eq", smallest, _word(-1)), _word(0), last)  # only zeros: any bit will do
    return ExponentRange(last, b.apply("add", b.apply("lshr", largest, _word(23)), _word(-127)))


def _word(number: int) -> Value:
    return Value("i32", str(number))
