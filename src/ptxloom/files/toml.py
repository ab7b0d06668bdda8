"""Reads TOML from any source in linear time."""

from __future__ import annotations

import re
import tomllib
from typing import Any, Final

_MOST_PARTS: Final = 64
"""The most parts of a dotted key: `tomllib`'s time grows with their square."""
_BETWEEN: Final = re.compile(r"[,={}\[\]\n]")
_DOT: Final = re.compile(r"""[\w"'-][ \t]*\.(?=[ \t]*[\w"'-])""")


def read_toml(text: str) -> dict[str, Any]:
    """Read a TOML text.

    Raises:
        ValueError: It is not TOML, is nested too deeply, or has a key of more than 64 parts.

    Example:
        >>> read_toml("a.b = 1")
        {'a': {'b': 1}}
    """
    for piece in _BETWEEN.split(text):
        if piece.count(".") > _MOST_PARTS and len(_DOT.findall(piece)) >= _MOST_PARTS:
            raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
