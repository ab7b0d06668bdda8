"""Limits of the hardware: lanes of a warp, bytes of memory (PTX ISA 5.1; the CUDA guide's compute capabilities).

Also those of the simulated device.
"""

from __future__ import annotations

from typing import Final

LANES: Final = 32
"""The lanes of a warp."""
TENSOR_LANES: Final = 128
"""The lanes of tensor memory, and its columns of 32 bits: what a CTA may allocate (PTX ISA 9.7.16.1)."""
TENSOR_COLUMNS: Final = 512
BANKS: Final = 32
"""The banks of shared memory, each of them `BANK_BYTES` wide, which together serve a line."""
BANK_BYTES: Final = 4
LINE_BYTES: Final = BANKS * BANK_BYTES
SHARED_BYTES: Final = 227 * 1024
"""The most shared memory of a CTA, from sm_90 on."""
STATIC_SHARED_BYTES: Final = 48 * 1024
"""The most shared memory that a kernel may declare before sm_100."""
CONSTANT_BYTES: Final = 64 * 1024
"""Constant memory of a module."""
PARAMETER_BYTES: Final = 32764
"""Parameters of a kernel, from PTX 8.1 on; likewise `FEWER_PARAMETER_BYTES` before it."""
FEWER_PARAMETER_BYTES: Final = 4352
LOCAL_BYTES: Final = 512 * 1024
"""Local memory of a thread."""
MULTIPROCESSORS: Final = 16
"""Multiprocessors of the simulated device: few, so that persistent kernels stay small; the largest cluster fits."""
MOST_MULTIPROCESSORS: Final = 1024

_SHARED: Final = {75: 65_536, 80: 166_912, 87: 166_912, 90: 232_448, 100: 232_448, 103: 232_448, 110: 232_448}
_LESS_SHARED: Final = 101_376


def shared_bytes_of(capability: int) -> int:
    """The most shared memory that a CTA may opt in to.

    Args:
        capability: The compute capability, times ten (CUDA Programming Guide, "Technical Specifications per Compute
            Capability").

    Example:
        >>> shared_bytes_of(80), shared_bytes_of(86)
        (166912, 101376)
    """
    return _SHARED.get(capability, _LESS_SHARED)
