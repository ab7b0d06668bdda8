"""A module that a program has loaded: the addresses of its variables, and the attributes of its kernels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.images import made_for_of
from ptxloom.cuda_driver.protocol import FUNCTION_ATTRIBUTES, NUMBER, PAIR
from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import STATIC_SHARED_BYTES
from ptxloom.machine.port.region import DeviceVariables
from ptxloom.syntax.tree import Integer

if TYPE_CHECKING:
    from ptxloom.machine import Kernel
    from ptxloom.machine.port.region import DeviceMemory
    from ptxloom.syntax.module import Module

MOST_REGISTERS: Final = 255

_MOST: Final = (1 << 31) - 1  # of a C int, which an attribute is


class Loaded:
    """A module of the program: its variables, and its kernels as far as they were requested.

    Args:
        module: The parsed module.
        memory: The memory for the variables.
        registers: The declared limit of registers per thread.
    """

    def __init__(self, module: Module, memory: DeviceMemory, registers: int) -> None:
        self._registers = registers
        self.module = module
        self.variables = DeviceVariables(module, memory)
        self.kernels: dict[str, int] = {}

    def reference(self, data: bytes) -> bytes:
        """The address of a variable that stands for a texture or a surface.

        Raises:
            Refused: The module has no such variable.
        """
        _, is_surface = PAIR.unpack_from(data)
        name = data[PAIR.size :].decode("utf-8", "replace")
        try:
            return NUMBER.pack(self.variables.reference(name, "surfref" if is_surface else "texref"))
        except UsageError:
            raise Refused(CudaError.NOT_FOUND) from None

    def attributes(self, kernel: Kernel, capability: int) -> list[int]:
        """The attributes of a kernel, in the order of `CUfunction_attribute`; then the block size that it requires.

        Args:
            kernel: The kernel.
            capability: The device's compute capability, times ten.
        """
        said = {
            one.name: [value.value for value in one.values if isinstance(value, Integer)] for one in kernel.directives
        }
        static = kernel.shared_bytes
        threads = prod(said.get("maxntid") or [1024])
        registers = min([kernel.registers, self._registers, MOST_REGISTERS, *said.get("maxnreg", [])])
        cluster = (*said.get("reqnctapercluster", ()), 1, 1, 1)[:3] if "reqnctapercluster" in said else (0, 0, 0)
        values = [
            threads, static, self.variables.constant_bytes, kernel.frame_bytes,
            registers, made_for_of(kernel.module).number, capability, 0, max(STATIC_SHARED_BYTES - static, 0), -1,
            int("explicitcluster" in said), *cluster,
        ]  # fmt: skip
        block = (*said["reqntid"], 1, 1)[:3] if "reqntid" in said else (0, 0, 0)
        every = [*values, *[0] * (FUNCTION_ATTRIBUTES - len(values) - len(block)), *block]
        return [max(-_MOST - 1, min(value, _MOST)) for value in every]  # a directive may hold any number
