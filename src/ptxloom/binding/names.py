"""Which declaration a name means: nested braces, series of registers and labels (PTX ISA 4.3.3, 5.2, 5.5).

As in ptxas 13: a name means what the innermost braces declare before it. A label is visible in all of its braces, even
before its own position; of two labels the inner one counts. Leading zeros do not make another member of a series: of
`.reg .b32 %r<8>`, `%r01` is `%r1`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from ptxloom.isa.special import hidden_register
from ptxloom.syntax.tree import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.syntax.tree import Statement

Thing = TypeVar("Thing")
Mark = TypeVar("Mark")

_DIGITS: Final = "0123456789"
_LONGEST: Final = 19  # digits of a number; no declaration has more


def stem_of(name: str) -> str:
    """What stands before all the digits that a name ends in: the series that it may belong to.

    Example:
        >>> stem_of("%r12"), stem_of("%r1x")
        ('%r', '%r1x')
    """
    return name.rstrip(_DIGITS)


def index_of(name: str, stem: str) -> int:
    """The number that a name ends in, behind its stem; -1 without a number, or for one that no series reaches.

    Example:
        >>> index_of("%r12", "%r"), index_of("%r0012", "%r"), index_of("%r", "%r"), index_of("%r" + "9" * 20, "%r")
        (12, 12, -1, -1)
    """
    digits = name[len(stem) :]
    if len(digits) > _LONGEST:
        digits = digits.lstrip("0") or "0"
    return int(digits) if 0 < len(digits) <= _LONGEST else -1


def has_needless_zeros(name: str) -> bool:
    """Whether a name would be another one without the zeros that its number begins with.

    Example:
        >>> [has_needless_zeros(name) for name in ("%r01", "%r10", "%r0", "%r")]
        [True, False, False, False]
    """
    at = len(name.rstrip(_DIGITS))
    return at < len(name) - 1 and name[at] == "0"


class Series(NamedTuple, Generic[Thing]):
    """Names that are declared together: their count, from 0 on, and their meaning."""

    length: int
    thing: Thing


class Scope(Generic[Thing, Mark]):
    """The declarations of a pair of braces, or of a module, linked to the surrounding ones.

    A caller that walks over the statements records the meanings of names here, in its own terms.

    Attributes:
        outer: The surrounding scope; None for a module.
        names: The meanings of single names; members of a series that a caller treats separately are here, too.
        series: The series, by their stems.
        labels: The meanings of labels.

    Example:
        >>> module = Scope[str, str]()
        >>> module.declare("%r", "registers", 8)
        >>> module.find("%r01"), module.find("%r8")
        ('registers', None)
    """

    __slots__ = ("_lowest", "labels", "names", "outer", "series")

    def __init__(self, outer: Scope[Thing, Mark] | None = None) -> None:
        self.outer: Final = outer
        self.names: Final[dict[str, Thing]] = {}
        self.series: Final[dict[str, Series[Thing]]] = {}
        self.labels: Final[dict[str, Mark]] = {}
        self._lowest: Final[dict[str, str]] = {}  # by stem: of the names that end in digits that of the smallest number

    def declare(self, name: str, thing: Thing, count: int | None = None) -> None:
        """Make a name, or a series of `count` names, mean something from here on."""
        if count is not None:
            self.series[name] = Series(count, thing)
            return
        self.names[name] = thing
        if name[-1:].isdigit():
            stem = stem_of(name)
            index, lowest = index_of(name, stem), self._lowest.get(stem)
            if index >= 0 and (lowest is None or index < index_of(lowest, stem)):
                self._lowest[stem] = name

    def find(self, name: str) -> Thing | None:
        """The meaning of a name, from the innermost braces; None if it is not declared."""
        found = self.names.get(name)
        if found is not None:  # as most are
            return found
        scope: Scope[Thing, Mark] | None = self
        stem = stem_of(name)
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            series = scope.series.get(stem)
            if series is not None and 0 <= (index := index_of(name, stem)) < series.length:
                return scope.names.get(f"{stem}{index}", series.thing)
            scope = scope.outer
        return None

    def place(self, name: str) -> tuple[Scope[Thing, Mark], str] | None:
        """Which braces declare a name, and how it is spelled without needless zeros: two names are one if these are."""
        for scope in self.around():
            if name in scope.names:
                return scope, name
            if scope.series and (member := scope.member(name)) is not None:
                return scope, member[0]
        return None

    def own(self, name: str) -> Thing | None:
        """What these braces alone declare by a name."""
        found = self.names.get(name)
        if found is not None:
            return found
        member = self.member(name)
        return None if member is None else self.names.get(member[0], member[1])

    def member(self, name: str) -> tuple[str, Thing] | None:
        """A member of a series of these braces as it is spelled without needless zeros, and what the series is."""
        stem = stem_of(name)
        series = self.series.get(stem)
        if series is None:
            return None
        index = index_of(name, stem)
        return (f"{stem}{index}", series.thing) if 0 <= index < series.length else None

    def label(self, name: str) -> Mark | None:
        """What a branch to a name means; None if no label is seen."""
        seen = self.labelled(name)
        return None if seen is None else seen[1]

    def labelled(self, name: str) -> tuple[Scope[Thing, Mark], Mark] | None:
        """The meaning of a label as the target of a branch, and the braces that hold the label."""
        scope: Scope[Thing, Mark] | None = self
        while scope is not None:
            found = scope.labels.get(name)
            if found is not None:
                return scope, found
            scope = scope.outer
        return None

    def around(self) -> Iterator[Scope[Thing, Mark]]:
        """This scope and those around it, the innermost first."""
        scope: Scope[Thing, Mark] | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def inside(self, stem: str, count: int) -> str | None:
        """A name with a declaration of its own in these braces that a series of `count` names would have as well."""
        lowest = self._lowest.get(stem)
        return lowest if lowest is not None and 0 <= index_of(lowest, stem) < count else None

    def behind(self, name: str, count: int | None = None) -> Scope[Thing, Mark]:
        """Where the next declaration belongs if this scope is asked later what names before it meant.

        That is this scope, or one within it where a name would from now on mean something else.
        """
        if hidden_register(name, count):
            hides = True
        elif count is None:
            hides = self.place(name) is not None
        else:
            hides = any(name in scope.series or scope.inside(name, count) for scope in self.around())
        return Scope(self) if hides else self


def labelled(statements: Iterable[Statement]) -> Iterator[tuple[str, Statement | None]]:
    """The labels among the statements of a pair of braces, each with the statement after it; None at their end."""
    last: Statement | None = None
    for one in (*statements, None):
        if type(last) is Label:
            yield last.name, one
        last = one
