"""An instruction of the tree as rows see it, without a planned program."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa.types import is_type
from ptxloom.meaning.types import Type, ptx_type

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.syntax import tree


class Unreadable(Exception):  # noqa: N818 - names its cause
    """A word or a form that a reading does not support."""


MISFITS: Final = (Unreadable, UsageError, LookupError, ValueError, AssertionError)
"""The errors of rows for operands of the wrong number or kind, or wrong qualifiers."""


class Form:
    """An instruction with its types."""

    __slots__ = ("node", "opcode", "operands", "qualifiers", "types")

    def __init__(self, node: tree.Instruction) -> None:
        self.node = node
        self.opcode: str = node.opcode
        self.qualifiers: tuple[str, ...] = node.qualifiers
        self.operands: tuple[tree.Operand, ...] = node.operands
        self.types: tuple[Type, ...] = types_in(node.qualifiers)

    @property
    def type(self) -> Type:
        """The last of them."""
        if not self.types:
            raise self.unsupported("it names no type")
        return self.types[-1]

    def has(self, *qualifiers: str) -> bool:
        """Whether it has any of these qualifiers."""
        return any(one in self.qualifiers for one in qualifiers)

    def one_of(self, qualifiers: Iterable[str], default: str = "") -> str:
        """The first of its qualifiers that is among these."""
        known = frozenset(qualifiers)
        return next((one for one in self.qualifiers if one in known), default)

    def unsupported(self, why: str = "no row knows this form") -> Unreadable:
        """The exception for a form that a row does not support."""
        return Unreadable(f"{self.opcode}: {why}")


@lru_cache(4096)
def types_in(qualifiers: tuple[str, ...]) -> tuple[Type, ...]:
    """The types among qualifiers, in order."""
    return tuple(ptx_type(word) for word in qualifiers if is_type(word))
