"""Maps failures to CUDA's errors."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.machine import LaunchError


class CudaError(IntEnum):
    """The `CUresult` values that the server returns."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_IMAGE = 200
    NO_BINARY_FOR_GPU = 209
    INVALID_PTX = 218
    INVALID_HANDLE = 400
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    LAUNCH_TIMEOUT = 702
    ASSERT = 710
    ILLEGAL_INSTRUCTION = 715
    MISALIGNED_ADDRESS = 716
    LAUNCH_FAILED = 719
    COOPERATIVE_LAUNCH_TOO_LARGE = 720
    NOT_SUPPORTED = 801
    UNKNOWN = 999


class Refused(Exception):  # noqa: N818 - says what happened
    """A request fails with an error of CUDA.

    Attributes:
        error: The error.
        text: The reason, for a log; may be empty.
    """

    def __init__(self, error: CudaError, text: str = "") -> None:
        super().__init__(error, text)
        self.error = error
        self.text = text


_BY_FAULT: Final = {
    "out-of-bounds": CudaError.ILLEGAL_ADDRESS,
    "overrun": CudaError.ILLEGAL_ADDRESS,
    "null": CudaError.ILLEGAL_ADDRESS,
    "read-only": CudaError.ILLEGAL_ADDRESS,
    "use-after-free": CudaError.ILLEGAL_ADDRESS,
    "no-texture": CudaError.ILLEGAL_ADDRESS,
    "illegal-surface-access": CudaError.ILLEGAL_ADDRESS,
    "no-tensor-map": CudaError.ILLEGAL_INSTRUCTION,
    "illegal-tensor-copy": CudaError.ILLEGAL_INSTRUCTION,
    "no-cluster": CudaError.ILLEGAL_INSTRUCTION,
    "misaligned": CudaError.MISALIGNED_ADDRESS,
    "assertion": CudaError.ASSERT,
    "no-progress": CudaError.LAUNCH_TIMEOUT,
    "deadlock": CudaError.LAUNCH_TIMEOUT,
}


def error_of(ended: LaunchError) -> CudaError:
    """The error that hardware returns after a kernel ended this way."""
    return _BY_FAULT.get(ended.fault, CudaError.LAUNCH_FAILED)
