"""The texts that PTX was compiled from: what reports quote first, found in trusted folders.

What `.file` names is looked up below folders that the caller has named, or works in (`sources`); a module may come from
anybody, so only what is called as a program's text is quoted.
"""

from __future__ import annotations

import linecache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final

from ptxloom.dataclass import dataclass
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import content
from ptxloom.files.sources import source_file
from ptxloom.source import Source

_ENDINGS: Final = frozenset(
    (*(".cu", ".cuh", ".cuf", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc", ".ipp", ".c", ".cc", ".cpp", ".cxx", ".cl"),
     *(".py", ".f", ".f90", ".f95", ".jl", ".rs", ".mojo", ".ll", ".mlir", ".ttir"))
)  # fmt: skip
_MOST_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Below:
    """Texts below some folders.

    Attributes:
        folders: The first that has a file counts.
    """

    folders: tuple[Path, ...]

    def __call__(self, name: str) -> Source | None:
        """The text that a `.file` means; None if it is not found, too long, or not called as a program's text."""
        if (PureWindowsPath(name) if "\\" in name else PurePosixPath(name)).suffix.lower() not in _ENDINGS:
            return None
        try:
            path = source_file(name, self.folders)
            return None if path is None else Source(content(path, _MOST_BYTES).decode("utf-8", "replace"), called(path))
        except (OSError, OutOfReach):  # the current folder may be gone, too
            return None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The text that was compiled, and those that it includes.

    Attributes:
        text: As the compiler was given it.
        folder: The folder that holds it, as it was named.
    """

    text: Source
    folder: str

    def __call__(self, name: str) -> Source | None:
        """The text that a `.file` means, as `Names` call it."""
        return self.text if name == self.text.name else Below((Path(), Path(self.folder)))(name)


class InThisProcess:
    """Texts of functions that this process itself has compiled: what Python would quote in a traceback."""

    def __call__(self, name: str) -> Source | None:
        """The text that a `.file` means; a cell of a notebook has one, too."""
        lines = linecache.getlines(name)
        return Source("".join(lines), called(Path(name))) if lines else None


def around(name: str) -> Below:
    """Where to look for the source of PTX in a file: beside it, or below the current folder."""
    return Below((Path(name).parent, Path()))


def called(path: Path) -> str:
    """What a file that was found is called: as seen from the current folder, if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
