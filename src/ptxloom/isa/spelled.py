"""Anything that spells an instruction: functions that take a spelling also take an instruction of a parsed module."""

from __future__ import annotations

from typing import Final, Protocol, runtime_checkable

from ptxloom.diagnostics import must_be
from ptxloom.isa.matrix import MOVES
from ptxloom.isa.short import whole

_ALWAYS: Final = frozenset(("sync", "aligned"))
"""The qualifiers of every matrix move."""


@runtime_checkable
class Spelled(Protocol):
    """An instruction of a parsed module, or anything with an opcode and qualifiers."""

    @property
    def opcode(self) -> str:
        """Such as `ldmatrix`."""
        ...

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """Without dots."""
        ...


def spelling_of(instruction: str | Spelled) -> str:
    """The text that names an instruction, without a trailing semicolon.

    A text may omit what is implied; an instruction of a module is taken unchanged.

    Example:
        >>> spelling_of(" ldmatrix.m8n8.x4.shared.b16; "), spelling_of("ldmatrix.x4")
        ('ldmatrix.sync.aligned.m8n8.x4.shared.b16', 'ldmatrix.sync.aligned.m8n8.x4.b16')

    Raises:
        Ambiguous: A text is short for several instructions.
        UsageError: It is neither a text nor an instruction.
    """
    if isinstance(instruction, str):
        text = whole(instruction.strip().removesuffix(";").rstrip())
        opcode, *words = text.split(".")
        if opcode in MOVES and words and not _ALWAYS.intersection(words):
            return ".".join((opcode, *sorted(_ALWAYS, reverse=True), *words))
        return text
    must_be(Spelled, "instruction", instruction, "a spelling, or an instruction of a parsed module")
    return ".".join((instruction.opcode, *instruction.qualifiers))
