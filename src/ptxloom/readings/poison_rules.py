"""How poison propagates from a word's operands to its result: bitwise, upwards, or as a whole (`readings.poison`)."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Generic, cast

from ptxloom.meaning.vectors import element, integer_like
from ptxloom.meaning.words import W
from ptxloom.readings.shadowed import COMPUTED, Shadowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.meaning.words import Words


class PoisonRules(Generic[W]):
    """The rules, in words of the reader below."""

    def __init__(self, below: Words[W]) -> None:
        self._below = below

    def _made(
        self,
        type_: str,
        make: Callable[[], W],
        poison: W,
        done: int,
        of: tuple[Shadowed[W], ...],
    ) -> Shadowed[W]:
        steered: W | None = None
        for one in of:
            if one.steered is not None:
                steered = one.steered if steered is None else self._or(steered, one.steered)
        return Shadowed(type_, make, poison, done, steered)

    def _as_a_whole(self, type_: str, make: Callable[[], W], operands: tuple[Shadowed[W], ...]) -> Shadowed[W]:
        """An element is poison if any of its sources is; the elements of a lane are adjacent and in order."""
        poisoned = [one.poison for one in operands if one.poison is not None]
        if not poisoned:
            return Shadowed(type_, make)
        some = reduce(self._or, map(self._some, poisoned))
        found = self._below.convert("sext", some, element(integer_like(type_)))
        return self._made(type_, make, found, COMPUTED, operands)

    def _masked(self, name: str, left: Shadowed[W], right: Shadowed[W]) -> W:
        """`and`, `or`: no poison where the other side alone decides, with a 0 or a 1."""
        found = self._either((left, right))
        for one, other in ((left, right), (right, left)):
            if other.poison is not None:
                open_ = one.value if name == "and" else self._not(one.value)
                open_ = open_ if one.poison is None else self._or(open_, one.poison)
                found = self._below.apply("and", found, open_)
        return found

    def _shifted(self, name: str, value: Shadowed[W], by: Shadowed[W]) -> W:
        """The poison is shifted; all is poison if the distance is."""
        found = None if value.poison is None else self._below.apply(name, value.poison, by.value)
        if by.poison is None:
            return cast("W", found)
        whole = self._whole(by.poison, value.type)
        return whole if found is None else self._or(found, whole)

    def _either(self, operands: tuple[Shadowed[W], ...]) -> W:
        return reduce(self._or, [one.poison for one in operands if one.poison is not None])

    def _poison(self, value: Shadowed[W]) -> W:
        return self._zero(value.type) if value.poison is None else value.poison

    def _zero(self, type_: str) -> W:
        return self._below.constant(integer_like(type_), 0)

    def _or(self, one: W, other: W) -> W:
        return self._below.apply("or", one, other)

    def _not(self, value: W) -> W:
        return self._below.apply("xor", value, self._below.constant(value.type, -1))

    def _some(self, poison: W) -> W:
        """Whether each element has any poison bits."""
        return poison if poison.bits == 1 else self._below.compare("ne", poison, self._below.constant(poison.type, 0))

    def _whole(self, poison: W, type_: str) -> W:
        """All bits of elements with any poison bits."""
        wide = element(integer_like(type_))
        return poison if wide == "i1" else self._below.convert("sext", self._some(poison), wide)
