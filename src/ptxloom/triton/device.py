"""The device that Triton's kernels run on, and the kernels loaded on it."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.descriptors import encode_im2col, encode_tiled
from ptxloom.descriptors.tensor_types import DATA_TYPES, OOB_FILLS, SWIZZLES
from ptxloom.diagnostics import BEFORE_LAWS
from ptxloom.machine import Device, Kernel
from ptxloom.machine.port.prepare import multiprocessors, read_checks
from ptxloom.triton.compiler import FUSED_END
from ptxloom.triton.properties import FIRST_WITH_CLUSTERS, capability, properties

if TYPE_CHECKING:
    from collections.abc import Sequence

_TYPES: Final = tuple(DATA_TYPES)  # in the order of `CUtensorMapDataType`


@cache
def device() -> Device:
    """The only device, watched by the tools in `PTXLOOM_CHECKS`.

    By default memcheck and synccheck; with `PTXLOOM_WHY` all, including racecheck of global memory.
    """
    usual = ",".join(BEFORE_LAWS) if os.environ.get("PTXLOOM_WHY") else None
    checks = read_checks(os.environ.get("PTXLOOM_CHECKS") or usual, "PTXLOOM_CHECKS")
    return Device(f"sm_{capability()}", checks=checks)


class Scratch:
    """Scratch memory of a launch."""

    def __init__(self, size: int, alignment: int) -> None:
        self._bytes = np.zeros(size + alignment, np.uint8)
        start = -self._bytes.ctypes.data % alignment
        self.array = self._bytes[start : start + size]

    def data_ptr(self) -> int:
        """Its address."""
        return int(self.array.ctypes.data)


class Loaded(NamedTuple):
    """Triton's record of a loaded kernel: handles, registers per thread, spills, and the most threads of a CTA."""

    module: Kernel
    function: Kernel
    registers: int
    spills: int
    threads: int


class Utilities:
    """Triton's `driver.active.utils`."""

    def load_binary(self, name: str, text: bytes, shared_bytes: int, _device: int) -> Loaded:
        """Load a kernel.

        Raises:
            IllegalPtx: The checker finds errors in the PTX.
            UnsupportedInstruction: The machine cannot run one of its instructions.
        """
        del shared_bytes
        written = text.decode()
        ptx = written.removesuffix(FUSED_END)
        kernel = device().kernel(ptx, name, fused=ptx != written)
        return Loaded(kernel, kernel, kernel.registers, 0, 1024)

    def unload_module(self, _module: Kernel) -> None:
        """Keep the module: the next kernel with the same text reuses it."""

    def get_device_properties(self, _device: object) -> dict[str, int]:
        """The properties of the device."""
        return properties()

    def cuOccupancyMaxActiveClusters(self, _function: Kernel, _shared_bytes: int, members: int) -> int:  # noqa: N802 - Triton's name
        """The number of clusters that run at once."""
        return max(multiprocessors() // members, 1) if capability() >= FIRST_WITH_CLUSTERS else 0

    def fill_tma_descriptor_tiled(  # noqa: PLR0917 - in Triton's order
        self,
        address: int,
        swizzle: int,
        element_bytes: int,
        type_: int,
        box: Sequence[int],
        shape: Sequence[int],
        strides: Sequence[int],
        padding: int,
    ) -> bytes:
        """A tensor map of a tensor, its dimensions in the order of the array."""
        outer = [element_bytes * stride for stride in reversed(strides[:-1])]
        made = encode_tiled(
            _TYPES[type_], address, [*reversed(shape)], outer, [*reversed(box)],
            swizzle=SWIZZLES[swizzle], l2_promotion="128B", oob_fill=OOB_FILLS[padding],
        )  # fmt: skip
        return made.to_bytes()

    def fill_tma_descriptor_im2col(  # noqa: PLR0917 - likewise
        self,
        address: int,
        swizzle: int,
        element_bytes: int,
        type_: int,
        block: Sequence[int],
        shape: Sequence[int],
        strides: Sequence[int],
        padding: int,
        lower: Sequence[int],
        upper: Sequence[int],
        element_strides: Sequence[int],
    ) -> bytes:
        """A tensor map for im2col copies; `block` is pixels and channels."""
        outer = [element_bytes * stride for stride in reversed(strides[:-1])]
        pixels, channels = block
        made = encode_im2col(
            _TYPES[type_], address, [*reversed(shape)], outer, [*reversed(lower)], [*reversed(upper)], channels, pixels,
            [*reversed(element_strides)], swizzle=SWIZZLES[swizzle], l2_promotion="128B", oob_fill=OOB_FILLS[padding],
        )  # fmt: skip
        return made.to_bytes()
