"""Special registers: what a thread can read about itself (PTX ISA 10), from the data."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import cache
from typing import Any

from ptxloom.dataclass import dataclass
from ptxloom.isa.load import DATA
from ptxloom.isa.spec import Need


@dataclass(frozen=True, slots=True)
class SpecialRegister:
    """A special register.

    Attributes:
        name: The name, with its percent sign.
        type: The type of its value, or of one component.
        vector: The number of components; 0 for a scalar.
        section: The manual's section.
        needs: The PTX version and the targets that have it.
        about: Its contents, in our words.
        series: Whether it is one of a numbered series in the data.
        once: An earlier type, with which it may still be read; empty if it had no other.
    """

    name: str
    type: str
    vector: int
    section: str
    needs: Need
    about: str
    series: bool = False
    once: str = ""


def special_register(name: str) -> SpecialRegister | None:
    """The special register of that name ("%tid"); None if no register has that name.

    Example:
        >>> special_register("%tid").vector, special_register("%clock64").type, special_register("%r1")
        (4, 'u64', None)
    """
    return special_registers().get(name) if name[:1] == "%" else None


def hidden_register(name: str, count: int | None = None) -> str:
    """The special register a declaration hides, `%pm1` if it is in a series `%pm<4>`; empty if it hides nothing."""
    hides = name if count is None else f"{name}1"
    return "" if special_register(hides) is None else hides


@cache
def special_registers() -> dict[str, SpecialRegister]:
    """Every special register by its name, those of a series one by one."""
    table: dict[str, dict[str, Any]] = tomllib.loads((DATA / "_special.toml").read_text(encoding="utf-8"))
    found: dict[str, SpecialRegister] = {}
    for name, row in table.items():
        needs, parts = Need.parse(row["needs"]), row.get("parts", 0)
        first = SpecialRegister(
            f"%{name}", row["type"], parts, row["section"], needs, row["about"], once=row.get("once", "")
        )
        series = [name.replace("*", str(number)) for number in range(row.get("numbers", 0))]
        for each in series:
            found[f"%{each}"] = replace(first, name=f"%{each}", series=True)
        if not series:
            found[first.name] = first
    return found
