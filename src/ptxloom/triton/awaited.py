"""PyTorch's device "cuda", installed as soon as PyTorch is imported, if `PTXLOOM_TORCH_CUDA=1` is set."""

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
    """Whether the program wants CPU tensors as those of a device "cuda", and kernels can run."""
    return os.environ.get(VARIABLE) == "1" and is_installed("run")


def follow_torch() -> None:
    """Install the device now, or once PyTorch has been imported."""
    if not is_wanted():
        return
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "ptxloom")  # NVIDIA's back end queries PyTorch for a device
    follow(_TORCH, _install)


def _install(torch: ModuleType) -> None:
    version: Any = torch.version  # untyped: PyTorch is not a dependency
    if toolkit := torch_build.toolkit(version.cuda, version.hip):
        _say(torch_build.refusal(version.__version__, toolkit))
        return

    from ptxloom.triton.torch_cuda import install  # noqa: PLC0415 - imports PyTorch

    install()


def _say(text: str) -> None:
    """Print it on standard error: a warning could end the import of PyTorch."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        with suppress(OSError, ValueError):
            stream.write(f"ptxloom: {text}\n")
