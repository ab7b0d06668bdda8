"""A value with its poison: the bits of it that depend on unwritten bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from ptxloom.meaning.vectors import element, width
from ptxloom.meaning.words import W

if TYPE_CHECKING:
    from collections.abc import Callable

COMPUTED, MOVED, LOADED = range(3)
"""The history of poison since it was loaded; a combination of several has the lowest."""


class Shadowed(Generic[W]):
    """A value and its poison.

    Attributes:
        type: The value's type.
        poison: The unwritten bits, integers of the same shape; None if all are written.
        done: Their history: COMPUTED, MOVED or LOADED.
        steered: A mask of the lanes selected by poison; None if no lane was.
    """

    __slots__ = ("_make", "_value", "done", "poison", "steered", "type")

    def __init__(
        self, type_: str, make: Callable[[], W], poison: W | None = None, done: int = LOADED, steered: W | None = None
    ) -> None:
        self.type = type_
        self.poison = poison
        self.done = done
        self.steered = steered
        self._make = make
        self._value: W | None = None

    @property
    def value(self) -> W:
        """The computed value, built by the reader below when a rule first needs it."""
        if self._value is None:
            self._value = self._make()
        return self._value

    @property
    def element(self) -> str:
        """The type of one element."""
        return element(self.type)

    @property
    def bits(self) -> int:
        """The width of one element."""
        return width(self.element)

    @property
    def is_exact(self) -> bool:
        """Whether its poison is known bit by bit: it was never used in a computation."""
        return self.poison is None or self.done != COMPUTED
