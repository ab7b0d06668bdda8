"""The environment with which a program finds this driver and its server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

SOCKET = "PTXLOOM_DRIVER"
ON_HAZARD: Final = ("report", "end", "stop", "ignore")
"""How hazards are treated: reported at once, reported at the end, fatal to the program, or ignored."""
_LIBRARY = "libcuda.so.1"
_FIRST = Path(__file__).parent / "first"


def environment(folder: Path, socket: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a program that runs on this driver.

    Args:
        folder: The folder that holds the libraries.
        socket: The server's.
        given: The environment to extend; by default this process's.

    Returns:
        The extended environment: programs and linkers find these libraries first, Python runs
        `first/sitecustomize.py` first, and compilers with such a setting emit code that includes PTX.
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

    Its own runtime library contains NVIDIA's CUDA runtime, which checks that the driver is NVIDIA's. With line
    information its machine code includes the PTX.
    """
    return {"CUTE_DSL_LIBS": str(folder / "libcute_dsl_runtime.so"), "CUTE_DSL_LINEINFO": "1"}
