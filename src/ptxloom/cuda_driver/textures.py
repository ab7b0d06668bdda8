"""The images of textures and surfaces as kernels read them: `struct image` of `libcuda/arrays/textures.h`."""

from __future__ import annotations

from itertools import count
from struct import Struct
from typing import TYPE_CHECKING, Final

from ptxloom.cuda_driver.errors import CudaError, Refused
from ptxloom.cuda_driver.protocol import IMAGE, NUMBER
from ptxloom.diagnostics import UsageError
from ptxloom.machine import Sampling
from ptxloom.machine.port import image
from ptxloom.machine.port.image import ADDRESS_MODES, GEOMETRIES, MipLevel, Texels

if TYPE_CHECKING:
    from ptxloom.machine.port.region import DeviceMemory

_LEVEL: Final = Struct("<3Q3I4x")
_GEOMETRIES: Final = tuple(GEOMETRIES)  # in the order of the numbers
_LETTERS: Final = {0x01: "u1", 0x02: "u2", 0x03: "u4", 0x08: "i1", 0x09: "i2", 0x0A: "i4", 0x10: "f2", 0x20: "f4"}
_NORMALIZED_FORMATS: Final = {
    0xC0 + number: letter for number, letter in enumerate(one for one in ("u1", "u2", "i1", "i2") for _ in range(3))
}
_AS_INTEGER, _NORMALIZED, _SRGB = 1, 2, 16


class Images:
    """The textures and surfaces of a process.

    Args:
        memory: The device's memory, where kernels find images by their handles.
    """

    def __init__(self, memory: DeviceMemory) -> None:
        self._memory = memory
        self._numbers = count(1)

    def show(self, data: bytes) -> bytes:
        """Make an image visible to kernels; returns its number, or the address of the variable that stands for it.

        Raises:
            Refused: The data does not describe an image.
        """
        reference, is_surface, geometry, format_, channels, layers, flags, *rest = IMAGE.unpack_from(data)
        numbers: list[float] = rest  # the first five and the last are integers
        filter_, mip_filter, *modes = map(int, numbers[:5])
        border, (bias, least, most), levels = numbers[5:9], numbers[9:12], int(numbers[12])
        letter = _LETTERS.get(format_) or _NORMALIZED_FORMATS.get(format_)
        size = IMAGE.size + levels * _LEVEL.size
        if letter is None or geometry >= len(_GEOMETRIES) or len(data) != size:
            raise Refused(CudaError.INVALID_VALUE)
        texels = Texels(_GEOMETRIES[geometry], letter, channels, layers)
        try:
            image.must_be_an_image(texels, levels)
        except UsageError:
            raise Refused(CudaError.INVALID_VALUE) from None
        known = [MipLevel(*_LEVEL.unpack_from(data, at)) for at in range(IMAGE.size, size, _LEVEL.size)]
        first, second, third = (ADDRESS_MODES[mode] if 0 <= mode < len(ADDRESS_MODES) else "clamp" for mode in modes)
        is_read_as_it_is = (flags & _AS_INTEGER and format_ in _LETTERS) or not texels.can_be_normalized
        sampling = Sampling(
            (first, second, third), "linear" if filter_ else "point",
            "element_type" if is_read_as_it_is else "normalized_float", bool(flags & _NORMALIZED),
            (border[0], border[1], border[2], border[3]), "linear" if mip_filter else "point", bias, least, most,
            bool(flags & _SRGB),
        )  # fmt: skip
        handle = reference or next(self._numbers)
        image.show(self._memory, handle, texels, known, None if is_surface else sampling)
        return NUMBER.pack(handle)

    def drop(self, data: bytes) -> bytes:
        """Forget the object with a number."""
        image.hide(self._memory, NUMBER.unpack(data)[0])
        return b""
