"""Floating point on bit patterns, exactly and rounded once, with integers alone (IEEE 754; PTX ISA 9.7.3).

Invalid operations return the quiet NaN with a sign, as processors do; of several NaN operands the first is kept, quiet.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.float_formats import FLOAT_FORMATS

if TYPE_CHECKING:
    from ptxloom.float_formats import FloatFormat


FORMATS: Final = {
    name: FLOAT_FORMATS[of] for name, of in (("half", "f16"), ("bfloat", "bf16"), ("float", "f32"), ("double", "f64"))
}
"""Interchange formats, by LLVM's name."""


class _Number(NamedTuple):
    """A finite number: whole * 2 ** exponent, with a sign (1: negative)."""

    sign: int
    whole: int
    exponent: int


def is_nan(pattern: int, form: FloatFormat) -> bool:
    """Whether it is NaN."""
    return pattern & form.sign - 1 > form.infinity


def _is_infinite(pattern: int, form: FloatFormat) -> bool:
    return pattern & form.sign - 1 == form.infinity


def _number(pattern: int, form: FloatFormat) -> _Number:
    magnitude = pattern & form.sign - 1
    field, fraction = magnitude >> form.fraction, magnitude & (1 << form.fraction) - 1
    sign = pattern >> form.bits - 1
    if field == 0:
        return _Number(sign, fraction, form.least)
    return _Number(sign, fraction | 1 << form.fraction, form.least + field - 1)


def rounded(form: FloatFormat, number: _Number, direction: str = "rn", *, more: bool = False) -> int:
    """The bits of a number, rounded once; `more`: the exact number is larger by less than its last bit."""
    sign, whole, exponent = number
    signed = form.sign * sign
    if whole == 0 and not more:
        return signed
    last = max(exponent + whole.bit_length() - form.fraction - 1, form.least)
    cut = last - exponent
    rest, whole = (whole & (1 << cut) - 1, whole >> cut) if cut > 0 else (0, whole << -cut)
    if rest or more:
        half = 1 << cut - 1 if cut > 0 else 1
        beyond = rest > half or (rest == half and (more or bool(whole & 1)))
        whole += {"rn": beyond, "rz": False, "rp": not sign, "rm": bool(sign)}[direction]
    if whole >> form.fraction + 1:
        whole, last = whole >> 1, last + 1
    if not whole >> form.fraction:
        return signed | whole
    found = (last - form.least + 1 << form.fraction) + (whole - (1 << form.fraction))
    if found < form.infinity:
        return signed | found
    outwards = direction in {"rn", "rm" if sign else "rp"}
    return signed | form.infinity - (not outwards)


def _invalid(form: FloatFormat) -> int:
    return form.sign | form.infinity | form.quiet


def _nan_among(form: FloatFormat, *patterns: int) -> int | None:
    return next((one | form.quiet for one in patterns if is_nan(one, form)), None)


# -------------------------------------------------------------------------------------------------------- arithmetic


def add(form: FloatFormat, direction: str, x: int, y: int) -> int:
    """X + y."""
    nan = _nan_among(form, x, y)
    if nan is not None:
        return nan
    if _is_infinite(x, form) or _is_infinite(y, form):
        if _is_infinite(x, form) and _is_infinite(y, form) and x != y:
            return _invalid(form)
        return x if _is_infinite(x, form) else y
    return _sum(form, direction, _number(x, form), _number(y, form))


def _sum(form: FloatFormat, direction: str, x: _Number, y: _Number) -> int:
    exponent = min(x.exponent, y.exponent)
    total = sum((-1) ** one.sign * (one.whole << one.exponent - exponent) for one in (x, y))
    if total == 0:
        same = x.sign == y.sign  # two zeros
        sign = x.sign if same else int(direction == "rm")
        return form.sign * sign
    return rounded(form, _Number(int(total < 0), abs(total), exponent), direction)


def subtract(form: FloatFormat, direction: str, x: int, y: int) -> int:
    """X - y."""
    return add(form, direction, x, y if is_nan(y, form) else y ^ form.sign)


def multiply(form: FloatFormat, direction: str, x: int, y: int) -> int:
    """X * y."""
    found = _product(form, x, y)
    return found if isinstance(found, int) else rounded(form, found, direction)


def _product(form: FloatFormat, x: int, y: int) -> _Number | int:
    """The product as a number, or its bits if it is infinite or NaN."""
    nan = _nan_among(form, x, y)
    if nan is not None:
        return nan
    sign = (x ^ y) >> form.bits - 1
    if _is_infinite(x, form) or _is_infinite(y, form):
        zero = not x & form.sign - 1 or not y & form.sign - 1
        return _invalid(form) if zero else form.sign * sign | form.infinity
    a, b = _number(x, form), _number(y, form)
    return _Number(sign, a.whole * b.whole, a.exponent + b.exponent)


def fused(form: FloatFormat, direction: str, x: int, y: int, z: int) -> int:
    """X * y + z."""
    nan = _nan_among(form, x, y, z)
    if nan is not None:
        return nan
    product = _product(form, x, y)
    if isinstance(product, int):
        return product if is_nan(product, form) else add(form, direction, product, z)
    return z if _is_infinite(z, form) else _sum(form, direction, product, _number(z, form))


def divide(form: FloatFormat, direction: str, x: int, y: int) -> int:
    """X / y."""
    nan = _nan_among(form, x, y)
    if nan is not None:
        return nan
    signed = (x ^ y) & form.sign
    infinite = _is_infinite(x, form), _is_infinite(y, form)
    zero = not x & form.sign - 1, not y & form.sign - 1
    if all(infinite) or all(zero):
        return _invalid(form)
    if infinite[0] or zero[1]:
        return signed | form.infinity
    if infinite[1] or zero[0]:
        return signed
    a, b = _number(x, form), _number(y, form)
    shift = max(0, form.fraction + 3 + b.whole.bit_length() - a.whole.bit_length())
    quotient, rest = divmod(a.whole << shift, b.whole)
    number = _Number(int(signed != 0), quotient, a.exponent - b.exponent - shift)
    return rounded(form, number, direction, more=rest != 0)


def root(form: FloatFormat, direction: str, x: int) -> int:
    """The square root."""
    if is_nan(x, form):
        return x | form.quiet
    if not x & form.sign - 1:
        return x
    if x & form.sign:
        return _invalid(form)
    if _is_infinite(x, form):
        return x
    _, whole, exponent = _number(x, form)
    shift = 2 * (form.fraction + 3) + (exponent & 1)
    found = isqrt(whole << shift)
    return rounded(form, _Number(0, found, exponent - shift >> 1), direction, more=found * found != whole << shift)


# ------------------------------------------------------------------------------------------------------- conversions


def converted(pattern: int, form: FloatFormat, to: FloatFormat) -> int:
    """A number in another format, to nearest; a NaN with its sign and leading bits, quiet."""
    sign = (pattern >> form.bits - 1) * to.sign
    if is_nan(pattern, form):
        fraction = pattern & (1 << form.fraction) - 1
        moved = fraction << to.fraction >> form.fraction
        return sign | to.infinity | moved | to.quiet
    if _is_infinite(pattern, form):
        return sign | to.infinity
    return rounded(to, _number(pattern, form))


def of_integer(value: int, form: FloatFormat) -> int:
    """An integer, to nearest."""
    return rounded(form, _Number(int(value < 0), abs(value), 0))


def to_integer(pattern: int, form: FloatFormat) -> int | None:
    """A number toward zero; None for NaN; infinities as numbers beyond any format."""
    if is_nan(pattern, form):
        return None
    if _is_infinite(pattern, form):
        return -(1 << 2000) if pattern & form.sign else 1 << 2000
    sign, whole, exponent = _number(pattern, form)
    found = whole << exponent if exponent >= 0 else whole >> -exponent
    return -found if sign else found


def integral(pattern: int, form: FloatFormat, how: str) -> int:
    """The integral number that `roundeven`, `trunc`, `floor` or `ceil` returns, zeros with their sign."""
    if is_nan(pattern, form):
        return pattern | form.quiet
    if _is_infinite(pattern, form):
        return pattern
    sign, whole, exponent = _number(pattern, form)
    if exponent >= 0:
        return pattern
    found, rest = whole >> -exponent, whole & (1 << -exponent) - 1
    half = 1 << -exponent - 1
    found += {
        "roundeven": rest > half or (rest == half and bool(found & 1)),
        "trunc": False,
        "floor": bool(rest and sign),
        "ceil": bool(rest and not sign),
    }[how]
    return rounded(form, _Number(sign, found, 0))


def less(x: int, y: int, form: FloatFormat) -> bool | None:
    """Whether x < y; None if one of them is NaN."""
    if is_nan(x, form) or is_nan(y, form):
        return None
    return _ordered(x, form) < _ordered(y, form)


def _ordered(pattern: int, form: FloatFormat) -> int:
    magnitude = pattern & form.sign - 1
    return -magnitude if pattern & form.sign else magnitude


def compare(name: str, x: int, y: int, form: FloatFormat) -> bool:
    """`oeq`, `ult`, `ord`, `uno`, ...: `o` requires two numbers, `u` also holds if one is NaN."""
    unordered = is_nan(x, form) or is_nan(y, form)
    if name in {"ord", "uno"}:
        return unordered == (name == "uno")
    if unordered:
        return name[0] == "u"
    a, b = _ordered(x, form), _ordered(y, form)
    return {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[name[1:]]
