"""The state spaces: their owners, their windows of generic addresses, their spellings (PTX ISA 5.1).

A new space is one more row of `STATE_SPACES`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from ptxloom.dataclass import dataclass


class Owner(StrEnum):
    """Who shares the contents of a space."""

    MODULE = "module"  # all threads, and they outlive a kernel
    CTA = "CTA"
    THREAD = "thread"
    CALL = "call"  # a kernel or a function, while it runs


@dataclass(frozen=True, slots=True)
class StateSpace:
    """A state space.

    Attributes:
        name: Without the dot.
        owner: The threads that share it.
        number: Its number in memory functions; 0 for one that is not memory (0 also means generic addresses).
        is_generic: Whether ptxas accepts a variable of it in an instruction that names no space.
        window: The start of its generic addresses in the machine, outside a process's mappings; the low 32 bits are the
            address within the space; 0 for one whose addresses are generic ones, or without generic addresses.
        parts: The suffixes of its name: `.shared::cta`.
    """

    name: str
    owner: Owner
    number: int = 0
    is_generic: bool = False
    window: int = 0
    parts: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The qualifiers that name it."""
        return (self.name, *(f"{self.name}::{part}" for part in self.parts))


STATE_SPACES: Final = (
    StateSpace("reg", Owner.THREAD),
    StateSpace("sreg", Owner.THREAD),
    StateSpace("tex", Owner.MODULE),
    StateSpace("global", Owner.MODULE, 1, is_generic=True),
    StateSpace("shared", Owner.CTA, 2, is_generic=True, window=1 << 48, parts=("cta", "cluster")),
    StateSpace("local", Owner.THREAD, 3, is_generic=True, window=1 << 49),
    StateSpace("const", Owner.MODULE, 4),
    StateSpace("param", Owner.CALL, 5, window=1 << 50, parts=("entry", "func")),
)
SPACES: Final = {space.name: space for space in STATE_SPACES}
"""By name."""
MEMORY: Final = {space.name: space for space in STATE_SPACES if space.number}
"""Those that loads and stores can access, by name."""
QUALIFIERS: Final = {word: space for space in MEMORY.values() for word in space.words}
"""Those that an instruction may name, by the qualifier that does."""


WINDOW_BYTES: Final = 1 << 32
"""The size of a window of generic addresses."""
CLUSTER_SHIFT: Final = 24
"""The bits of a shared address from this one on hold 1 + the rank of a CTA in its cluster; 0 means its own CTA."""


def spelled(*owners: Owner) -> frozenset[str]:
    """The qualifiers that name memory of some owners.

    Example:
        >>> sorted(spelled(Owner.MODULE, Owner.CTA))
        ['const', 'global', 'shared', 'shared::cluster', 'shared::cta']
    """
    return frozenset(word for word, space in QUALIFIERS.items() if space.owner in owners)
