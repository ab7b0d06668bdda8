"""What people ask about that is not a word of PTX's syntax: each with a page, and where to go on (`concepts.toml`)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path

from ptxloom.dataclass import dataclass

_FILE = Path(__file__).parent / "concepts.toml"


@dataclass(frozen=True, slots=True)
class Concept:
    """A word of the documents on matrices and memory.

    Attributes:
        name: As people write it.
        about: In short, as a sentence begins.
        text: The page, except for its head.
        section: The manual's section.
    """

    name: str
    about: str
    text: str
    section: str

    @property
    def markdown(self) -> str:
        """The page that `ptxloom explain` prints."""
        return f"# {self.name}\n\n{self.about}.\n\n{self.text}\n## Manual section\n\nPTX ISA {self.section}\n"


@cache
def concepts() -> dict[str, Concept]:
    """Every concept by its name."""
    table: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: Concept(name, row["about"], row["text"], row["section"]) for name, row in table.items()}
