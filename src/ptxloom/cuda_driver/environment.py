"""The environment with which a program finds this driver and its server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET = "PTXLOOM_DRIVER"
ON_HAZARD: Final = ("report", "end", "stop", "ignore")
"""What becomes of a hazard: it is reported as it happens, reported at the end, ends the program, or is ignored."""
_LIBRARY = "libcuda.so.1"
_FIRST = Path(__file__).parent / "first"


def environment(folder: Path, socket: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program that shall run on this driver.

    Args:
        folder: The folder that holds the libraries.
        socket: The server's.
        given: What it has so far; by default this process's.

    Returns:
        The same and more: programs and linkers find libraries of this name here first, Python runs
        `first/sitecustomize.py` first, and compilers that have settings for it make code that holds PTX.
    """
    made = _for_cute_dsl(folder) | {"PTXLOOM_TORCH_CUDA": "1"} | dict(os.environ if given is None else given)
    firsts = {
        "LD_LIBRARY_PATH": folder,
        "LD_PRELOAD": folder / _LIBRARY,
        "LIBRARY_PATH": folder,  # compilers look there for -lcuda and -lcudart
        "PYTHONPATH": _FIRST,
    }
    for name, first in firsts.items():
        made[name] = f"{first}:{made[name]}" if made.get(name) else str(first)
    return made | {SOCKET: socket}


def _for_cute_dsl(folder: Path) -> dict[str, str]:
    """The CuTe DSL's documented settings, unless the program sets others.

    Its own runtime library holds NVIDIA's CUDA runtime, which asks if the driver is NVIDIA's. With line information its
    machine code carries the PTX.
    """
    return {"CUTE_DSL_LIBS": str(folder / "libcute_dsl_runtime.so"), "CUTE_DSL_LINEINFO": "1"}
