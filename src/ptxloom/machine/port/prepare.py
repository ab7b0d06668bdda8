"""What comes before launches: what a device is, which tools watch, kernels of modules that a driver has judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.kernel import Kernel
from ptxloom.machine.launch.options import FUSED, DeviceOptions, device_options, multiprocessors, read_checks
from ptxloom.machine.program.signatures import SERVICES

if TYPE_CHECKING:
    from ptxloom.syntax.module import Module

__all__ = ["DeviceOptions", "assembled", "device_options", "is_served", "multiprocessors", "read_checks"]


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


def is_served(function: str) -> bool:
    """Whether the machine itself runs a function of CUDA's device run-time, such as `vprintf`, so that none links it.

    Example:
        >>> is_served("malloc"), is_served("cudaDeviceSynchronize")
        (True, False)
    """
    return function in SERVICES
