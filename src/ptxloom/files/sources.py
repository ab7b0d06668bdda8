"""The files that PTX was compiled from, found below trusted folders.

A module may come from anybody, and what its `.file` names may be any file: names are only looked up below these
folders, the longest end of the path that leads to a file there counts, and `..` leads nowhere.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEEPEST: Final = 64
"""Names of folders in a path that are looked at, counted from its end: each costs a look at the disk."""


def source_file(name: str, folders: Iterable[Path]) -> Path | None:
    """The plain file that a `.file` means, in the first of the folders that has it; None if no folder has it.

    Args:
        name: As `.file` states it, a path of whatever machine compiled the module.
        folders: Where it may be.
    """
    roots = [folder.resolve() for folder in folders]
    found = (_file_below(root, ending) for root in roots for ending in _endings(name))
    return next((path for path in found if path is not None), None)


def _endings(name: str) -> Iterable[tuple[str, ...]]:
    """The ends of a path, the longest first; empty for a path that goes up."""
    path = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    parts = path.parts[1:] if path.anchor else path.parts
    return () if ".." in parts else (parts[at:] for at in range(max(0, len(parts) - _DEEPEST), len(parts)))


def _file_below(root: Path, ending: tuple[str, ...]) -> Path | None:
    try:
        found = root.joinpath(*ending).resolve(strict=True)
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
