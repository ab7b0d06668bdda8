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
        The same and more: libraries of this name are found here first, whoever looks for them, and compilers that have
        settings for it make code that holds PTX.
    """
    made = _for_cute_dsl(folder) | {"PTXLOOM_TORCH_CUDA": "1"} | dict(os.environ if given is None else given)
    for name, first in (("LD_LIBRARY_PATH", str(folder)), ("LD_PRELOAD", str(folder / _LIBRARY))):
        made[name] = f"{first}:{made[name]}" if made.get(name) else first
    return made | {SOCKET: socket}


def _for_cute_dsl(folder: Path) -> dict[str, str]:
    """What the CuTe DSL's documented settings have to say, if the program says nothing else.

    Its own runtime library holds NVIDIA's CUDA runtime, which asks if the driver is NVIDIA's, and so does the Python
    package by which it launches unless TVM FFI does. With line information its machine code carries the PTX.
    """
    library = str(folder / "libcute_dsl_runtime.so")
    return {"CUTE_DSL_LIBS": library, "CUTE_DSL_LINEINFO": "1", "CUTE_DSL_ENABLE_TVM_FFI": "1"}
