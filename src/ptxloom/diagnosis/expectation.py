"""What the user declares that a kernel computes: `C = A @ B`, `C = A @ B.T`, `B = A.T`, `B = A`."""

from __future__ import annotations

import re
from typing import Final

from ptxloom.comparison.expression import BadExpression, read_expectation
from ptxloom.comparison.expression import Expectation as Expression
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError

_TERM: Final = r"(\w+)(\.T)?"
_TEXT: Final = re.compile(rf"\s*(\w+)\s*=\s*(?:[\w.]+\s*\*\s*)?{_TERM}(?:\s*@\s*{_TERM})?(?:\s*\+.*)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The roles of arrays in a declared product or copy.

    Attributes:
        result: The array that is stored.
        axes: By array, the letters of its two axes, the slow one first: m, n and k of products, i and j of copies.

    Example:
        >>> expectation("C = A @ B.T").axes
        {'A': ('m', 'k'), 'B': ('n', 'k'), 'C': ('m', 'n')}
    """

    result: str
    axes: dict[str, tuple[str, str]]

    @property
    def is_product(self) -> bool:
        """Whether two arrays are multiplied."""
        return len(self.axes) > 2

    @property
    def source(self) -> str:
        """The array that a copy reads."""
        return next(name for name in self.axes if name != self.result)


def understood(text: str | None) -> tuple[Expectation | None, Expression | None]:
    """A declaration read as a product or a copy, and as an expression; None for each that it is not.

    Raises:
        UsageError: The declaration is neither.
    """
    if text is None:
        return None, None
    try:
        whole = read_expectation(text)
    except BadExpression:
        whole = None
    try:
        return expectation(text), whole
    except UsageError:
        if whole is None:
            raise
    return None, whole


def expectation(text: str) -> Expectation:
    """Read what a kernel is declared to compute; a scale in front and added terms change nothing.

    Raises:
        UsageError: The declaration has another form.
    """
    found = _TEXT.fullmatch(text)
    if found is None:
        raise UsageError("expected", text, "such as 'C = A @ B', 'C = A @ B.T', 'B = A.T' or 'B = A'")
    result, first, first_t, second, second_t = found.groups()
    if second is None:
        axes = {first: _turned("i", "j", first_t), result: ("i", "j")}
    else:
        axes = {first: _turned("m", "k", first_t), second: _turned("k", "n", second_t), result: ("m", "n")}
    if len(axes) != (2 if second is None else 3):
        raise UsageError("expected", text, "of different arrays")
    return Expectation(result, axes)


def _turned(slow: str, fast: str, turn: str | None) -> tuple[str, str]:
    return (fast, slow) if turn else (slow, fast)
