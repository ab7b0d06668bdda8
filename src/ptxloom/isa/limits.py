"""How much the hardware has: lanes of a warp, bytes of memory (PTX ISA 5.1; the CUDA guide's compute capabilities)."""

from __future__ import annotations

from typing import Final

LANES: Final = 32
"""The lanes of a warp."""
SHARED_BYTES: Final = 227 * 1024
"""Shared memory that a CTA may have, from sm_90 on."""
STATIC_SHARED_BYTES: Final = 48 * 1024
"""Shared memory that a kernel may declare before sm_100."""
CONSTANT_BYTES: Final = 64 * 1024
"""Constant memory of a module."""
PARAMETER_BYTES: Final = 32764
"""Parameters of a kernel, from PTX 8.1 on; likewise `FEWER_PARAMETER_BYTES` before it."""
FEWER_PARAMETER_BYTES: Final = 4352
LOCAL_BYTES: Final = 512 * 1024
"""Local memory of a thread."""
