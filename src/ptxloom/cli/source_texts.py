"""Lines of the programs that PTX was compiled from, found beside the PTX or below a folder that was named.

A module may come from anybody, and what its `.file` names may be any file: names are only looked up below these
folders, the longest end of the path that leads to a file there counts, and `..` leads nowhere.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Final

from ptxloom.cli.output import talk
from ptxloom.diagnostics import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.cli.arguments import Options
    from ptxloom.syntax.origins import SourceLine

_MOST_BYTES: Final = 1 << 24
_NAMED: Final = 3  # files that are not found and are named


class SourceTexts:
    """The files that `.file` names, each read when it is first asked for.

    Attributes:
        missing: The files that were asked for and are not there.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folder.resolve() for folder in folders)
        self._texts: dict[str, Sequence[str] | None] = {}

    def line(self, origin: SourceLine) -> str | None:
        """The text of a line, without blanks around it; None if it is not found."""
        if origin.file not in self._texts:
            self._texts[origin.file] = self._lines(origin.file)
        lines = self._texts[origin.file]
        return lines[origin.line - 1].strip() if lines is not None and 0 < origin.line <= len(lines) else None

    def tell(self) -> None:
        """Say which files were not found."""
        if self._folders and self.missing:
            rest = len(self.missing) - _NAMED
            names = ", ".join(self.missing[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
            talk(f"ptxloom: the source {names} is not found beside the PTX or below `--source-root`")

    @property
    def missing(self) -> tuple[str, ...]:
        """The files that were asked for and are not there, in the order in which they were."""
        return tuple(name for name, lines in self._texts.items() if lines is None)

    def _lines(self, name: str) -> Sequence[str] | None:
        for folder in self._folders:
            for ending in _endings(name):
                text = _read(folder, folder.joinpath(*ending))
                if text is not None:
                    return text.splitlines()
        return None


def _endings(name: str) -> Iterable[tuple[str, ...]]:
    """The ends of a path, the longest first; none of one that goes up."""
    path = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    parts = path.parts[1:] if path.anchor else path.parts
    return () if ".." in parts else (parts[at:] for at in range(len(parts)))


def _read(folder: Path, path: Path) -> str | None:
    """The text of a plain file below a folder; None if it is none."""
    try:
        found = path.resolve(strict=True)
        if not found.is_relative_to(folder) or not found.is_file() or found.stat().st_size > _MOST_BYTES:
            return None
        return found.read_bytes().decode("utf-8", "replace")
    except (OSError, ValueError, RuntimeError):
        return None


def source_texts(ptx: Path, options: Options) -> SourceTexts:
    """The texts for a module, if `--source` asks for them: below the folder that was named, then beside the PTX.

    Raises:
        UsageError: There is no such folder.
    """
    if not options.source:
        return SourceTexts(())
    folders = [ptx.parent]
    if options.source_root is not None:
        if not _is_folder(options.source_root):
            raise UsageError("--source-root", options.source_root, "a folder")
        folders.insert(0, Path(options.source_root))
    return SourceTexts(folders)


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # no folder can have this name
        return False
