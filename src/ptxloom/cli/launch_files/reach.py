"""What a launch file may read and write. It may come from a stranger; running it must be safe.

It may read any regular file: kernels may be in `../build`, arrays in `../data`, and what is read becomes PTX that is
checked or numbers in this process; nothing is sent anywhere. It may not read devices, pipes or standard input, which
could block, never end or have effects, or anything that would have to be fetched. Files of `equals` and `npy` must hold
arrays.

It may write only below its own folder, with links resolved at the time of writing, and only names that end in `.npy`.
To save an array elsewhere, use `--save` on the command line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.files.errors import OutOfReach
from ptxloom.files.names import exists, is_file
from ptxloom.files.writing import inside
from ptxloom.source import title

_ENDING: Final = ".npy"
_STANDARD_INPUT: Final = "-"


@dataclass(frozen=True, slots=True)
class Saved:
    """Where an array goes after the run.

    Attributes:
        path: The file, as named.
        folder: The folder that must contain it; None if the command line names the file.
    """

    path: Path
    folder: Path | None = None

    def place(self) -> Path:
        """The file to write, links on the way to it resolved as they are now.

        Raises:
            OutOfReach: The launch file may not write there; the text says why, and what to do.
        """
        if self.folder is None:
            return self.path
        how = "to save it elsewhere use `--save NAME=FILE.npy` on the command line"
        if self.path.suffix != _ENDING:
            raise OutOfReach(f"a launch file saves only what ends in {_ENDING}; {how}")
        try:
            return inside(self.folder, self.path)
        except OutOfReach:
            raise OutOfReach(f"a launch file saves only below its own folder; {how}") from None


def readable(folder: Path | None, name: str) -> Path:
    """A file that is named to be read.

    Args:
        folder: The launch file's folder, to which names are relative; None if the command line names the file.
        name: The name in the launch file.

    Raises:
        OutOfReach: It is not a file; the text is the rest of a sentence.
    """
    path = Path(name) if folder is None else folder / name
    if folder is not None and str(path) == _STANDARD_INPUT:
        raise OutOfReach("names standard input; only the command line can")
    if exists(path) and not is_file(path):
        raise OutOfReach(f"names {title(path)}, which is not a file")
    return path
