"""The approximate functions of the hardware's multi-function unit, 32 lanes at a time, bit for bit as an H200.

Each takes the bits of f32 operands and returns those of the results; subnormal operands and results are zeros.
`rcp64` and `rsqrt64` take and return the high halves of f64. `interpolation.toml` describes how they are computed, and
the evidence.
"""

from __future__ import annotations

import tomllib
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.limits import LANES
from ptxloom.machine.native.ir import Emitter, Value, constant_vector, vector

if TYPE_CHECKING:
    from collections.abc import Callable

_F32: Final = FLOAT_FORMATS["f32"]
NAN, INFINITY, ONE = _F32.nan, _F32.infinity, _F32.one
_LEAST_TANH: Final = 0x3B800000  # 2^-8: where the table of tanh begins
_HIDDEN: Final = 1 << _F32.fraction
_FRACTION: Final = _HIDDEN - 1
_LG2_FRACTION: Final = 36  # bits of the sum that lg2 keeps
_WORDS: Final = vector("i32")
_LONGS: Final = vector("i64")


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The coefficients of one function.

    Attributes:
        low: Bits of the place within an interval.
        scale: Bits of the sum below the result's last.
        constant: By interval; likewise `linear` and `quadratic`.
        bits: If each octave has its own intervals: the number of fraction bits that select one, by octave.
    """

    low: int
    scale: int
    constant: tuple[int, ...]
    linear: tuple[int, ...]
    quadratic: tuple[int, ...]
    bits: tuple[int, ...] = ()

    @property
    def column(self) -> int:
        """The lowest column of partial products that the squarer has."""
        return 2 * self.low - 15


@cache
def tables() -> dict[str, Coefficients]:
    """The coefficients of every function."""
    data = tomllib.loads((Path(__file__).with_name("interpolation.toml")).read_text())
    return {
        name: Coefficients(
            entry["low"],
            entry["scale"],
            constant=tuple(entry["constant"]),
            linear=tuple(entry["linear"]),
            quadratic=tuple(entry["quadratic"]),
            bits=tuple(entry.get("bits", ())),
        )
        for name, entry in data.items()
    }


def symbol(name: str) -> str:
    """The name of a function: rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, rcp64 or rsqrt64."""
    return f"ptxloom_approximate_{name}"


@cache
def function(name: str) -> str:
    """The IR of a function, `<32 x i32>` to `<32 x i32>`."""
    base = name.removesuffix("64")
    unit = _Unit(tables()["sin" if name == "cos" else base], *((23, 255) if base == name else (20, 2047)))
    unit.e.do(f"ret {_FUNCTIONS[base](unit, Value(_WORDS, '%a'))}")
    declarations = "\n".join(unit.e.declarations.values())
    body = "\n".join(unit.e.lines)
    return f"{declarations}\n{unit.globals()}\ndefine {_WORDS} @{symbol(name)}({_WORDS} %a) #0 {{\n{body}\n}}"


class _Unit:
    """The interpolator, with the steps before and after it."""

    def __init__(self, table: Coefficients, fraction_bits: int, ones: int) -> None:
        self.table = table
        self.fraction_bits = fraction_bits
        self.ones = ones  # the largest exponent field
        self.bias = ones >> 1
        self.infinity = ones << fraction_bits
        self.e = Emitter()

    def globals(self) -> str:
        """The coefficients as constants of the module."""
        lines: list[str] = []
        for name, values in (
            ("constant", self.table.constant),
            ("linear", self.table.linear),
            ("quadratic", self.table.quadratic),
            ("octave", self.table.bits and _octaves(self.table)),
        ):
            items = ", ".join(f"i64 {value}" for value in values)
            lines.append(f"@{name} = internal constant [{len(values)} x i64] [{items}], align 64")
        return "\n".join(lines)

    def interpolate(self, fraction: Value) -> Value:
        """The sum of the three terms, i64; `fraction` is the index and the place."""
        e, low = self.e, self.table.low
        if self.fraction_bits < 23:
            fraction = e.apply("shl", fraction, word(23 - self.fraction_bits))
        index = e.resize(e.apply("lshr", fraction, word(low)), 64)
        place = e.apply("and", fraction, word((1 << low) - 1))
        terms = [self._coefficient("constant", index)]
        for name, factor in (("linear", place), ("quadratic", self._square(place))):
            terms.append(e.apply("mul", self._coefficient(name, index), e.resize(factor, 64)))
        return e.apply("add", e.apply("add", terms[0], terms[1]), terms[2])

    def octave(self, fraction: Value, number: Value) -> Value:
        """Index and place within an octave with intervals of its own."""
        e, low = self.e, self.table.low
        packed = e.resize(self._coefficient("octave", e.resize(number, 64)), 32)
        place = e.apply("lshr", fraction, e.apply("and", packed, word(31)))
        return e.apply("add", place, e.apply("shl", e.apply("lshr", packed, word(5)), word(low)))

    def _coefficient(self, name: str, index: Value) -> Value:
        e = self.e
        places = e.emit(vector("ptr"), f"getelementptr i64, ptr @{name}, {index}")
        every = Value(vector("i1"), "splat (i1 true)")
        return e.call(
            "llvm.masked.gather.v32i64.v32p0",
            places,
            Value("i32", "8"),
            every,
            Value(_LONGS, "poison"),
            result=_LONGS,
        )

    def _square(self, place: Value) -> Value:
        """The square without the columns that the squarer lacks, shifted down to its lowest one."""
        e, low, column = self.e, self.table.low, self.table.column
        total = word(0)
        for bit in range(low):
            partners = (1 << low) - (1 << max(bit + 1, column - 1 - bit))
            own = 1 << 2 * bit - column if 2 * bit >= column else 0
            if partners <= 0 and not own:
                continue
            shift = bit + 1 - column
            row = e.apply("and", place, word(max(partners, 0)))
            row = e.apply("shl", row, word(shift)) if shift > 0 else e.apply("lshr", row, word(-shift))
            row = e.apply("or", row, word(own)) if own else row
            chosen = e.apply("ashr", e.apply("shl", place, word(31 - bit)), word(31))
            total = e.apply("add", total, e.apply("and", row, chosen))
        return total

    # -- pieces of floats

    def exponent(self, a: Value) -> Value:
        """The exponent field."""
        e = self.e
        return e.apply("and", e.apply("lshr", a, word(self.fraction_bits)), word(self.ones))

    def fraction(self, a: Value) -> Value:
        """The fraction field."""
        return self.e.apply("and", a, word((1 << self.fraction_bits) - 1))

    def pack(self, significand: Value, exponent: Value) -> Value:
        """The bits of a positive float; a significand of 2 carries into the exponent; over- and underflow."""
        e, hidden = self.e, 1 << self.fraction_bits
        fraction = e.apply("sub", significand, word(hidden))
        bits = e.apply("add", e.apply("shl", exponent, word(self.fraction_bits)), fraction)
        bits = e.select(e.compare("slt", exponent, word(-1)), word(0), bits)
        bits = e.select(e.compare("slt", bits, word(hidden)), word(0), bits)
        above = e.compare("uge", bits, word(self.infinity))
        above = e.apply("or", e.compare("sge", exponent, word(self.ones)), above)
        return e.select(above, word(self.infinity), bits)

    def significand(self, total: Value) -> Value:
        """The integer part of an interpolated sum."""
        e = self.e
        return e.resize(e.apply("lshr", total, e.constant(_LONGS, self.table.scale + 23 - self.fraction_bits)), 32)

    def normalised(self, total: Value, fraction_bits: int) -> Value:
        """The bits of a positive fixed-point number, cut to 24 bits."""
        e = self.e
        zeros = e.call("llvm.ctlz.v32i64", total, Value("i1", "false"), result=_LONGS)
        top = e.resize(e.apply("lshr", e.apply("shl", total, zeros), e.constant(_LONGS, 40)), 32)
        exponent = e.apply("sub", word(63 - fraction_bits + 127), e.resize(zeros, 32))
        return self.pack(top, exponent)

    def special(self, a: Value, result: Value, *, zero: Value, infinity: Value) -> Value:
        """The result, except for zero (or subnormal), infinite and NaN operands."""
        e = self.e
        exponent = self.exponent(a)
        result = e.select(e.compare("eq", exponent, word(0)), zero, result)
        result = e.select(e.compare("eq", exponent, word(self.ones)), infinity, result)
        magnitude = e.apply("and", a, word(0x7FFFFFFF))
        return e.select(e.compare("ugt", magnitude, word(self.infinity)), word(NAN), result)

    def sign(self, a: Value) -> Value:
        """The sign bit, in its place."""
        return self.e.apply("and", a, word(-(1 << 31)))


def _octaves(table: Coefficients) -> tuple[int, ...]:
    """By octave: its first interval, and in the low 5 bits the shift of its fractions."""
    firsts = accumulate((1 << bits for bits in table.bits), initial=0)
    return tuple(first << 5 | 23 - table.low - bits for first, bits in zip(firsts, table.bits, strict=False))


def word(value: int) -> Value:
    """A constant in every lane."""
    return constant_vector("i32", [value] * LANES) if value else Value(_WORDS, "zeroinitializer")


def _rcp(u: _Unit, a: Value) -> Value:
    e = u.e
    y = u.significand(u.interpolate(u.fraction(a)))
    sign = u.sign(a)
    found = e.apply("or", u.pack(y, e.apply("sub", word(2 * u.bias - 1), u.exponent(a))), sign)
    return u.special(a, found, zero=e.apply("or", word(u.infinity), sign), infinity=sign)


def _halved(u: _Unit, a: Value) -> tuple[Value, Value]:
    """The fraction of a significand from 1 up to 4 (a bit longer), and half the even exponent left over."""
    e = u.e
    exponent = e.apply("sub", u.exponent(a), word(u.bias))
    odd = e.apply("and", exponent, word(1))
    return e.apply("or", u.fraction(a), e.apply("shl", odd, word(u.fraction_bits))), e.apply("ashr", exponent, word(1))


def _root(u: _Unit, a: Value, y: Value, exponent: Value, ends: tuple[int, int]) -> Value:
    e = u.e
    found = u.pack(y, exponent)
    sign = u.sign(a)
    found = e.select(e.compare("slt", a, word(0)), word(NAN), found)
    infinity = e.select(e.compare("slt", a, word(0)), word(NAN), word(ends[1]))
    return u.special(a, found, zero=e.apply("or", word(ends[0]), sign), infinity=infinity)


def _sqrt(u: _Unit, a: Value) -> Value:
    fraction, half = _halved(u, a)
    y = u.significand(u.interpolate(fraction))
    return _root(u, a, y, u.e.apply("add", half, word(127)), (0, INFINITY))


def _rsqrt(u: _Unit, a: Value) -> Value:
    e = u.e
    fraction, half = _halved(u, a)
    y = u.significand(u.interpolate(fraction))
    y = e.select(e.compare("eq", fraction, word(0)), word(2 << u.fraction_bits), y)  # powers of four are exact
    return _root(u, a, y, e.apply("sub", word(u.bias - 1), half), (u.infinity, 0))


def _lg2(u: _Unit, a: Value) -> Value:
    """The exponent plus the logarithm of the significand, in fixed point with 36 bits of fraction.

    A negative sum is complemented, not negated; then the magnitude is cut to 24 bits.
    """
    e = u.e
    bits = 23 + u.table.scale
    exponent = e.resize(e.apply("sub", u.exponent(a), word(127)), 64, signed=True)
    whole = e.apply("shl", exponent, e.constant(_LONGS, bits))
    total = e.apply("add", whole, u.interpolate(u.fraction(a)))
    total = e.apply("ashr", total, e.constant(_LONGS, bits - _LG2_FRACTION))
    signs = e.apply("ashr", total, e.constant(_LONGS, 63))
    found = u.normalised(e.apply("xor", total, signs), _LG2_FRACTION)
    found = e.apply("or", found, e.apply("shl", e.resize(signs, 32), word(31)))
    found = e.select(e.compare("eq", a, word(ONE)), word(0), found)
    found = e.select(e.compare("slt", a, word(0)), word(NAN), found)
    infinity = e.select(e.compare("slt", a, word(0)), word(NAN), word(INFINITY))
    return u.special(a, found, zero=word(INFINITY - (1 << 31)), infinity=infinity)


def _ex2(u: _Unit, a: Value) -> Value:
    """Fixed point with 23 bits of fraction; a negative one is complemented, not negated, unless it is whole."""
    e = u.e
    exponent = e.apply("sub", u.exponent(a), word(127))
    significand = e.apply("or", u.fraction(a), word(_HIDDEN))
    large = e.apply("shl", significand, e.call("llvm.umin.v32i32", exponent, word(7), result=_WORDS))
    places = e.call("llvm.umin.v32i32", e.apply("sub", word(0), exponent), word(31), result=_WORDS)
    small = e.apply("lshr", significand, places)
    negative_exponent = e.compare("slt", exponent, word(0))
    fixed = e.select(negative_exponent, small, large)
    whole = e.compare("eq", u.fraction(fixed), word(0))
    turned = e.select(whole, e.apply("sub", word(0), fixed), e.apply("xor", fixed, word(-1)))
    negative = e.compare("slt", a, word(0))
    fixed = e.select(negative, turned, fixed)
    y = u.significand(u.interpolate(u.fraction(fixed)))
    found = u.pack(y, e.apply("add", e.apply("ashr", fixed, word(23)), word(127)))
    end = e.select(negative, word(0), word(INFINITY))
    found = e.select(e.compare("sgt", exponent, word(7)), end, found)
    return u.special(a, found, zero=word(ONE), infinity=end)


def _wave(u: _Unit, a: Value, quarter: int) -> Value:
    """The sine of `a` turns plus some quarters: 25 bits of fraction; backward quarters are complemented."""
    e = u.e
    exponent = e.apply("sub", u.exponent(a), word(127))
    significand = e.apply("or", u.fraction(a), word(_HIDDEN))
    up = e.apply("add", exponent, word(2))
    large = e.apply("shl", significand, e.call("llvm.umin.v32i32", up, word(31), result=_WORDS))
    large = e.select(e.compare("sgt", up, word(24)), word(0), large)
    down = e.call("llvm.umin.v32i32", e.apply("sub", word(0), up), word(31), result=_WORDS)
    fixed = e.select(e.compare("slt", up, word(0)), e.apply("lshr", significand, down), large)
    quarters = e.apply("add", e.apply("lshr", fixed, word(23)), word(quarter))
    fraction = u.fraction(fixed)
    backward = e.compare("ne", e.apply("and", quarters, word(1)), word(0))
    place = e.select(backward, e.apply("xor", fraction, word(_FRACTION)), fraction)
    found = u.normalised(u.interpolate(place), 24 + u.table.scale)
    top = e.apply("and", backward, e.compare("eq", fraction, word(0)))
    found = e.select(top, word(ONE), e.select(e.compare("eq", place, word(0)), word(0), found))
    turned = e.apply("shl", e.apply("lshr", e.apply("and", quarters, word(2)), word(1)), word(31))
    sign = turned if quarter else e.apply("xor", turned, u.sign(a))
    zero = word(ONE) if quarter else u.sign(a)
    return u.special(a, e.apply("xor", found, sign), zero=zero, infinity=word(NAN))


def _sin(u: _Unit, a: Value) -> Value:
    return _wave(u, a, 0)


def _cos(u: _Unit, a: Value) -> Value:
    return _wave(u, a, 1)


def _tanh(u: _Unit, a: Value) -> Value:
    """Small numbers are their own hyperbolic tangents, subnormal ones too; that of large ones is 1."""
    e, octaves = u.e, len(u.table.bits)
    first = u.exponent(word(_LEAST_TANH))
    number = e.apply("sub", u.exponent(a), first)
    kept = e.call("llvm.umin.v32i32", number, word(octaves - 1), result=_WORDS)
    total = u.interpolate(u.octave(u.fraction(a), kept))
    found = u.normalised(total, 23 + u.table.scale)
    found = e.select(e.compare("sge", number, word(octaves)), word(ONE), found)
    magnitude = e.apply("and", a, word(0x7FFFFFFF))
    found = e.select(e.compare("slt", number, word(0)), magnitude, found)
    return e.select(e.compare("ugt", magnitude, word(u.infinity)), word(NAN), e.apply("or", found, u.sign(a)))


_FUNCTIONS: Final[dict[str, Callable[[_Unit, Value], Value]]] = {
    "rcp": _rcp,
    "sqrt": _sqrt,
    "rsqrt": _rsqrt,
    "lg2": _lg2,
    "ex2": _ex2,
    "sin": _sin,
    "cos": _cos,
    "tanh": _tanh,
}
