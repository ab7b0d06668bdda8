"""PyTorch's device "cuda", put in place as soon as PyTorch is imported, if `PTXLOOM_TORCH_CUDA=1` asks for it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from ptxloom.extras import is_installed
from ptxloom.triton import torch_build
from ptxloom.triton.imported import follow

if TYPE_CHECKING:
    from types import ModuleType
    from typing import TextIO

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


def _install(torch: ModuleType) -> None:
    version: Any = torch.version  # nothing is known of the types of PyTorch, which nothing here brings
    if toolkit := torch_build.toolkit(version.cuda, version.hip):
        _say(torch_build.refusal(version.__version__, toolkit))
        return

    from ptxloom.triton.torch_cuda import install  # noqa: PLC0415 - imports PyTorch

    install()


def _say(text: str) -> None:
    """Say it beside what the program prints: a warning could end the import of PyTorch."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        with suppress(OSError, ValueError):
            stream.write(f"ptxloom: {text}\n")
