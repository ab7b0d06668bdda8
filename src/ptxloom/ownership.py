"""Whose a file is. What steers ptxloom, or is run by it, is believed only if nobody else can have written it.

As ssh and git have it: a file and all folders above it belong to this user or to root, and no others may write there,
but for folders in which everybody removes only what is theirs (sticky, as `/tmp` is).
"""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path
from typing import Final

from ptxloom.diagnostics import DistrustWarning
from ptxloom.source import title

_ROOT: Final = 0
_KNOWN: Final = hasattr(os, "geteuid")  # where it is not, a user's folders are nobody else's


def doubt(path: Path) -> str:
    """Why what is there is not believed, as a part of a sentence; empty if it is, or if there is nothing.

    Args:
        path: A file or folder; it counts where links lead.
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
    """Whether a file is this user's or root's, and nobody else may write it."""
    return not _KNOWN or (status.st_uid in {os.geteuid(), _ROOT} and not _others_write(status))


def distrust(why: str) -> None:
    """Warn that nothing is kept.

    Args:
        why: As a part of a sentence.
    """
    what = f"nothing is kept from run to run, as what is kept is run and {why}"
    warnings.warn(f"{what}: name a folder of your own in PTXLOOM_CACHE", DistrustWarning, stacklevel=2)


def _of_this(place: Path, status: os.stat_result, *, above: bool = False) -> str:
    known = {os.geteuid(), _ROOT, *([_uppermost()] if above else [])}
    if status.st_uid not in known:
        return f"{title(place)} belongs to another user"
    safe = not _others_write(status) or (above and status.st_mode & stat.S_ISVTX)
    return "" if safe else f"{title(place)} can be written by others"


def _uppermost() -> int:
    """Whose the uppermost folder is: where users are mapped, in a container, root has another number there."""
    return Path("/").stat().st_uid


def _others_write(status: os.stat_result) -> bool:
    """Whether others than its owner may write a file: everybody, or a group that has further members."""
    return bool(status.st_mode & stat.S_IWOTH) or bool(status.st_mode & stat.S_IWGRP and not _is_alone(status))


def _is_alone(status: os.stat_result) -> bool:
    """Whether the group of a file is that of its owner alone, as many systems give everybody one."""
    import grp  # noqa: PLC0415 - not everywhere
    import pwd  # noqa: PLC0415 - likewise

    try:
        user, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return group.gr_gid == user.pw_gid and group.gr_name == user.pw_name and set(group.gr_mem) <= {user.pw_name}
