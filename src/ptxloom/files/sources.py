"""The files that PTX was compiled from, found below trusted folders.

A module may come from anyone, and its `.file` may name any file: names are only looked up below these
folders, by the longest suffix of the path that is a file there; `..` is refused.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_DEEPEST: Final = 64
"""The most components of a path that are tried, from its end: each costs an access to the disk."""


def source_file(name: str, folders: Iterable[Path]) -> Path | None:
    """The regular file that a `.file` refers to, in the first folder that has it; None if no folder has it.

    Args:
        name: The name in `.file`, a path on the machine that compiled the module.
        folders: The folders to search.
    """
    roots = [folder.resolve() for folder in folders]
    found = (_file_below(root, ending) for root in roots for ending in _endings(name))
    return next((path for path in found if path is not None), None)


def _endings(name: str) -> Iterable[tuple[str, ...]]:
    """The suffixes of a path, the longest first; empty for a path with `..`."""
    path = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    parts = path.parts[1:] if path.anchor else path.parts
    return () if ".." in parts else (parts[at:] for at in range(max(0, len(parts) - _DEEPEST), len(parts)))


def _file_below(root: Path, ending: tuple[str, ...]) -> Path | None:
    try:
        found = root.joinpath(*ending).resolve(strict=True)
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
