"""Names that several modules use, for no more things than today.

A word may have several owners if it is the same role in each package: `Reader`, `Writer`, `Record`, `Report`,
`Finding`, `Settings`, `Session`, `server.py`, `model.py`, or one noun at the layer that reads it, decides on it or
draws it (`racecheck.py`). A word that means another thing elsewhere gets a name that says which: by the field's word
if there is one (`Dim3`, `MipLevel`, `Liveness`, `DefUse`, `HappensBefore`, `DivergenceSource`), otherwise by a second
word (`PendingOperation`, `RegisterImages`).
"""

from __future__ import annotations

from pathlib import Path

import ptxloom
from tool_modules import loaded

SOURCE = Path(ptxloom.__file__).parent
CLASSES = 106
"""Names of public classes that several modules use, at most; 122 before the first were renamed."""
FILES = 140
"""Names of files that occur more than once, at most."""
concepts = loaded(Path(__file__).parents[2] / "tools" / "concepts.py")


def test_no_more_words_have_several_meanings() -> None:
    several = concepts.shared(concepts.classes(SOURCE))
    assert len(several) <= CLASSES, f"name the new class by what sets it apart from its namesake: {several}"


def test_no_more_files_share_their_names() -> None:
    several = concepts.shared(concepts.files(SOURCE))
    assert len(several) <= FILES, f"name the new file by what sets it apart from its namesake: {several}"


def test_the_table_of_concepts_can_be_made() -> None:
    found = concepts.counted(SOURCE)
    assert found["tables of opcodes"] < found["modules that name an opcode"] < 100 < found["files of Python"]
