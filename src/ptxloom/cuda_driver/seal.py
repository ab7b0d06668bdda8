"""The seal of a folder of libraries: their key and the digest of each, as in entries of the cache."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEAL: Final = "key"


def seal(place: Path, key: str, files: Iterable[str]) -> None:
    """Write the seal of a folder that has just been filled."""
    (place / SEAL).write_text(_told(place, key, files), encoding="ascii")


def is_sealed(place: Path, key: str, files: Iterable[str]) -> bool:
    """Whether a folder was sealed for this key, and holds all files, unchanged since."""
    try:
        return (place / SEAL).read_bytes() == _told(place, key, files).encode("ascii")
    except OSError:
        return False


def _told(place: Path, key: str, files: Iterable[str]) -> str:
    lines = (f"{hashlib.sha256((place / name).read_bytes()).hexdigest()}  {name}\n" for name in files)
    return f"{key}\n{''.join(lines)}"
