"""Queries on names of files; False for a name that no file can have."""

from __future__ import annotations

from pathlib import Path


def exists(name: str | Path) -> bool:
    """Whether something with this name exists."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def is_file(name: str | Path) -> bool:
    """Whether it is a file."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def is_folder(name: str | Path) -> bool:
    """Whether it is a folder."""
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False
