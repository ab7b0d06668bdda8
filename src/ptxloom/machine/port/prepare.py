"""What comes before launches: what a device is, which tools watch, kernels of modules that a driver has judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.kernel import Kernel
from ptxloom.machine.launch.options import (
    AS_WRITTEN,
    DEFAULT_CHECKS,
    FUSED,
    device_options,
    multiprocessors,
    read_checks,
)
from ptxloom.machine.program.signatures import SERVICES

if TYPE_CHECKING:
    from ptxloom.syntax.module import Module

__all__ = [
    "AS_WRITTEN",
    "assembled",
    "compiled",
    "device_options",
    "is_served",
    "multiprocessors",
    "read_checks",
]


def assembled(module: Module, name: str, arch: str) -> Kernel:
    """A kernel of a module that the caller has judged, its sums and products fused as ptxas fuses them.

    Args:
        module: The parsed module, without errors.
        name: The kernel's.
        arch: The architecture whose tensor cores compute.

    Raises:
        UnsupportedInstruction: The machine cannot run one of its instructions.
    """
    return Kernel(module, name, arch, unchecked=True, contract=FUSED)


def compiled(kernel: Kernel) -> Kernel:
    """A kernel whose code for whole warps under the usual tools is made, so that no launch's time pays for it."""
    kernel.code.address(whole=True, checks=frozenset(DEFAULT_CHECKS))
    return kernel


def is_served(function: str) -> bool:
    """Whether the machine itself runs a function of CUDA's device run-time, such as `vprintf`, so that none links it.

    Example:
        >>> is_served("malloc"), is_served("cudaDeviceSynchronize")
        (True, False)
    """
    return function in SERVICES
