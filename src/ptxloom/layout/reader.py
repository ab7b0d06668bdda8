"""Reading shapes and strides as CuTe prints them: `(8,4):(1,8)`, `(_8,_4):(_1,_8)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ptxloom.layout.errors import LayoutError

if TYPE_CHECKING:
    from ptxloom.layout.inttuple import IntTuple

_TOKEN = re.compile(r"\s*(?:_?([+-]?\d+)|([(),:]))")


class Reader:
    """A cursor over one text."""

    def __init__(self, text: str, at: int = 0) -> None:
        self.text = text
        self.at = at

    def fail(self, wanted: str) -> LayoutError:
        """The error that something else was expected here."""
        rest = self.text[self.at :].strip()
        seen = f"`{rest[:12]}`" if rest else "the end"
        return LayoutError(f"`{self.text}` is not a layout: expected {wanted} at column {self.at + 1}, saw {seen}")

    def take(self, symbol: str) -> bool:
        """Whether a symbol stands here; it is skipped."""
        match = _TOKEN.match(self.text, self.at)
        if match is None or match[2] != symbol:
            return False
        self.at = match.end()
        return True

    def value(self) -> IntTuple:
        """An integer, or several in parentheses."""
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

    def modes(self) -> tuple[IntTuple, IntTuple | None]:
        """A shape, and a stride if one is written, up to the end."""
        shape = self.value()
        stride = self.value() if self.take(":") else None
        if self.text[self.at :].strip():
            raise self.fail("`:` and a stride" if stride is None else "nothing more")
        return shape, stride
