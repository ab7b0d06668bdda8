"""Opens files that must be regular: a pipe could block, and opening a device may have effects."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO, Final

from ptxloom.files.errors import OutOfReach

if TYPE_CHECKING:
    from pathlib import Path

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading; links are followed.

    Raises:
        OutOfReach: It is a folder, a pipe, a socket or a device.
        OSError: It does not exist, or may not be read.
        ValueError: No file can have this name.
    """
    _must_be_regular(path.stat())
    descriptor = os.open(path, _FLAGS)
    try:
        _must_be_regular(os.fstat(descriptor))  # it may have been replaced since
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _must_be_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OutOfReach("it is not a file")
