"""`pl.Device`: memory that lives from launch to launch, for programs with a driver of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ptxloom.diagnostics import UsageError, must_be
from ptxloom.machine.kernels import contracted
from ptxloom.machine.launch.options import AS_WRITTEN, DEFAULT_CHECKS, FUSED, device_options, integer
from ptxloom.machine.memory.device_memory import Allocation, DeviceMemory
from ptxloom.machine.memory.foreign_arrays import brief, host_array, must_be_array
from ptxloom.machine.memory.module_variables import memory_of
from ptxloom.syntax import parse
from ptxloom.syntax.module import Module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.isa.target import Target
    from ptxloom.machine.kernel import Kernel


class Device:
    r"""A device that holds memory and modules; kernels are launched on it with `kernel.launch(..., memory=device)`.

    A kernel on a device may touch all that the device holds, through pointers in parameters, in structures, in memory
    or made of integers. Initcheck (`initcheck:global`) knows from launch to launch what has been written, and an access
    to freed memory is reported as such.

    Args:
        arch: The architecture whose tensor cores are modelled, `sm_75` to `sm_121`.
        checks: The tools that watch every launch on it.
        memory_bytes: The memory that may be allocated at a time; by default half of this machine's.

    Attributes:
        memory: Its memory.
        checks: The tools.

    Raises:
        UsageError: An argument is wrong.

    Example:
        >>> device = Device("sm_90")
        >>> text = ".version 9.0 .target sm_90 .entry k(.param .u64 p) { .reg .b64 %a; "
        >>> text += "ld.param.u64 %a, [p]; st.global.u32 [%a+4], 7; ret; }"
        >>> there = device.alloc(8)
        >>> result = device.kernel(text, "k").launch(1, 1, [there.address], memory=device)
        >>> device.read(there.address, 8)
        b'\x00\x00\x00\x00\x07\x00\x00\x00'
    """

    def __init__(
        self,
        arch: Target | str = "sm_80",
        *,
        checks: Sequence[str] = DEFAULT_CHECKS,
        memory_bytes: int | None = None,
    ) -> None:
        judged = device_options(arch, checks, memory_bytes)
        self.arch, self.checks = judged.arch, judged.checks
        self.memory = DeviceMemory(judged.memory_bytes, watched="initcheck:global" in self.checks)
        self._modules: dict[str, Module] = {}
        self._kernels: dict[tuple[str, str | None, bool], Kernel] = {}

    def __repr__(self) -> str:
        return f"Device({self.arch!r}, {self.memory.allocated:,} of {self.memory.capacity:,} bytes allocated)"

    def alloc(self, nbytes: int, name: str = "") -> Allocation:
        """Memory of the device, unwritten (it holds zeros).

        Args:
            nbytes: How many bytes, 1 or more.
            name: What reports call it; by default `alloc[0]` and so on.

        Returns:
            The allocation; addresses are multiples of 512.

        Raises:
            UsageError: Too little is left (`OutOfDeviceMemory`), or `nbytes` is not such a number.
        """
        return self.memory.allocate(integer("nbytes", nbytes, 1), name)

    def free(self, allocation: Allocation | int) -> None:
        """Free an allocation; a kernel that still accesses it is ended with a report that says so.

        Args:
            allocation: The allocation, or its address.

        Raises:
            UsageError: No live allocation starts there.
        """
        self.memory.free(_address(allocation))

    def register(self, array: NDArray[Any], name: str = "", *, constant: bool = False) -> int:
        """Let kernels reach an array of the host, in place, until it is unregistered.

        Args:
            array: C-contiguous, of NumPy or of a library that shares its memory by DLPack.
            name: What reports call it.
            constant: Kernels may not write there, though the host may.

        Returns:
            Its address.

        Raises:
            UsageError: It is not an array in one piece.
        """
        array = must_be_array(array, "device memory")
        if not array.flags.c_contiguous or array.dtype.hasobject:
            raise UsageError("array", brief(array), "a C-contiguous array of plain values")
        return self.memory.register(array, name, constant=constant)

    def unregister(self, array: NDArray[Any] | int) -> None:
        """Unregister an array, which is the host's alone again.

        Args:
            array: The array, or its address.

        Raises:
            UsageError: It is not registered.
        """
        found = host_array(array, "array", "device memory")
        self.memory.unregister(_address(cast("int", array)) if found is None else int(found.ctypes.data))

    def read(self, allocation: Allocation | int, nbytes: int | None = None) -> bytes:
        """A copy of some bytes of the device.

        Args:
            allocation: An allocation, or any address in it.
            nbytes: How many; by default all of the allocation.

        Returns:
            The bytes.

        Raises:
            UsageError: They are not all in one allocation or registered array.
        """
        return self.memory.view(_address(allocation), _size(allocation, nbytes)).tobytes()

    def write(self, allocation: Allocation | int, data: bytes | bytearray | memoryview | NDArray[Any]) -> None:
        """Copy bytes to the device; initcheck then takes them as written.

        Args:
            allocation: Where to: an allocation, or any address in one.
            data: The bytes.

        Raises:
            UsageError: They do not all go into one allocation or registered array.
        """
        given = host_array(data, "data", "device memory")
        found = (
            np.frombuffer(cast("bytes", data), np.uint8)
            if given is None
            else np.ascontiguousarray(given).reshape(-1).view(np.uint8)
        )
        address = _address(allocation)
        self.memory.view(address, found.size)[:] = found
        self.memory.written(address, found.size)

    def array(self, allocation: Allocation | int, nbytes: int | None = None) -> NDArray[np.uint8]:
        """Bytes of the device in place, to be written by the host: initcheck takes them as written from now on.

        Args:
            allocation: An allocation, or any address in it.
            nbytes: How many; by default all of the allocation.

        Returns:
            The bytes themselves. They belong to the device: do not use them once it is gone.

        Raises:
            UsageError: They are not all in one allocation or registered array.
        """
        address, size = _address(allocation), _size(allocation, nbytes)
        found = self.memory.view(address, size)
        self.memory.written(address, size)
        return found

    def load(self, text: str | Module) -> Module:
        """A module on this device; the same one each time for the same text. Kernels reach its variables.

        Args:
            text: PTX, which a zero may end (NVRTC returns it so), or a parsed module.

        Returns:
            The module.
        """
        must_be(str | Module, "text", text, "PTX, or a parsed module")
        key = text.rstrip("\0") if isinstance(text, str) else text.source.text
        found = self._modules.get(key)
        if found is None:
            found = self._modules[key] = parse(key) if isinstance(text, str) else text
            variables = memory_of(found).memory
            self.memory.register(variables["global"], "", constant=False)
            self.memory.register(variables["const"], "", constant=True)
        return found

    def kernel(self, text: str | Module, name: str | None = None, *, fused: bool = False) -> Kernel:
        """A kernel, prepared for this device; the same one each time.

        Args:
            text: PTX, or a parsed module.
            name: The kernel's name; it may be left out if the module has one kernel.
            fused: Products are added without being rounded first, as ptxas fuses them; else as written.

        Returns:
            The kernel; launch it with `memory=device`.

        Raises:
            UsageError: The module has no kernel of this name.
            IllegalPtx: The checker finds errors in what the kernel reaches.
            UnsupportedInstruction: The machine cannot run one of its instructions.
        """
        module = self.load(text)
        key = (module.source.text, name, fused)
        if key not in self._kernels:
            self._kernels[key] = contracted(module, name, self.arch, FUSED if fused else AS_WRITTEN)
        return self._kernels[key]


def _address(allocation: Allocation | int) -> int:
    return allocation.address if isinstance(allocation, Allocation) else integer("allocation", allocation, 0)


def _size(allocation: Allocation | int, nbytes: int | None) -> int:
    if nbytes is not None:
        return integer("nbytes", nbytes, 0)
    if isinstance(allocation, Allocation):
        return allocation.nbytes
    raise UsageError("nbytes", nbytes, "a number of bytes, where an address is given")
