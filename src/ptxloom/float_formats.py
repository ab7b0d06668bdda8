"""Floating-point formats: how their bits are divided, and what stands at their ends (PTX ISA 5.2.2, 5.2.3, 9.7.14)."""

from __future__ import annotations

from typing import Final

from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A format; without infinities or NaN, its largest exponent is of finite numbers, too.

    Attributes:
        exponent: The width of its exponent field.
        fraction: The width of its fraction field; below that of a number of 0.
        signed: Whether it has a sign, above both.
        has_infinity: Whether an exponent of ones is of infinity, or of NaN.
        has_nan: Whether it has NaN; without infinity this is one number, all of whose bits are ones.
        has_full_nan: Whether all bits of the fraction of the NaN that a GPU makes are ones; else the highest alone is.
    """

    exponent: int
    fraction: int
    signed: bool = True
    has_infinity: bool = True
    has_nan: bool = True
    has_full_nan: bool = True

    @property
    def bits(self) -> int:
        """Its width."""
        return self.exponent + self.fraction + self.signed

    @property
    def container(self) -> int:
        """The bits that one takes up among packed ones: a power of two."""
        return 1 << (self.bits - 1).bit_length()

    @property
    def sign(self) -> int:
        """The bit above exponent and fraction: the sign, where there is one."""
        return 1 << self.exponent + self.fraction

    @property
    def bias(self) -> int:
        """What the exponent field is above the exponent."""
        return (1 << self.exponent - 1) - 1

    @property
    def least_exponent(self) -> int:
        """The exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def least(self) -> int:
        """The exponent of the last bit of subnormal numbers."""
        return self.least_exponent - self.fraction

    @property
    def one(self) -> int:
        """The bits of 1."""
        return self.bias << self.fraction

    @property
    def infinity(self) -> int:
        """The bits of +infinity: an exponent of ones."""
        return self.sign - (1 << self.fraction)

    @property
    def quiet(self) -> int:
        """The bit that a quiet NaN has."""
        return 1 << self.fraction - 1

    @property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        return self.infinity - 1 if self.has_infinity else self.sign - 1 - self.has_nan

    @property
    def nan(self) -> int:
        """The bits of what NaN becomes on a GPU: of NaN, or of the largest number where there is none."""
        return self.sign - 1 if self.has_full_nan else self.infinity | self.quiet


FLOAT_FORMATS: Final = {
    "f64": FloatFormat(11, 52, has_full_nan=False),
    "f32": FloatFormat(8, 23),
    "tf32": FloatFormat(8, 10),
    "bf16": FloatFormat(8, 7),
    "f16": FloatFormat(5, 10),
    "e4m3": FloatFormat(4, 3, has_infinity=False),
    "e5m2": FloatFormat(5, 2),
    "e3m2": FloatFormat(3, 2, has_infinity=False, has_nan=False),
    "e2m3": FloatFormat(2, 3, has_infinity=False, has_nan=False),
    "e2m1": FloatFormat(2, 1, has_infinity=False, has_nan=False),
    "ue8m0": FloatFormat(8, 0, signed=False, has_infinity=False),
    "ue4m3": FloatFormat(4, 3, signed=False, has_infinity=False),
}
"""By PTX's name. A `.ue8m0` of 0 is 2^-127: it has no subnormal numbers."""
