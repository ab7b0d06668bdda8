"""The source texts of PTX, which reports quote first, found in trusted folders.

Names in `.file` are looked up below folders that the caller has named, or works in (`sources`); a module may come from
anyone, so only files with names of source texts are quoted.
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
        folders: The folders; the first that has a file counts.
    """

    folders: tuple[Path, ...]

    def __call__(self, name: str) -> Source | None:
        """The text that a `.file` refers to; None if it is not found, too long, or not named like a source text."""
        if (PureWindowsPath(name) if "\\" in name else PurePosixPath(name)).suffix.lower() not in _ENDINGS:
            return None
        try:
            path = source_file(name, self.folders)
            return None if path is None else Source(content(path, _MOST_BYTES).decode("utf-8", "replace"), called(path))
        except (OSError, OutOfReach):  # the current folder may have been removed
            return None


@dataclass(frozen=True, slots=True)
class Compiled:
    """The text that was compiled, and those that it includes.

    Attributes:
        text: The text that the compiler was given.
        folder: Its folder, as named by the caller.
    """

    text: Source
    folder: str

    def __call__(self, name: str) -> Source | None:
        """The text that a `.file` refers to, by the names of `Names`."""
        return self.text if name == self.text.name else Below((Path(), Path(self.folder)))(name)


class InThisProcess:
    """Texts of functions compiled in this process: those that Python quotes in a traceback."""

    def __call__(self, name: str) -> Source | None:
        """The text that a `.file` refers to, even a notebook cell."""
        lines = linecache.getlines(name)
        return Source("".join(lines), called(Path(name))) if lines else None


def around(name: str) -> Below:
    """The folders for the source of a PTX file: beside it, or below the current folder."""
    return Below((Path(name).parent, Path()))


def called(path: Path) -> str:
    """The displayed name of a found file: relative to the current folder, if it is below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
