"""The purposes of directives and special registers, in our words (PTX ISA 5, 10 and 11)."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from ptxloom.dataclass import dataclass
from ptxloom.isa.load import DATA
from ptxloom.isa.spec import Need
from ptxloom.isa.special import special_register, special_registers
from ptxloom.isa.version import PtxVersion


@dataclass(frozen=True, slots=True)
class DirectiveWords:
    """The description of a directive.

    Attributes:
        name: Without its dot.
        section: The manual's section.
        place: Where it is legal: "module", "header" (of a function), "body" (of a function) or "declaration".
        about: Its meaning.
        needs: The PTX version and the targets that have it.
        syntax: Its syntax.
        example: A piece of a module that uses it; empty if no use is legal now.
        of: The functions in whose header it is legal: "kernels", "functions" or "all"; empty if it is not a header's.
        numbers: The least and greatest number of its arguments there; None if more than their number matters.
        least: The least value of each.
        gone: The version from which ptxas refuses it; None if it still takes it.
    """

    name: str
    section: str
    place: str
    about: str
    needs: Need
    syntax: str
    example: str = ""
    of: str = ""
    numbers: tuple[int, int] | None = None
    least: int = 0
    gone: PtxVersion | None = None


@cache
def directives() -> dict[str, DirectiveWords]:
    """Every directive by its name."""
    table: dict[str, dict[str, Any]] = tomllib.loads((DATA / "_directives.toml").read_text(encoding="utf-8"))
    return {name: _directive(name, row) for name, row in table.items()}


def _directive(name: str, row: dict[str, Any]) -> DirectiveWords:
    numbers, gone = row.get("numbers"), row.get("gone")
    return DirectiveWords(
        name,
        row["section"],
        row["place"],
        row["about"],
        Need.parse(row["needs"]),
        row["syntax"],
        row.get("example", ""),
        row.get("of", ""),
        (numbers[0], numbers[1]) if numbers else None,
        row.get("least", 0),
        PtxVersion.parse(gone) if gone else None,
    )


def special_names() -> tuple[str, ...]:
    """The special registers that have a name of their own, with the percent sign; series of numbers are left out."""
    return tuple(name for name, register in special_registers().items() if not register.series)


def special_about(name: str) -> str:
    """What a special register holds; empty if no register has that name.

    Example:
        >>> special_about("%laneid")
        "the thread's lane in its warp, 0 to 31"
        >>> special_about("%pm3_64")
        'a 64-bit performance counter'
    """
    register = special_register(f"%{name.removeprefix('%')}")
    return register.about if register else ""
