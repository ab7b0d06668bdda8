"""One dot product of a tensor core in plain integers and fractions: slow, obvious, and not the machine's way.

A finite float is a `Fraction`, an infinity or NaN a Python float. Encodings are read and written by their definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isnan, nan
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

Number: TypeAlias = Fraction | float


@dataclass(frozen=True, slots=True)
class Format:
    """A binary float format of IEEE 754's kind."""

    exponent_bits: int
    mantissa_bits: int

    @property
    def least(self) -> int:
        """The smallest exponent; subnormals have it too."""
        return 2 - (1 << (self.exponent_bits - 1))

    def decode(self, bits: int) -> Number:
        """The value."""
        sign = -1 if bits >> (self.exponent_bits + self.mantissa_bits) else 1
        exponent = bits >> self.mantissa_bits & (1 << self.exponent_bits) - 1
        mantissa = bits & (1 << self.mantissa_bits) - 1
        if exponent == (1 << self.exponent_bits) - 1:
            return nan if mantissa else sign * inf
        significand = mantissa + (1 << self.mantissa_bits) * bool(exponent)
        return sign * significand * power(max(exponent, 1) - 1 + self.least - self.mantissa_bits)

    def exponent(self, value: Fraction) -> int:
        """The exponent of a value that is not a zero."""
        return max(floor_log2(abs(value)), self.least)

    def encode(self, value: Fraction, *, to_zero: bool) -> int:
        """The bits of the nearest value (ties to even) or the next toward zero; too large gives infinity."""
        if not value:
            return 0
        unit = power(self.exponent(value) - self.mantissa_bits)
        scaled = abs(value) / unit
        count = floor(scaled) if to_zero else round(scaled)
        steps = (self.exponent(value) - self.least) << self.mantissa_bits
        bits = min(steps + count, (1 << self.exponent_bits) - 1 << self.mantissa_bits)
        return bits | (value < 0 and bits > 0) << (self.exponent_bits + self.mantissa_bits)


F16, BF16, F32 = Format(5, 10), Format(8, 7), Format(8, 23)


def power(exponent: int) -> Fraction:
    """2 to an integer."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(value: Fraction) -> int:
    """The exponent of the largest power of two not above a positive value."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if power(guess) <= value else guess - 1


def fused_sum(
    pairs: Sequence[tuple[int, int]], c: int, formats: tuple[Format, Format, Format], fraction_bits: int
) -> int:
    """The bits of D: `pairs` of bits of A and B, bits of C; formats of A and B, of C, of D."""
    factor, addend, result = formats
    numbers = [(factor.decode(a), factor.decode(b)) for a, b in pairs]
    special = special_sum([*numbers, (addend.decode(c), Fraction(1))])
    top = (1 << result.exponent_bits) - 1 << result.mantissa_bits
    sign = 1 << (result.exponent_bits + result.mantissa_bits)
    if special is not None:
        return sign - 1 if isnan(special) else top | (sign if special < 0 else 0)
    terms = [
        (Fraction(a) * Fraction(b), factor.exponent(Fraction(a)) + factor.exponent(Fraction(b)))
        for a, b in numbers
        if a and b
    ]
    own = addend.decode(c)
    if own:
        terms.append((Fraction(own), addend.exponent(Fraction(own))))
    if not terms:
        return 0
    unit = power(max(exponent for _, exponent in terms) - fraction_bits)
    total = sum(int(value / unit) for value, _ in terms) * unit
    return result.encode(total, to_zero=result is F32)


def special_sum(numbers: Sequence[tuple[Number, Number]]) -> float | None:
    """The sum of products if it is an infinity or NaN."""
    total = 0.0
    for a, b in numbers:
        if all(isinstance(x, Fraction) for x in (a, b)):
            continue
        total += sign_of(a) * sign_of(b)
    return total or (total if isnan(total) else None)


def sign_of(value: Number) -> float:
    """A float of the same kind: an infinity, a NaN, or -1, 0, 1."""
    if isinstance(value, Fraction):
        return float((value > 0) - (value < 0))
    return value
