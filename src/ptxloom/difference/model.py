"""What comparing two modules comes to."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.difference.lines import Line
    from ptxloom.survey import FunctionSurvey, LoopSummary
    from ptxloom.syntax import Module


class Change(StrEnum):
    """What became of a line."""

    SAME = "same"
    OPERANDS = "operands"  # the same instruction on other registers or numbers
    MOVED = "moved"  # it stands elsewhere in the other function
    REMOVED = "removed"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the first function beside one of the second; None where that has no such line."""

    change: Change
    a: Line | None
    b: Line | None


@dataclass(frozen=True, slots=True)
class Hunk:
    """Neighbouring rows that are not the same.

    Attributes:
        rows: At least one.
        weight: 0 if it touches memory, matrices or barriers, 1 if it touches control flow, 2 if it only computes, 3 if
            everything in it only stands elsewhere.
        label: The label before it in the first function, or "".
    """

    rows: tuple[Row, ...]
    weight: int
    label: str


@dataclass(frozen=True, slots=True)
class Count:
    """How often something is met in both.

    Attributes:
        what: A class of instructions ("global loads") or a fact ("local bytes").
        spelling: The instruction that is counted; "" for the class as a whole.
        a: In the first; likewise `b`, in the second.
    """

    what: str
    spelling: str
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class FunctionDifference:
    """Two functions beside each other.

    Attributes:
        a: The first; likewise `b`.
        counts: What differs in number, the weightiest first.
        facts: (what, in the first, in the second) of declarations and directives that differ.
        loops: The loops of both if they differ, by place.
        hunks: What differs, the weightiest first, then by place.
        changes: How many rows there are of each kind.
        whole: All lines were compared one by one.
    """

    a: FunctionSurvey
    b: FunctionSurvey
    counts: tuple[Count, ...]
    facts: tuple[tuple[str, str, str], ...]
    loops: tuple[tuple[LoopSummary, ...], tuple[LoopSummary, ...]] | None
    hunks: tuple[Hunk, ...]
    changes: dict[Change, int]
    whole: bool = True

    @property
    def same(self) -> bool:
        """Whether they are equal, whatever the names of their registers."""
        return not self.hunks and not self.facts and self.whole


@dataclass(frozen=True, slots=True)
class ModuleDifference:
    """Two modules beside each other.

    Attributes:
        a: The first; likewise `b`.
        facts: (what, in the first, in the second) of directives and variables of the module that differ.
        functions: Those that both have, in the order of the first.
        removed: The functions that only the first has; likewise `added`, those that only the second has.
    """

    a: Module
    b: Module
    facts: tuple[tuple[str, str, str], ...]
    functions: tuple[FunctionDifference, ...]
    removed: tuple[str, ...]
    added: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether they are equal."""
        return not (self.facts or self.removed or self.added) and all(one.same for one in self.functions)


HEAVY: Final = 0
CONTROL: Final = 1
COMPUTES: Final = 2
ELSEWHERE: Final = 3
