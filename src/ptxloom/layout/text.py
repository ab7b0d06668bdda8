"""Reading layouts as CuTe prints them: `(8,4):(1,8)`, `(_8,_4):(_1,_8)`, `Sw<3,3,3> o 0 o (8,64):(64,1)`."""

from __future__ import annotations

import re

from ptxloom.diagnostics import must_be
from ptxloom.layout.core import Layout
from ptxloom.layout.reader import Reader
from ptxloom.layout.swizzle import ComposedLayout, Swizzle

_SWIZZLE = re.compile(r"\s*(?:Sw|Swizzle|S)\s*<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>\s*")
_COMPOSED = re.compile(r"[o∘]\s*(?:_?(-?\d+)\s*[o∘]\s*)?")


def parse(text: str) -> Layout | ComposedLayout | Swizzle:
    """Read a layout, a swizzle, or a swizzled layout with its offset.

    Example:
        >>> print(parse("Sw<3,3,3> o 0 o (8,64):(64,1)"))
        Sw<3,3,3> o 0 o (8,64):(64,1)
    """
    must_be(str, "text", text, "a text such as (8,4):(1,8)")
    match = _SWIZZLE.match(text)
    if match is None:
        return Layout.parse(text)
    swizzle = Swizzle(*map(int, match.groups()))
    if match.end() == len(text):
        return swizzle
    joined = _COMPOSED.match(text, match.end())
    if joined is None:
        raise Reader(text, match.end()).fail("`o`")
    return ComposedLayout(swizzle, int(joined[1] or 0), Layout(*Reader(text, joined.end()).modes()))
