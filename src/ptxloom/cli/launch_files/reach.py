"""What a launch file may read and write. It may come from anybody; whoever runs it must lose nothing.

It reads any regular file: kernels lie in `../build`, arrays in `../data`, and what is read becomes PTX that is judged
or numbers in this process, and is sent nowhere. It names no device, no pipe and not standard input, which would wait,
never end or do something, and nothing that would have to be fetched. `equals` and `npy` must hold arrays besides.

It writes below its own folder only, links resolved when it is written, and only what ends in `.npy`. Who wants an array
elsewhere says so on the command line, `--save`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
        path: The file, as it was named.
        folder: Below which it must lie; None if the command line names the file.
    """

    path: Path
    folder: Path | None = None

    def place(self) -> Path:
        """The file to write, links on the way to it resolved as they are now.

        Raises:
            OutOfReach: The launch file may not write there; the rest of the sentence says why, and what to do.
        """
        if self.folder is None:
            return self.path
        how = "to save it elsewhere say `--save NAME=FILE.npy` on the command line"
        if self.path.suffix != _ENDING:
            raise OutOfReach(f"a launch file saves only what ends in {_ENDING}; {how}")
        try:
            return inside(self.folder, self.path)
        except OutOfReach:
            raise OutOfReach(f"a launch file saves only below its own folder; {how}") from None


def readable(folder: Path | None, name: str) -> Path:
    """A file that is named to be read.

    Args:
        folder: The launch file's, which its names are relative to; None if the command line names the file.
        name: As it is named.

    Raises:
        OutOfReach: It is not a file; the rest of the sentence says so.
    """
    path = Path(name) if folder is None else folder / name
    if folder is not None and str(path) == _STANDARD_INPUT:
        raise OutOfReach("names standard input; only the command line can")
    if exists(path) and not is_file(path):
        raise OutOfReach(f"names {title(path)}, which is not a file")
    return path
