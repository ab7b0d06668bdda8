"""The owner of a file.

Files that steer ptxloom, or that it runs, are trusted only if no other user can have written them.

As in ssh and git: a file and all folders above it must belong to this user or to root, and no others may write there,
except in sticky folders such as `/tmp`, where users can only remove their own files.
"""

from __future__ import annotations

import os
import stat
import warnings
from functools import cache
from pathlib import Path
from typing import Final

from ptxloom.diagnostics import DistrustWarning
from ptxloom.source import title

_ROOT: Final = 0
_KNOWN: Final = hasattr(os, "geteuid")  # elsewhere, a user's folders are private


def doubt(path: Path) -> str:
    """Why a file is not trusted, as a part of a sentence; empty if it is trusted or does not exist.

    Args:
        path: A file or folder; links are followed.
    """
    if not _KNOWN:
        return ""
    try:
        real = path.resolve(strict=True)
        if why := _of_this(real, real.lstat()):
            return why
        for folder in real.parents:
            if why := _of_this(folder, folder.lstat(), above=True):
                return why
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError, RuntimeError):  # the last: links in a circle
        return f"{title(path)} cannot be looked at"
    return ""


def ours(status: os.stat_result) -> bool:
    """Whether a file is this user's or root's, and no other user may write it."""
    return not _KNOWN or (status.st_uid in {os.geteuid(), _ROOT} and not _others_write(status))


def distrust(why: str) -> None:
    """Warn that nothing is kept.

    Args:
        why: As a part of a sentence.
    """
    what = f"the cache is off, because its files are executed and {why}"
    warnings.warn(f"{what}: name a folder of your own in PTXLOOM_CACHE", DistrustWarning, stacklevel=2)


def _of_this(place: Path, status: os.stat_result, *, above: bool = False) -> str:
    known = {os.geteuid(), _ROOT, *([_uppermost()] if above else [])}
    if status.st_uid not in known:
        return f"{title(place)} belongs to another user"
    safe = not _others_write(status) or (above and status.st_mode & stat.S_ISVTX)
    return "" if safe else f"{title(place)} can be written by others"


@cache
def _uppermost() -> int:
    """Whose the uppermost folder is: where users are mapped, in a container, root has another number there."""
    return Path("/").stat().st_uid


def _others_write(status: os.stat_result) -> bool:
    """Whether others than its owner may write a file: everybody, or a group that has further members."""
    return bool(status.st_mode & stat.S_IWOTH) or bool(status.st_mode & stat.S_IWGRP and not _is_alone(status))


def _is_alone(status: os.stat_result) -> bool:
    """Whether the group of a file has only its owner as a member, as on many systems."""
    import grp  # noqa: PLC0415 - not everywhere
    import pwd  # noqa: PLC0415 - likewise

    try:
        user, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
