"""A hint that an editor shows within a text."""

from __future__ import annotations

from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """A word that an editor shows in the text.

    Attributes:
        offset: The offset before which it is shown.
        label: The word.
        about: Its meaning, in a sentence.
    """

    offset: int
    label: str
    about: str
