"""A word that stands behind a place in a text."""

from __future__ import annotations

from ptxloom.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Hint:
    """A word that an editor shows in the text.

    Attributes:
        offset: What it stands before.
        label: The word.
        about: What it means, in a sentence.
    """

    offset: int
    label: str
    about: str
