"""PyTorch's device "cuda", put in place as soon as PyTorch is imported, if `PTXLOOM_TORCH_CUDA=1` asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ptxloom.extras import is_installed
from ptxloom.triton.imported import follow

if TYPE_CHECKING:
    from types import ModuleType

VARIABLE: Final = "PTXLOOM_TORCH_CUDA"
_TORCH: Final = "torch"


def is_wanted() -> bool:
    """Whether CPU tensors shall be had as those of a device "cuda", and kernels can run at all."""
    return os.environ.get(VARIABLE) == "1" and is_installed("run")


def follow_torch() -> None:
    """Put the device in place now, or when PyTorch has been imported."""
    if not is_wanted():
        return
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "ptxloom")  # NVIDIA's asks PyTorch whether there is a device
    follow(_TORCH, _install)


def _install(_torch: ModuleType) -> None:
    from ptxloom.triton.torch_cuda import install  # noqa: PLC0415 - imports PyTorch

    install()
