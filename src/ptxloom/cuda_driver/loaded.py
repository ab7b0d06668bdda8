"""A module that a program has loaded: the addresses of its variables, and the attributes of its kernels."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver.images import made_for_of
from ptxloom.cuda_driver.protocol import FUNCTION_ATTRIBUTES
from ptxloom.isa.limits import STATIC_SHARED_BYTES
from ptxloom.machine.memory.module_variables import place_variables
from ptxloom.machine.program.signatures import FRAME_HEAD
from ptxloom.syntax.tree import Integer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.machine import Kernel
    from ptxloom.machine.memory.device_memory import DeviceMemory
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
        self._memory = memory
        self._places: list[int] = []
        self.module = module
        self.variables = place_variables(module, self._room)
        self.kernels: dict[str, int] = {}

    def _room(self, size: int, alignment: int, space: str) -> NDArray[np.uint8]:
        made = self._memory.allocate(max(size, 1) + alignment, f"the {space} variables", constant=space == "const")
        self._places.append(made.address)
        self._memory.written(made.address, made.nbytes)
        start = -made.address % alignment
        return self._memory.view(made.address, made.nbytes)[start : start + size]

    def drop(self) -> None:
        """Free the variables."""
        for place in self._places:
            self._memory.free(place)

    def attributes(self, kernel: Kernel, capability: int) -> list[int]:
        """Those of a kernel of this module, in the order of `CUfunction_attribute`; then the block that it requires.

        Args:
            kernel: The kernel.
            capability: The device's, times ten.
        """
        needs = kernel.needs
        said = {
            one.name: [value.value for value in one.values if isinstance(value, Integer)] for one in kernel.directives
        }
        static = needs.shared_bytes - needs.reserved_bytes
        threads = prod(said.get("maxntid") or [1024])
        registers = min([kernel.registers, self._registers, MOST_REGISTERS, *said.get("maxnreg", [])])
        cluster = (*said.get("reqnctapercluster", ()), 1, 1, 1)[:3] if "reqnctapercluster" in said else (0, 0, 0)
        values = [
            threads, static, self.variables.memory["const"].nbytes, needs.frame_bytes - FRAME_HEAD,
            registers, made_for_of(kernel.module).number, capability, 0, max(STATIC_SHARED_BYTES - static, 0), -1,
            int("explicitcluster" in said), *cluster,
        ]  # fmt: skip
        block = (*said["reqntid"], 1, 1)[:3] if "reqntid" in said else (0, 0, 0)
        every = [*values, *[0] * (FUNCTION_ATTRIBUTES - len(values) - len(block)), *block]
        return [max(-_MOST - 1, min(value, _MOST)) for value in every]  # what a directive says may be any number
