"""Numbers with a point in a few characters that still distinguish them."""

from __future__ import annotations

from math import isfinite
from typing import Final

_MOST_WHOLE: Final = 6
"""Digits before the point that are all shown: 10656 is easier to read than 1.066e+04."""


def few_digits(value: float, digits: int) -> str:
    """A number with `digits` significant digits, or with all that stand before its point.

    Example:
        >>> few_digits(10656.0, 4), few_digits(0.333333, 4), few_digits(123456789.0, 4), few_digits(-0.0, 4)
        ('10656', '0.3333', '1.235e+08', '-0')
    """
    whole = len(str(abs(int(value)))) if isfinite(value) else 0
    return f"{value:.{max(digits, whole) if whole <= _MOST_WHOLE else digits}g}"
