"""Selects what runs kernels, ptxloom or a GPU, through Triton's registry of back ends."""

from __future__ import annotations

import os
from typing import Final

import triton
import triton.backends as registry

from ptxloom.diagnostics import PtxloomError
from ptxloom.extras import is_installed
from ptxloom.triton import OLDEST

NAME: Final = "ptxloom"
"""The name of the entry point."""

_state: Final[dict[str, bool]] = {"selected": False}


def is_wanted() -> bool:
    """Whether there is neither a GPU nor another usable back end: else ptxloom must be selected by name.

    Also False if it could not run: without the extra `run`, or in an older Triton. A program that selects it by name
    gets an error that names what is missing.
    """
    asked = os.environ.get("TRITON_DEFAULT_BACKEND")
    if asked:
        return asked == NAME
    if not is_installed("run") or _version() < OLDEST:
        return False
    others = (one.driver for name, one in registry.backends.items() if name != NAME)
    return not any(driver.is_active() for driver in others)


def _version() -> tuple[int, ...]:
    """Triton's version, such as (3, 8)."""
    return tuple(int(part) for part in triton.__version__.split(".")[:2])


def is_selected() -> bool:
    """Whether ptxloom runs kernels in this process."""
    return _state["selected"]


def select() -> None:
    """Let ptxloom run kernels from now on: removes NVIDIA's back end, which claims the same targets, from the registry.

    Raises:
        PtxloomError: Triton is too old.
    """
    if _version() < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise PtxloomError(f"Triton {triton.__version__} is too old: ptxloom runs kernels of {oldest} or later")
    registry.backends.pop("nvidia", None)
    _state["selected"] = True
