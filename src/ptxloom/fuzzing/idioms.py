"""Idioms and opcodes that a fuzzer treats in their own way, as `idioms.toml` lists them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_DATA: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
IDIOMS: Final[Mapping[str, str]] = _DATA["idioms"]
"""Idioms that programs avoid unless requested: descriptions by name."""
OFTEN: Final[Mapping[str, float]] = _DATA["often"]
"""The weight of an opcode, if it is not 1."""
_OPCODES: Final = {name: re.compile(pattern) for name, pattern in _DATA["opcodes"].items()}


def among(opcode: str, name: str) -> bool:
    """Whether an opcode is one of a list."""
    return _OPCODES[name].fullmatch(opcode) is not None
