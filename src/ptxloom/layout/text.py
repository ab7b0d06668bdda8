"""Reading layouts as CuTe prints them: `(8,4):(1,8)`, `(_8,_4):(_1,_8)`, `Sw<3,3,3> o 0 o (8,64):(64,1)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ptxloom.layout.core import Layout
from ptxloom.layout.errors import LayoutError
from ptxloom.layout.swizzle import ComposedLayout, Swizzle

if TYPE_CHECKING:
    from ptxloom.layout.inttuple import IntTuple

_TOKEN = re.compile(r"\s*(?:_?([+-]?\d+)|([(),:]))")
_SWIZZLE = re.compile(r"\s*(?:Sw|Swizzle|S)\s*<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>\s*")
_COMPOSED = re.compile(r"[o∘]\s*(?:_?(-?\d+)\s*[o∘]\s*)?")


class _Reader:
    """A cursor over one text."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def fail(self, wanted: str) -> LayoutError:
        rest = self.text[self.at :].strip()
        seen = f"`{rest[:12]}`" if rest else "the end"
        return LayoutError(f"`{self.text}` is no layout: expected {wanted} at column {self.at + 1}, saw {seen}")

    def take(self, symbol: str) -> bool:
        match = _TOKEN.match(self.text, self.at)
        if match is None or match[2] != symbol:
            return False
        self.at = match.end()
        return True

    def value(self) -> IntTuple:
        match = _TOKEN.match(self.text, self.at)
        if match is not None and match[1] is not None:
            self.at = match.end()
            return int(match[1])
        if not self.take("("):
            raise self.fail("an integer or `(`")
        parts: list[IntTuple] = []
        while not self.take(")"):
            parts.append(self.value())
            if not self.take(","):
                if self.take(")"):
                    break
                raise self.fail("`,` or `)`")
        return tuple(parts)

    def layout(self) -> Layout:
        shape = self.value()
        stride = self.value() if self.take(":") else None
        if self.text[self.at :].strip():
            raise self.fail("`:` and a stride" if stride is None else "nothing more")
        return Layout(shape, stride)


def parse_layout(text: str) -> Layout:
    """Read `shape:stride`; without a stride the layout is dense, leftmost mode fastest."""
    return _Reader(text).layout()


def parse(text: str) -> Layout | ComposedLayout | Swizzle:
    """Read a layout, a swizzle, or a swizzled layout with its offset.

    Example:
        >>> print(parse("Sw<3,3,3> o 0 o (8,64):(64,1)"))
        Sw<3,3,3> o 0 o (8,64):(64,1)
    """
    match = _SWIZZLE.match(text)
    if match is None:
        return parse_layout(text)
    swizzle = Swizzle(*map(int, match.groups()))
    if match.end() == len(text):
        return swizzle
    joined = _COMPOSED.match(text, match.end())
    if joined is None:
        raise _Reader(text, match.end()).fail("`o`")
    return ComposedLayout(swizzle, int(joined[1] or 0), _Reader(text, joined.end()).layout())
