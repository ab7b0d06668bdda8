"""Matrix shapes, read from their names: `m8n8`, `m16n8k32` (PTX ISA 9.7.14.1)."""

from __future__ import annotations

import re

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError

_SPELLING = re.compile(r"m([1-9][0-9]{0,3})n([1-9][0-9]{0,3})(?:k([1-9][0-9]{0,3}))?")


@dataclass(frozen=True, slots=True, order=True)
class MatrixShape:
    """The shape of one matrix: `m16n8` has 16 rows and 8 columns."""

    rows: int
    columns: int

    @classmethod
    def parse(cls, text: str) -> MatrixShape:
        """The shape named `text`.

        Raises:
            UsageError: It is not a shape.

        Example:
            >>> MatrixShape.parse("m16n8")
            MatrixShape(rows=16, columns=8)
        """
        match = _SPELLING.fullmatch(text)
        if match is None or match[3]:
            raise UsageError("shape", text, "a matrix shape such as m8n8")
        return cls(int(match[1]), int(match[2]))

    @property
    def elements(self) -> int:
        """The number of elements of one matrix."""
        return self.rows * self.columns

    def __str__(self) -> str:
        return f"m{self.rows}n{self.columns}"


@dataclass(frozen=True, slots=True, order=True)
class MmaShape:
    """The shape of a matrix product: A is m x k, B is k x n, C and D are m x n."""

    m: int
    n: int
    k: int

    @classmethod
    def parse(cls, text: str) -> MmaShape:
        """The shape named `text`.

        Raises:
            UsageError: It is not a shape.

        Example:
            >>> MmaShape.parse("m16n8k32").a
            MatrixShape(rows=16, columns=32)
        """
        match = _SPELLING.fullmatch(text)
        if match is None or not match[3]:
            raise UsageError("shape", text, "a shape of a matrix product such as m16n8k16")
        return cls(int(match[1]), int(match[2]), int(match[3]))

    @property
    def a(self) -> MatrixShape:
        """The shape of the left factor."""
        return MatrixShape(self.m, self.k)

    @property
    def b(self) -> MatrixShape:
        """The shape of the right factor."""
        return MatrixShape(self.k, self.n)

    @property
    def d(self) -> MatrixShape:
        """The shape of the result, and of the accumulator."""
        return MatrixShape(self.m, self.n)

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


def is_shape(text: str) -> bool:
    """Whether `text` names a shape of either kind."""
    return _SPELLING.fullmatch(text) is not None
