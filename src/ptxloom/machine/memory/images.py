"""Textures and surfaces as native code reads them: where their texels are stored, their kind, and how they are read."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.machine.memory import srgb
from ptxloom.machine.native import language
from ptxloom.machine.runtime.structs import texture as native

if TYPE_CHECKING:
    from collections.abc import Sequence


class Geometry(NamedTuple):
    """The geometry of a texture or a surface.

    Attributes:
        number: In native code.
        dimensions: Of an array of its texels, those of components apart.
        is_layered: Whether the first dimension counts layers, or faces of cubes.
    """

    number: int
    dimensions: int
    is_layered: bool = False


GEOMETRIES: Final = {
    "1d": Geometry(native.ONE, 1),
    "2d": Geometry(native.TWO, 2),
    "3d": Geometry(native.THREE, 3),
    "a1d": Geometry(native.LAYERED_ONE, 2, is_layered=True),
    "a2d": Geometry(native.LAYERED_TWO, 3, is_layered=True),
    "cube": Geometry(native.CUBE, 3, is_layered=True),
    "acube": Geometry(native.LAYERED_CUBE, 3, is_layered=True),
    "linear": Geometry(native.LINEAR_MEMORY, 1),
}
"""By the names that instructions have for them, in the order of their numbers; "linear" is linear memory."""
ADDRESS_MODES: Final = ("wrap", "clamp", "mirror", "border")
"""In the order of CUDA's numbers for them."""
CHANNELS: Final = (1, 2, 4)
ELEMENTS: Final = {
    "u1": native.UNSIGNED,
    "u2": native.UNSIGNED,
    "u4": native.UNSIGNED,
    "i1": native.SIGNED,
    "i2": native.SIGNED,
    "i4": native.SIGNED,
    "f2": native.HALF,
    "f4": native.SINGLE,
}
NORMALIZED: Final = {"u1": native.UNORM, "u2": native.UNORM, "i1": native.SNORM, "i2": native.SNORM}
FRACTIONS: Final = 256  # of a level


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """How a texture is read; the fields are those of `cudaTextureDesc`."""

    address_mode: tuple[str, str, str]
    filter_mode: str
    read_mode: str
    normalized_coords: bool
    border_color: tuple[float, float, float, float]
    mipmap_filter_mode: str
    mipmap_level_bias: float
    min_mipmap_level_clamp: float
    max_mipmap_level_clamp: float
    srgb: bool = False


class Texels(NamedTuple):
    """The texels of a texture or a surface.

    Attributes:
        geometry: As instructions name it.
        letter: The kind and the bytes of a component, such as "u1".
        channels: Components of a texel.
        layers: Layers, or faces of cubes; 0 without layers.
    """

    geometry: str
    letter: str
    channels: int
    layers: int

    @property
    def can_be_normalized(self) -> bool:
        """Whether components can be read as numbers from 0 or -1 to 1: integers of 8 and 16 bits."""
        return self.letter in NORMALIZED


class MipLevel(NamedTuple):
    """The layout of a level's texels: the address of the first, bytes from row to row and from slice to slice."""

    start: int
    pitch: int
    plane: int
    width: int
    height: int
    depth: int


def must_be_an_image(texels: Texels, levels: int) -> None:
    """Refuse texels, and a number of levels, that no texture or surface has.

    Raises:
        UsageError: It names what is wrong.
    """
    for name, value, legal in (
        ("geometry", texels.geometry, tuple(GEOMETRIES)),
        ("letter", texels.letter, tuple(ELEMENTS)),
        ("channels", texels.channels, CHANNELS),
    ):
        if value not in legal:
            raise UsageError(name, value, f"one of {', '.join(map(str, legal))}")
    must_be_levels(levels)
    if GEOMETRIES[texels.geometry].is_layered and not texels.layers:
        raise UsageError("layers", texels.layers, f"1 or more for `.{texels.geometry}`")


def must_be_levels(count: int) -> None:
    """Refuse a number of levels that no texture has.

    Raises:
        UsageError: It is such a number.
    """
    if not 1 <= count <= native.MOST_LEVELS:
        raise UsageError("the number of levels", count, f"1 to {native.MOST_LEVELS}")


def image_row(handle: int, texels: Texels, levels: Sequence[MipLevel], sampling: Sampling | None) -> Any:
    """A texture, or a surface if there is no sampling state, as a row of the table of a launch."""
    row: Any = language.structure(native.Image)()
    row.handle = handle
    row.kind = native.SURFACE if sampling is None else native.TEXTURE
    row.geometry = GEOMETRIES[texels.geometry].number
    row.component = ELEMENTS[texels.letter]
    row.component_bytes, row.channels = int(texels.letter[1]), texels.channels
    row.layers = texels.layers
    row.level_count = len(levels)
    for number, level in enumerate(levels):
        row.widths[number], row.heights[number], row.depths[number] = level.width, level.height, level.depth
        row.starts[number], row.pitches[number], row.planes[number] = level.start, level.pitch, level.plane
    if sampling is not None:
        _fill_sampling(row, sampling, texels.letter)
    return row


def _fill_sampling(row: Any, sampling: Sampling, letter: str) -> None:
    if sampling.read_mode == "normalized_float":
        row.component = NORMALIZED[letter]
        row.srgb = int(sampling.srgb and letter == "u1")
    row.is_linear = int(sampling.filter_mode == "linear")
    row.is_normalized = int(sampling.normalized_coords)
    for axis, mode in enumerate(sampling.address_mode):
        held = mode in {"wrap", "mirror"} and not sampling.normalized_coords
        row.modes[axis] = native.CLAMP if held else ADDRESS_MODES.index(mode)
    is_fraction = row.component in {native.UNORM, native.SNORM}
    for number, given in enumerate(sampling.border_color):
        part = 0.0 if is_fraction and isnan(given) else given  # recorded on an H100
        is_encoded = row.srgb and (number == 0 or (row.channels > 2 and number < 3))  # as in `texels.is_encoded`
        row.border[number] = srgb.encoded(part) if is_encoded else _border(part, row.component, int(letter[1]))
    row.between_levels = int(sampling.mipmap_filter_mode == "linear")
    row.bias = _level_number(sampling.mipmap_level_bias)
    row.least = _level_number(sampling.min_mipmap_level_clamp)
    row.most = _level_number(sampling.max_mipmap_level_clamp)


def _level_number(level: float) -> int:
    """A level in fractions."""
    return 0 if isnan(level) else int(max(min(level, FRACTIONS), -FRACTIONS) * FRACTIONS)


def _border(part: float, component: int, size: int) -> int:
    """A component of the border's colour, in the bits of a texel: what is read as it is keeps the float's low bits."""
    with np.errstate(all="ignore"):  # whatever a program passes
        if component == native.HALF:
            return int(np.float16(part).view(np.uint16))
        if component in {native.UNORM, native.SNORM}:
            return _normalized(part, 8 * size, signed=component == native.SNORM)
        return int(np.float32(part).view(np.uint32)) & (1 << 8 * size) - 1


def _normalized(part: float, bits: int, *, signed: bool) -> int:
    """A float as a normalised integer, as an H100 turns the colour of a border into one.

    Four bits more than the integer has are kept, and a tie goes toward zero.
    """
    held = bits - signed
    magnitude = min(abs(part) if signed else max(part, 0.0), 1.0)
    kept = int(magnitude * (1 << held + 4)) * ((1 << held) - 1)
    rounded = (2 * kept + (1 << held + 4) - 1) >> held + 5
    return (-rounded if part < 0 else rounded) & (1 << bits) - 1
