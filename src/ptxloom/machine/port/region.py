"""Memory: of a device, of a module on it, of the host, lent for one launch; and what a run may have of it."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.lazy import later
from ptxloom.machine.memory.arena import Budget
from ptxloom.machine.memory.arguments import Lent, byte_bounds
from ptxloom.machine.memory.module_variables import place_variables
from ptxloom.machine.native.host_memory import OutOfHostMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine.memory.device_memory import DeviceMemory
    from ptxloom.machine.memory.piece import Piece
    from ptxloom.syntax.module import Module

__all__ = ["Budget", "DeviceMemory", "DeviceVariables", "Lent", "OutOfHostMemory", "byte_bounds", "lent_at"]

__getattr__ = later(__name__, {"ptxloom.machine.memory.device_memory": "DeviceMemory"})  # a launch from files has none


def lent_at(low: int, high: int, name: str) -> Lent:
    """Memory of the host for one launch, which kernels read and write, whichever library owns it.

    Args:
        low: The address of its first byte. Its owner lives until the launch is over.
        high: The address behind its last.
        name: What reports call it.
    """
    array = np.ctypeslib.as_array((ctypes.c_uint8 * (high - low)).from_address(low))
    return Lent(array, (low, high, True), name)


class DeviceVariables:
    """The variables of a module, in the memory of a device until they are dropped: its kernels find them there.

    Args:
        module: The parsed module, which has no memory as yet.
        memory: The device's.

    Raises:
        OutOfDeviceMemory: Too little is left.
        UnsupportedInstruction: A variable cannot be placed, or its initial value not computed.
    """

    def __init__(self, module: Module, memory: DeviceMemory) -> None:
        self._memory = memory
        self._allocated: list[int] = []
        self._variables = place_variables(module, self._room)

    def _room(self, size: int, alignment: int, space: str) -> NDArray[np.uint8]:
        made = self._memory.allocate(max(size, 1) + alignment, f"the {space} variables", constant=space == "const")
        self._allocated.append(made.address)
        self._memory.written(made.address, made.nbytes)
        start = -made.address % alignment
        return self._memory.view(made.address, made.nbytes)[start : start + size]

    @property
    def constant_bytes(self) -> int:
        """What the variables in `.const` take."""
        return self._variables.memory["const"].nbytes

    def piece(self, name: str) -> Piece | None:
        """Where a variable is, and its bytes; None if there is no such variable."""
        return next((piece for piece in self._variables.pieces() if piece.name == name), None)

    def note_filled(self, name: str) -> None:
        """Note that the host may fill a variable, as it must an `.extern` one before a launch.

        Raises:
            UsageError: There is no such variable, or it has no bytes: it stands for a texture or a surface.
        """
        self._variables.array(name)

    def reference(self, name: str, kind: str) -> int:
        """The address of a `texref` or `surfref`, which is the handle of what is bound to it.

        Raises:
            UsageError: There is no such variable.
        """
        return self._variables.reference(name, kind)

    def drop(self) -> None:
        """Free them, and forget the textures and surfaces that are bound to them."""
        for piece in self._variables.pieces():
            self._memory.images.pop(piece.start, None)
        for address in self._allocated:
            self._memory.free(address)
