"""Writes files atomically, and follows no unintended links."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Final

from ptxloom.files.errors import OutOfReach
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_OURS_ALONE: Final = 0o600


def inside(folder: Path, path: Path) -> Path:
    """The path of a file below a folder, with all links on the way resolved, except one of its own name.

    Raises:
        OutOfReach: A link or a `..` leads out of the folder, or no file can have this name.
    """
    try:
        root, parent = folder.resolve(), path.parent.resolve()
    except (OSError, ValueError, RuntimeError):  # RuntimeError: links in a cycle
        raise OutOfReach("no file can have this name") from None
    if not parent.is_relative_to(root) or path.name in {"", ".."}:
        raise OutOfReach(f"it leads out of {title(folder)}")
    return parent / path.name


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a new file beside it, sync it, then rename it over the file, with the same permissions.

    A link with this name is replaced; its target stays unchanged.

    Raises:
        OSError: It cannot be written, or the name is neither a file nor a link.
    """
    mode = _mode(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(beside, "xb", opener=_open_alone) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _open_alone(name: str, flags: int) -> int:
    return os.open(name, flags, _OURS_ALONE)


def _mode(path: Path) -> int:
    """The permissions of a new file with this name.

    Raises:
        OSError: The name is something else, or a file that may not be written.
    """
    try:
        status = path.lstat()
    except FileNotFoundError:
        return 0o666 & ~_umask()
    if stat.S_ISLNK(status.st_mode):
        return 0o666 & ~_umask()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a file")
    if not os.access(path, os.W_OK):
        raise PermissionError(13, "Permission denied")
    return stat.S_IMODE(status.st_mode)


def _umask() -> int:
    """The process's umask; it can be read only by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
