"""Who runs kernels: ptxloom, or a GPU. Triton's registry of back ends is asked, and told."""

from __future__ import annotations

import os
from typing import Final

import triton.backends as registry

NAME: Final = "ptxloom"
"""Under which the entry point stands."""

_state: Final[dict[str, bool]] = {"selected": False}


def is_wanted() -> bool:
    """Whether no GPU is there, nor another back end that runs: else ptxloom must be asked for by its name."""
    asked = os.environ.get("TRITON_DEFAULT_BACKEND")
    if asked:
        return asked == NAME
    others = (one.driver for name, one in registry.backends.items() if name != NAME)
    return not any(driver.is_active() for driver in others)


def is_selected() -> bool:
    """Whether ptxloom runs kernels in this process."""
    return _state["selected"]


def select() -> None:
    """Ptxloom runs kernels from now on: NVIDIA's own back end, which claims the same targets, leaves the registry."""
    registry.backends.pop("nvidia", None)
    _state["selected"] = True
