"""What directives and special registers are for, in our words (PTX ISA 5, 10 and 11)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from ptxloom.isa.spec import Need
from ptxloom.isa.special import special_register, special_registers

_FOLDER: Final = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class DirectiveWords:
    """What a directive is for.

    Attributes:
        name: Without its dot.
        section: The manual's section.
        place: Where it stands: "module", "header" (of a function), "body" (of a function) or "declaration".
        about: What it says.
        needs: The PTX version and the targets that have it.
    """

    name: str
    section: str
    place: str
    about: str
    needs: Need


@cache
def directives() -> dict[str, DirectiveWords]:
    """Every directive by its name."""
    table: dict[str, list[str]] = tomllib.loads((_FOLDER / "_directives.toml").read_text(encoding="utf-8"))
    return {
        name: DirectiveWords(name, section, place, about, Need.parse(needs))
        for name, (section, place, about, needs) in table.items()
    }


def special_names() -> tuple[str, ...]:
    """The special registers that have a name of their own, with the percent sign; series of numbers are left out."""
    return tuple(name for name, register in special_registers().items() if not register.series)


def special_about(name: str) -> str:
    """What a special register tells; empty if there is none of that name.

    Example:
        >>> special_about("%laneid")
        "the thread's lane in its warp, 0 to 31"
        >>> special_about("%pm3_64")
        'a 64-bit performance counter'
    """
    register = special_register(f"%{name.removeprefix('%')}")
    return register.about if register else ""
