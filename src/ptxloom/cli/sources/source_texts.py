"""Lines of the programs that PTX was compiled from, found beside the PTX or below a folder that was named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import talk
from ptxloom.diagnostics import UsageError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import content
from ptxloom.files.names import is_folder
from ptxloom.files.sources import source_file
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.syntax.origins import SourceLine

_MOST_BYTES: Final = 1 << 24
_NAMED: Final = 3  # files that are not found and are named


class SourceTexts:
    """The files that `.file` names, each read on first use.

    Attributes:
        missing: The requested files that do not exist.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._texts: dict[str, Sequence[str] | None] = {}

    def line(self, origin: SourceLine) -> str | None:
        """The text of a line, without blanks around it; None if it is not found."""
        if origin.file not in self._texts:
            path = source_file(origin.file, self._folders)
            self._texts[origin.file] = None if path is None else _lines(path)
        lines = self._texts[origin.file]
        return lines[origin.line - 1].strip() if lines is not None and 0 < origin.line <= len(lines) else None

    def tell(self) -> None:
        """Report which files were not found."""
        if self._folders and self.missing:
            rest = len(self.missing) - _NAMED
            names = ", ".join(map(title, self.missing[:_NAMED])) + (f" and {rest} more" if rest > 0 else "")
            talk(f"ptxloom: the source {names} is not found beside the PTX or below `--source-root`")

    @property
    def missing(self) -> tuple[str, ...]:
        """The requested files that do not exist, in the order of the requests."""
        return tuple(name for name, lines in self._texts.items() if lines is None)


def _lines(path: Path) -> Sequence[str] | None:
    """The lines of a file; None of one that is too long or cannot be read."""
    try:
        return content(path, _MOST_BYTES).decode("utf-8", "replace").splitlines()
    except (OSError, OutOfReach):
        return None


def source_texts(ptx: Path, options: Options) -> SourceTexts:
    """The source texts of a module, if `--source` is given: below the named folder, then beside the PTX.

    Raises:
        UsageError: There is no such folder.
    """
    if not options.source:
        return SourceTexts(())
    folders = [ptx.parent]
    if options.source_root is not None:
        if not is_folder(options.source_root):
            raise UsageError("--source-root", options.source_root, "a folder")
        folders.insert(0, Path(options.source_root))
    return SourceTexts(folders)
