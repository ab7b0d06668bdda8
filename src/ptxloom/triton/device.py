"""The device that Triton's kernels run on: what it is, and what is loaded."""

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
    """The one device, which the tools of `PTXLOOM_CHECKS` watch.

    By default memcheck and synccheck; all, of global memory too, where `PTXLOOM_WHY` asks why results are wrong.
    """
    usual = ",".join(BEFORE_LAWS) if os.environ.get("PTXLOOM_WHY") else None
    checks = read_checks(os.environ.get("PTXLOOM_CHECKS") or usual, "PTXLOOM_CHECKS")
    return Device(f"sm_{capability()}", checks=checks)


class Scratch:
    """Memory that a launch brings for itself."""

    def __init__(self, size: int, alignment: int) -> None:
        self._bytes = np.zeros(size + alignment, np.uint8)
        start = -self._bytes.ctypes.data % alignment
        self.array = self._bytes[start : start + size]

    def data_ptr(self) -> int:
        """Its address."""
        return int(self.array.ctypes.data)


class Loaded(NamedTuple):
    """What Triton keeps of a compiled kernel: handles, registers a thread, spills, and the threads of a CTA at most."""

    module: Kernel
    function: Kernel
    registers: int
    spills: int
    threads: int


class Utilities:
    """What Triton calls `driver.active.utils`."""

    def load_binary(self, name: str, text: bytes, shared_bytes: int, _device: int) -> Loaded:
        """A kernel, made ready.

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
        """It is kept: the next kernel of the same text is the same one."""

    def get_device_properties(self, _device: object) -> dict[str, int]:
        """What the device has."""
        return properties()

    def cuOccupancyMaxActiveClusters(self, _function: Kernel, _shared_bytes: int, members: int) -> int:  # noqa: N802 - Triton's name
        """How many clusters run at once."""
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
        """The same for copies of im2col's columns; `block` is pixels and channels."""
        outer = [element_bytes * stride for stride in reversed(strides[:-1])]
        pixels, channels = block
        made = encode_im2col(
            _TYPES[type_], address, [*reversed(shape)], outer, [*reversed(lower)], [*reversed(upper)], channels, pixels,
            [*reversed(element_strides)], swizzle=SWIZZLES[swizzle], l2_promotion="128B", oob_fill=OOB_FILLS[padding],
        )  # fmt: skip
        return made.to_bytes()
