"""Questions about names of files; for a name that no file can have, the result is False."""

from __future__ import annotations

from pathlib import Path


def exists(name: str | Path) -> bool:
    """Whether there is something of this name."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def is_file(name: str | Path) -> bool:
    """Whether it is a file's."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def is_folder(name: str | Path) -> bool:
    """Whether it is a folder's."""
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False
