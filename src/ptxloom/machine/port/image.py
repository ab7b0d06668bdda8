"""Textures and surfaces as a driver describes them: where their texels are, their kind, how they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.machine.memory.images import ADDRESS_MODES, GEOMETRIES, MipLevel, Texels, image_row, must_be_an_image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.memory.device_memory import DeviceMemory
    from ptxloom.machine.memory.images import Sampling

__all__ = ["ADDRESS_MODES", "GEOMETRIES", "MipLevel", "Texels", "hide", "must_be_an_image", "show"]


def show(
    memory: DeviceMemory, handle: int, texels: Texels, levels: Sequence[MipLevel], sampling: Sampling | None = None
) -> None:
    """Let kernels on a device find a texture, or a surface where there is no sampling.

    Args:
        memory: The device's.
        handle: The number, or the address of a variable, that kernels have for it.
        texels: What it is made of, as `must_be_an_image` allows it.
        levels: Where the texels of each level are, as many as `must_be_an_image` allows. If one of them is empty,
            kernels find nothing.
        sampling: How a texture is read.
    """
    if all(level.width and level.height and level.depth for level in levels):
        memory.images[handle] = image_row(handle, texels, levels, sampling)


def hide(memory: DeviceMemory, handle: int) -> None:
    """Let kernels on a device no longer find a texture or a surface, if there was one."""
    memory.images.pop(handle, None)
