"""CUDA's descriptions of errors, shared by driver and runtime: programs and their tests search for them."""

from __future__ import annotations

from typing import Final

WORDS: Final = {
    0: "no error",
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    4: "driver shutting down",
    9: "invalid configuration argument",
    12: "invalid pitch argument",
    13: "invalid device symbol",
    21: "invalid copy direction for memcpy",
    34: "CUDA driver is a stub library",
    35: "CUDA driver version is insufficient for CUDA runtime version",
    46: "CUDA-capable device(s) is/are busy or unavailable",
    65: "launch would exceed maximum depth of nested launches",
    68: "cudaDeviceSynchronize failed because caller's grid depth exceeds cudaLimitDevRuntimeSyncDepth",
    69: "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount",
    98: "invalid device function",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    200: "device kernel image is invalid",
    201: "invalid device context",
    209: "no kernel image is available for execution on the device",
    217: "peer access is not supported between these two devices",
    218: "a PTX JIT compilation failed",
    301: "file not found",
    400: "invalid resource handle",
    500: "named symbol not found",
    600: "device not ready",
    700: "an illegal memory access was encountered",
    701: "too many resources requested for launch",
    702: "the launch timed out and was terminated",
    704: "peer access is already enabled",
    705: "peer access has not been enabled",
    709: "context is destroyed",
    710: "device-side assert triggered",
    712: "part or all of the requested memory range is already mapped",
    713: "pointer does not correspond to a registered memory region",
    715: "an illegal instruction was encountered",
    716: "misaligned address",
    717: "operation not supported on global/shared address space",
    718: "invalid program counter",
    719: "unspecified launch failure",
    720: "too many blocks in cooperative launch",
    800: "operation not permitted",
    801: "operation not supported",
    900: "operation not permitted when stream is capturing",
    901: "operation failed due to a previous error during capture",
    908: "attempt to terminate a thread-local capture sequence from another thread",
    999: "unknown error",
}
"""By number. Other errors are described by their names."""


def words(number: int, name: str) -> str:
    """An error in words.

    Args:
        number: Its number.
        name: The rest of its name, as words.
    """
    return WORDS.get(number, name)
