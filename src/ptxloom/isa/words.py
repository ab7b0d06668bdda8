"""What directives and special registers are for, in our words (PTX ISA 5, 10 and 11)."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parent / "data"
_NUMBER: Final = re.compile(r"(?:(?<=pm)|(?<=envreg)|(?<=offset_))\d+")
SPECIAL_SECTION: Final = "10"


@dataclass(frozen=True, slots=True)
class DirectiveWords:
    """What a directive is for.

    Attributes:
        name: Without its dot.
        section: The manual's section.
        place: Where it stands: "module", "header" (of a function), "body" (of a function) or "declaration".
        about: What it says.
    """

    name: str
    section: str
    place: str
    about: str


@cache
def directives() -> dict[str, DirectiveWords]:
    """Every directive by its name."""
    table: dict[str, list[str]] = tomllib.loads((_FOLDER / "_directives.toml").read_text(encoding="utf-8"))
    return {name: DirectiveWords(name, *words) for name, words in table.items()}


@cache
def _special() -> dict[str, str]:
    return tomllib.loads((_FOLDER / "_special.toml").read_text(encoding="utf-8"))


def special_names() -> tuple[str, ...]:
    """The special registers that have a name of their own, with the percent sign; series of numbers are left out."""
    return tuple(f"%{name}" for name in _special() if "*" not in name)


def special_about(name: str) -> str:
    """What a special register tells; empty if there is none of that name.

    Example:
        >>> special_about("%laneid")
        "the thread's lane in its warp, 0 to 31"
        >>> special_about("%pm3_64")
        'a 64-bit performance counter'
    """
    bare = name.removeprefix("%")
    table = _special()
    return table.get(bare, "") or table.get(_NUMBER.sub("*", bare, count=1), "")
