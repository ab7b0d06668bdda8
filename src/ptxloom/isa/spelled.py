"""Anything that spells an instruction: what takes a spelling also takes an instruction of a parsed module."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ptxloom.diagnostics import must_be


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

    Example:
        >>> spelling_of(" ldmatrix.sync.aligned.m8n8.x4.shared.b16; ")
        'ldmatrix.sync.aligned.m8n8.x4.shared.b16'

    Raises:
        UsageError: It is neither a text nor an instruction.
    """
    if isinstance(instruction, str):
        return instruction.strip().removesuffix(";").rstrip()
    must_be(Spelled, "instruction", instruction, "a spelling, or an instruction of a parsed module")
    return ".".join((instruction.opcode, *instruction.qualifiers))
