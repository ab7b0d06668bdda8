"""What a program's environment says so that it finds this driver, and the server behind it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SOCKET = "PTXLOOM_DRIVER"
_LIBRARY = "libcuda.so.1"


def environment(folder: Path, socket: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program that shall run on this driver.

    Args:
        folder: Where the libraries lie.
        socket: The server's.
        given: What it has so far; by default this process's.

    Returns:
        The same and more: libraries of this name are found here first, whoever looks for them.
    """
    made = dict(os.environ if given is None else given)
    for name, first in (("LD_LIBRARY_PATH", str(folder)), ("LD_PRELOAD", str(folder / _LIBRARY))):
        made[name] = f"{first}:{made[name]}" if made.get(name) else first
    return made | {SOCKET: socket}
