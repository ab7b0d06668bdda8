"""The attributes of the device: one table for every compute capability."""

from __future__ import annotations

from typing import Final

from ptxloom.cuda_driver.names import names
from ptxloom.isa.limits import CONSTANT_BYTES, LANES, STATIC_SHARED_BYTES, shared_bytes_of
from ptxloom.machine.port.prepare import multiprocessors

_THREADS: Final = {75: 1024, 80: 2048, 87: 2048, 90: 2048, 100: 2048, 103: 2048, 110: 2048}
"""Threads of a multiprocessor, by compute capability (CUDA Programming Guide, "Technical Specifications per Compute
Capability"); the others have `_FEWER`."""
_TO_FILE: Final = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_FEWER: Final = 1536
_SMALL_ALIGNMENT: Final = 512
_LARGE: Final = 1 << 19
_PIECE: Final = 2 << 20  # in which a device's memory is mapped

_IMAGE_LIMITS: Final = {
    "CAN_TEX2D_GATHER": 1,
    "MAXIMUM_TEXTURE1D_WIDTH": 131_072, "MAXIMUM_TEXTURE1D_LINEAR_WIDTH": 1 << 28,
    "MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH": 32_768,
    "MAXIMUM_TEXTURE2D_WIDTH": 131_072, "MAXIMUM_TEXTURE2D_HEIGHT": 65_536,
    "MAXIMUM_TEXTURE2D_LINEAR_WIDTH": 131_072, "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT": 65_000,
    "MAXIMUM_TEXTURE2D_LINEAR_PITCH": 2_097_120,
    "MAXIMUM_TEXTURE2D_GATHER_WIDTH": 32_768, "MAXIMUM_TEXTURE2D_GATHER_HEIGHT": 32_768,
    "MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH": 32_768, "MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT": 32_768,
    "MAXIMUM_TEXTURE3D_WIDTH": 16_384, "MAXIMUM_TEXTURE3D_HEIGHT": 16_384, "MAXIMUM_TEXTURE3D_DEPTH": 16_384,
    "MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE": 8_192, "MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE": 8_192,
    "MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE": 32_768,
    "MAXIMUM_TEXTURE1D_LAYERED_WIDTH": 32_768, "MAXIMUM_TEXTURE1D_LAYERED_LAYERS": 2_048,
    "MAXIMUM_TEXTURE2D_LAYERED_WIDTH": 32_768, "MAXIMUM_TEXTURE2D_LAYERED_HEIGHT": 32_768,
    "MAXIMUM_TEXTURE2D_LAYERED_LAYERS": 2_048,
    "MAXIMUM_TEXTURECUBEMAP_WIDTH": 32_768, "MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH": 32_768,
    "MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS": 2_046,
    "MAXIMUM_SURFACE1D_WIDTH": 32_768, "MAXIMUM_SURFACE2D_WIDTH": 131_072, "MAXIMUM_SURFACE2D_HEIGHT": 65_536,
    "MAXIMUM_SURFACE3D_WIDTH": 16_384, "MAXIMUM_SURFACE3D_HEIGHT": 16_384, "MAXIMUM_SURFACE3D_DEPTH": 16_384,
    "MAXIMUM_SURFACE1D_LAYERED_WIDTH": 32_768, "MAXIMUM_SURFACE1D_LAYERED_LAYERS": 2_048,
    "MAXIMUM_SURFACE2D_LAYERED_WIDTH": 32_768, "MAXIMUM_SURFACE2D_LAYERED_HEIGHT": 32_768,
    "MAXIMUM_SURFACE2D_LAYERED_LAYERS": 2_048,
    "MAXIMUM_SURFACECUBEMAP_WIDTH": 32_768, "MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH": 32_768,
    "MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS": 2_046,
}  # fmt: skip
"""For textures and surfaces: the values of an H100, which the Programming Guide has for all compute capabilities."""


def attributes(number: int) -> dict[str, int]:
    """A device's attributes by name; those that are not here are 0.

    Args:
        number: The compute capability, times ten.

    Example:
        >>> attributes(90)["MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"]
        232448
    """
    shared = shared_bytes_of(number)
    threads = _THREADS.get(number, _FEWER)
    reserved = 1024 if number >= 80 else 0
    return {
        "MAX_THREADS_PER_BLOCK": 1024,
        "MAX_BLOCK_DIM_X": 1024, "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64,
        "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65_535, "MAX_GRID_DIM_Z": 65_535,
        "MAX_SHARED_MEMORY_PER_BLOCK": STATIC_SHARED_BYTES,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": shared,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": shared + reserved,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": reserved,
        "TOTAL_CONSTANT_MEMORY": CONSTANT_BYTES,
        "WARP_SIZE": LANES,
        "MAX_PITCH": 2**31 - 1,
        "MAX_REGISTERS_PER_BLOCK": 65_536, "MAX_REGISTERS_PER_MULTIPROCESSOR": 65_536,
        "MAX_THREADS_PER_MULTIPROCESSOR": threads, "MAX_BLOCKS_PER_MULTIPROCESSOR": 32 if threads == 2048 else 16,
        "CLOCK_RATE": 1_000_000, "MEMORY_CLOCK_RATE": 1_000_000, "GLOBAL_MEMORY_BUS_WIDTH": 1_024,
        "L2_CACHE_SIZE": 1 << 20,
        "TEXTURE_ALIGNMENT": 512, "TEXTURE_PITCH_ALIGNMENT": 32, "SURFACE_ALIGNMENT": 512,
        **_IMAGE_LIMITS,
        "MULTIPROCESSOR_COUNT": multiprocessors(),
        "COMPUTE_CAPABILITY_MAJOR": number // 10, "COMPUTE_CAPABILITY_MINOR": number % 10,
        "ASYNC_ENGINE_COUNT": 1, "GPU_OVERLAP": 1, "CONCURRENT_KERNELS": 1,
        "CAN_MAP_HOST_MEMORY": 1, "UNIFIED_ADDRESSING": 1, "MANAGED_MEMORY": 1, "CONCURRENT_MANAGED_ACCESS": 1,
        "HOST_REGISTER_SUPPORTED": 1, "READ_ONLY_HOST_REGISTER_SUPPORTED": 1,
        "STREAM_PRIORITIES_SUPPORTED": 1, "GLOBAL_L1_CACHE_SUPPORTED": 1, "LOCAL_L1_CACHE_SUPPORTED": 1,
        "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 2,
        "COMPUTE_PREEMPTION_SUPPORTED": 1, "COOPERATIVE_LAUNCH": 1, "COOPERATIVE_MULTI_DEVICE_LAUNCH": 1,
        "MEM_SYNC_DOMAIN_COUNT": 4 if number >= 90 else 1,
        "CAN_USE_64_BIT_STREAM_MEM_OPS": 1, "CAN_USE_STREAM_WAIT_VALUE_NOR": 1,
        "MEMORY_POOLS_SUPPORTED": 1, "MEMPOOL_SUPPORTED_HANDLE_TYPES": _TO_FILE, "IPC_EVENT_SUPPORTED": 1,
        "VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED": 1,
        "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED": 1,
        "HOST_MEMORY_POOLS_SUPPORTED": 1, "HOST_NUMA_MEMORY_POOLS_SUPPORTED": 1,
        "CLUSTER_LAUNCH": int(number >= 90), "TENSOR_MAP_ACCESS_SUPPORTED": int(number >= 90),
        "UNIFIED_FUNCTION_POINTERS": 1, "NUMA_ID": -1,
    }  # fmt: skip


def alignment_of(size: int) -> int:
    """What the address of memory is a multiple of, as where an H100's driver puts it.

    Args:
        size: Its bytes.

    Example:
        >>> [alignment_of(size) for size in (4, 600_000, 1 << 20, (1 << 20) + 1)]
        [512, 524288, 1048576, 2097152]
    """
    if size < _LARGE:
        return _SMALL_ALIGNMENT
    return 1 << size.bit_length() - 1 if size <= _PIECE // 2 else _PIECE


def table(number: int, count: int) -> list[int]:
    """The same in the order of their numbers.

    Args:
        number: The compute capability, times ten.
        count: How many numbers there are at most.
    """
    known = attributes(number)
    numbers = {name: at for at, name in names().attributes.items()}
    values = [0] * count
    for name, value in known.items():
        values[numbers[name]] = value
    return values
