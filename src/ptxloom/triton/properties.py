"""The device's properties: the architecture that kernels are compiled for, and the limits of a CTA."""

from __future__ import annotations

import os
from typing import Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa import Target
from ptxloom.isa.limits import LANES, shared_bytes_of

FIRST_WITH_CLUSTERS: Final = 90
"""The first compute capability, times ten, that has them."""


def capability() -> int:
    """The compute capability that kernels are compiled for, times ten.

    Raises:
        UsageError: `PTXLOOM_DEVICE` is not an architecture.
    """
    name = os.environ.get("PTXLOOM_DEVICE") or "sm_80"
    try:
        return Target.parse(name).number
    except UsageError:
        raise UsageError("PTXLOOM_DEVICE", name, "an architecture such as sm_80 or sm_90") from None


def properties() -> dict[str, int]:
    """The properties by Triton's names."""
    from ptxloom.machine.port.prepare import multiprocessors  # noqa: PLC0415 - it takes NumPy, `import triton` does not

    return {
        "max_shared_mem": shared_bytes_of(capability()),
        "max_num_regs": 65_536,
        "multiprocessor_count": multiprocessors(),
        "warpSize": LANES,
        "sm_clock_rate": 1_000_000,
        "mem_clock_rate": 1_000_000,
        "mem_bus_width": 1_024,
    }
