"""The result of a search."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from ptxloom.diagnosis.suspects.changes import Change
    from ptxloom.diagnosis.suspects.ranking import Suspected
    from ptxloom.diagnosis.suspects.trials import Judged


@dataclass(eq=False, slots=True)
class Found:
    """The result of the search.

    Attributes:
        mends: The changes that mend everything.
        nearly: Those that make some elements right and none wrong, with their number; the best first.
        tried: How many changes were tried.
        is_complete: Whether all planned changes were tried.
        before: Which elements are wrong with no change.
        suspected: The lines that best match the wrong elements, the best first; empty if a change mends all.
    """

    before: Judged
    mends: list[Change] = field(default_factory=list)
    nearly: list[tuple[int, Change]] = field(default_factory=list)
    tried: int = 0
    is_complete: bool = True
    suspected: list[Suspected] = field(default_factory=list)
