"""The meanings of qualifiers and their values, in our words: from the instruction's data or the shared glossary."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import TYPE_CHECKING

from ptxloom.isa.load import DATA

if TYPE_CHECKING:
    from ptxloom.isa.spec import InstructionSpec


@cache
def glossary() -> dict[str, str]:
    """The meaning of each qualifier that many instructions share."""
    return tomllib.loads((DATA / "_glossary.toml").read_text(encoding="utf-8"))


@cache
def values() -> dict[str, dict[str, str]]:
    """The meanings of the values of each qualifier, unless they are obvious."""
    return tomllib.loads((DATA / "_values.toml").read_text(encoding="utf-8"))


def meaning(spec: InstructionSpec, slot: str) -> str:
    """The meaning of a qualifier of an instruction; empty if it is not described.

    Example:
        >>> from ptxloom.isa import instruction_spec
        >>> meaning(instruction_spec("ldmatrix"), "num")
        'how many matrices'
    """
    return spec.qualifiers.get(slot) or glossary().get(slot, "")


def value_meaning(slot: str, word: str) -> str:
    """The meaning of a value of a qualifier; empty if it is obvious.

    Example:
        >>> value_meaning("rnd", "rz"), value_meaning("type", "f32")
        ('toward zero', '')
    """
    return values().get(slot, {}).get(word, "")
