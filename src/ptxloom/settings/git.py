"""What git leaves out: the `.gitignore` files of a repository, and its `info/exclude`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.files.names import exists
from ptxloom.settings.patterns import Patterns

if TYPE_CHECKING:
    from pathlib import Path


def ignored_by(path: Path, *, folder: bool) -> Path | None:
    """The file that has git leave a path out; None if it does not. The folders above the path are not asked about.

    Args:
        path: From the root on.
        folder: Whether it is a folder.
    """
    for file, patterns in _rules(path.parent) or ():
        said = patterns.says(path.relative_to(_speaks_of(file)).as_posix(), folder=folder)
        if said is not None:
            return file if said else None
    return None


def forget() -> None:
    """Read every file anew: it may have changed."""
    _rules.cache_clear()


@cache
def _rules(folder: Path) -> tuple[tuple[Path, Patterns], ...] | None:
    """The files of patterns that count in a folder, the nearest first; None outside of any repository."""
    own = _read(folder / ".gitignore")
    if exists(folder / ".git"):
        return (*own, *_read(folder / ".git" / "info" / "exclude"))
    above = None if folder.parent == folder else _rules(folder.parent)
    return None if above is None else (*own, *above)


def _speaks_of(file: Path) -> Path:
    """The folder that a file's patterns are relative to."""
    return file.parents[2] if file.name == "exclude" else file.parent


def _read(file: Path) -> tuple[tuple[Path, Patterns], ...]:
    """One file of patterns; where there is none, or none that can be read, git sees none either."""
    try:
        lines = file.read_bytes().split(b"\n")
    except (OSError, ValueError):
        return ()
    return ((file, Patterns.of_bytes(lines)),)
