"""The host's memory, checked before code that cannot handle a failed allocation."""

from __future__ import annotations

import mmap
import os
import sys
from pathlib import Path
from typing import Final

from ptxloom.diagnostics import PtxloomError

_CGROUP: Final = Path("/sys/fs/cgroup/memory.max")
_UNKNOWN: Final = 1 << 33  # the memory of a machine that does not report it
_UNLIMITED: Final = 1 << 64
# `ulimit` counts private memory, which is not the default of `mmap`
PRIVATE: Final = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}


class OutOfHostMemory(PtxloomError):  # noqa: N818 - names its cause
    """The host does not have enough memory."""

    def __init__(self, size: int, what: str) -> None:
        super().__init__(f"this machine refuses {size:,} bytes for {what}")


def must_have(size: int, what: str) -> None:
    """Allocate memory and free it: LLVM ends the process if an allocation fails.

    Raises:
        OutOfHostMemory: There is not enough.
    """
    try:
        mmap.mmap(-1, size, **PRIVATE).close()
    except (OSError, ValueError, OverflowError):
        raise OutOfHostMemory(size, what) from None


def total() -> int:
    """The memory available to this process: the machine's, its container's, or the limit of `ulimit`."""
    return min(_physical(), *_limits())


def _physical() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else _UNKNOWN


def _limits() -> list[int]:
    found = [_UNLIMITED]
    try:
        said = _CGROUP.read_text(encoding="ascii").strip()
    except OSError:
        said = ""
    if said.isdecimal():
        found.append(int(said))
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - POSIX alone has it

        soft = (resource.getrlimit(kind)[0] for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
        found += [limit for limit in soft if limit != resource.RLIM_INFINITY]
    return found
