"""A CUDA driver that needs no GPU: `libcuda.so.1` in C, and the server in which its kernels run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxloom.cuda_driver.here import driver

__all__ = ["driver"]


def __getattr__(name: str) -> object:
    """`driver`, imported on first use: compiling the libraries does not need the modules that run kernels."""
    if name != "driver":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ptxloom.cuda_driver.here import driver  # noqa: PLC0415 - as above

    return driver
