"""What can be wrong with the qualifiers of an instruction; places count from 0, the first qualifier."""

from __future__ import annotations

from ptxloom.dataclass import dataclass

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """No form has the qualifier at `place`; one of `near` may have been meant, `expected` are of its sort."""

    place: int
    near: Words
    expected: Words


@dataclass(frozen=True, slots=True)
class Misread:
    """ptxas silently takes the qualifier at `place` for another one."""

    place: int
    taken_as: str
    expected: Words


@dataclass(frozen=True, slots=True)
class Repeated:
    """The qualifier at `place` repeats the one at `first`."""

    place: int
    first: int


@dataclass(frozen=True, slots=True)
class Crowded:
    """The qualifiers at `first` and `place` are two values of one slot."""

    place: int
    first: int
    slot: str


@dataclass(frozen=True, slots=True)
class Disordered:
    """The types at `first` and `place` fit only the other way round."""

    place: int
    first: int


@dataclass(frozen=True, slots=True)
class Clash:
    """No form has both the qualifier at `place` and the one at `other`.

    Attributes:
        place: The one to change first.
        other: The one that it conflicts with.
        instead: Legal replacements for `place`, each a list of qualifiers; an empty one means removing it.
        instead_of_other: Likewise for `other`.
        why: The constraint's reason, or an empty string.
    """

    place: int
    other: int
    instead: tuple[Words, ...]
    instead_of_other: tuple[Words, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Missing:
    """Qualifiers are missing.

    Attributes:
        additions: Lists of qualifiers, one of which must be added.
        after: The place after which the first of them comes in the manual's order; -1 is the opcode.
        because: The place of the qualifier that requires them; -1 if the opcode does.
        why: The constraint's reason, or an empty string.
    """

    additions: tuple[Words, ...]
    after: int
    because: int
    why: str


@dataclass(frozen=True, slots=True)
class Broken:
    """The qualifiers fit a syntax line and break a constraint on it.

    Attributes:
        place: One of those that the constraint concerns.
        instead: Legal replacements; an empty word means removing it.
        why: The constraint's reason.
    """

    place: int
    instead: Words
    why: str


@dataclass(frozen=True, slots=True)
class NoForm:
    """The qualifiers fit no form, without a simpler reason."""


@dataclass(frozen=True, slots=True)
class TooMany:
    """More qualifiers than any instruction has; `most` is the limit."""

    most: int


Problem = TooMany | Unknown | Misread | Repeated | Crowded | Disordered | Clash | Missing | Broken | NoForm
