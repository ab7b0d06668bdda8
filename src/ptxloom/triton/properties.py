"""What the device is: the architecture that kernels are compiled for, and what a CTA may have of it."""

from __future__ import annotations

import os
from typing import Final

from ptxloom.diagnostics import UsageError
from ptxloom.isa import Target

MULTIPROCESSORS: Final = 4
"""Few, so that persistent kernels stay small."""

FIRST_WITH_CLUSTERS: Final = 90
"""The compute capability, times ten, that has them first."""

_SHARED_BYTES: Final = {75: 65_536, 80: 166_912, 87: 166_912, 90: 232_448, 100: 232_448, 103: 232_448}
"""What a CTA may have, by compute capability (CUDA Programming Guide, "Technical Specifications per Compute
Capability"); the others have less."""
_SMALL: Final = 101_376


def capability() -> int:
    """The compute capability that kernels are compiled for, times ten.

    Raises:
        UsageError: `PTXLOOM_DEVICE` names no architecture.
    """
    name = os.environ.get("PTXLOOM_DEVICE") or "sm_80"
    try:
        return Target.parse(name).number
    except UsageError:
        raise UsageError("PTXLOOM_DEVICE", name, "an architecture such as sm_80 or sm_90") from None


def properties() -> dict[str, int]:
    """What Triton asks of it, by the names that Triton uses."""
    return {
        "max_shared_mem": _SHARED_BYTES.get(capability(), _SMALL),
        "max_num_regs": 65_536,
        "multiprocessor_count": MULTIPROCESSORS,
        "warpSize": 32,
        "sm_clock_rate": 1_000_000,
        "mem_clock_rate": 1_000_000,
        "mem_bus_width": 1_024,
    }
