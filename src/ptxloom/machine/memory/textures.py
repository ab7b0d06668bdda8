"""Textures and surfaces made from NumPy arrays, with the meanings of CUDA's texture and resource descriptors.

To a kernel, an object is a number. A table of the launch maps the number to the object.
"""

from __future__ import annotations

from dataclasses import field
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.machine.memory.foreign_arrays import must_be_array
from ptxloom.machine.memory.images import (
    ADDRESS_MODES,
    CHANNELS,
    ELEMENTS,
    FRACTIONS,
    GEOMETRIES,
    NORMALIZED,
    MipLevel,
    Sampling,
    Texels,
    image_row,
    must_be_levels,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SURFACES: Final = ("1d", "2d", "3d", "a1d", "a2d")
_FILTERS: Final = ("point", "linear")
_READS: Final = ("element_type", "normalized_float")
_CUBE_FACES: Final = 6
_MOST_TEXELS: Final = {"1d": 131072, "linear": 1 << 28}
_MOST_OTHERS: Final = 131072
_HANDLES: Final = count(1)


@dataclass(frozen=True, slots=True, eq=False)
class Texture:
    """A texture object: an argument of a launch, or bound to a `.texref` by its name.

    Attributes:
        levels: The arrays, the largest first.
        geometry: As instructions name it, or "linear" for linear memory that is fetched by integers.
        channels: Components of a texel.
        sampling: How it is read.
        handle: The number that kernels take for it.
    """

    levels: tuple[NDArray[Any], ...]
    geometry: str
    channels: int
    sampling: Sampling
    handle: int = field(default_factory=lambda: next(_HANDLES))

    def __int__(self) -> int:
        return self.handle


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A surface object: a kernel reads the array, and writes it in place.

    Attributes:
        array: The array.
        geometry: As instructions name it.
        channels: Components of an element.
        handle: The number that kernels take for it.
    """

    array: NDArray[Any]
    geometry: str
    channels: int
    handle: int = field(default_factory=lambda: next(_HANDLES))

    def __int__(self) -> int:
        return self.handle


def texture(
    array: object,
    geometry: str,
    *,
    address_mode: str | Sequence[str] = "wrap",
    filter_mode: str = "point",
    read_mode: str = "element_type",
    normalized_coords: bool = False,
    border_color: Sequence[float] = (0.0, 0.0, 0.0, 0.0),
    mipmap_filter_mode: str = "point",
    mipmap_level_bias: float = 0.0,
    min_mipmap_level_clamp: float = 0.0,
    max_mipmap_level_clamp: float | None = None,
    srgb: bool = False,
) -> Texture:
    """A texture object over an array, as from `cudaCreateTextureObject`; the kernel reads the array itself.

    Args:
        array: From NumPy, or from a library that shares its memory by DLPack; C-contiguous, of u8, s8, u16, s16, u32,
            s32, f16 or f32: (width), (height, width), (depth, height, width), (layers, width), (layers, height, width),
            for
            cubes (6, width, width), or six for each layer; one dimension more counts 1, 2 or 4 components. Several
            arrays are the levels of a mipmap, each half the size.
        geometry: "1d", "2d", "3d", "a1d", "a2d", "cube", "acube" as in the instruction, or "linear" for linear
            memory, which `tex.1d` takes with integers.
        address_mode: "wrap", "clamp", "mirror" or "border", or one for each dimension; without normalised
            coordinates wrap and mirror are clamp.
        filter_mode: "point", or "linear" for what reads as floats.
        read_mode: "element_type", or "normalized_float": integers of 8 and 16 bits from 0 or -1 to 1.
        normalized_coords: Whether coordinates go from 0 to 1.
        border_color: The value outside in mode border.
        mipmap_filter_mode: "point" or "linear" between levels.
        mipmap_level_bias: Added to each level asked for.
        min_mipmap_level_clamp: The least level.
        max_mipmap_level_clamp: The most, by default the last.
        srgb: Whether u8 that are read as normalised floats are sRGB; the fourth component is not.

    Returns:
        The object.

    Raises:
        UsageError: CUDA has no such texture.

    Example:
        >>> import numpy as np
        >>> image = texture(np.zeros((4, 8), np.float32), "2d", filter_mode="linear", address_mode="clamp")
        >>> image.geometry, image.channels
        ('2d', 1)
    """
    _one_of("geometry", geometry, tuple(GEOMETRIES))
    several = cast("Sequence[object]", array) if isinstance(array, (tuple, list)) else (array,)
    levels = tuple(must_be_array(one, "a texture") for one in several)
    must_be_levels(len(levels))
    channels = min(_channels(level, geometry) for level in levels)
    modes = (address_mode,) * 3 if isinstance(address_mode, str) else tuple(address_mode)
    modes = (*modes, *modes[-1:] * 3)[:3]
    for mode in modes:
        _one_of("address_mode", mode, ADDRESS_MODES)
    _one_of("filter_mode", filter_mode, _FILTERS)
    _one_of("mipmap_filter_mode", mipmap_filter_mode, _FILTERS)
    _one_of("read_mode", read_mode, _READS)
    color = tuple(float(part) for part in border_color)
    if len(color) != 4:
        raise UsageError("border_color", border_color, "four numbers")
    most = float(len(levels) - 1) if max_mipmap_level_clamp is None else float(max_mipmap_level_clamp)
    sampling = Sampling(
        (modes[0], modes[1], modes[2]), filter_mode, read_mode, normalized_coords,
        (color[0], color[1], color[2], color[3]), mipmap_filter_mode, float(mipmap_level_bias),
        float(min_mipmap_level_clamp), most, srgb,
    )  # fmt: skip
    _check_sampling(levels, geometry, sampling)
    _check_levels(levels, geometry)
    return Texture(levels, geometry, channels, sampling)


def surface(array: object, geometry: str) -> Surface:
    """A surface object over an array, as `cudaCreateSurfaceObject` makes it: a kernel writes the array in place.

    Args:
        array: As for `texture`, and writable.
        geometry: "1d", "2d", "3d", "a1d" or "a2d".

    Returns:
        The object.

    Raises:
        UsageError: CUDA has no such surface.

    Example:
        >>> import numpy as np
        >>> surface(np.zeros((4, 8, 2), np.uint16), "2d").channels
        2
    """
    _one_of("geometry", geometry, _SURFACES)
    found = must_be_array(array, "a surface")
    channels = _channels(found, geometry)
    if not found.flags.writeable:
        raise UsageError("array", "an array that is read-only", "one that a kernel may write")
    return Surface(found, geometry, channels)


def _one_of(name: str, value: object, legal: tuple[str, ...]) -> None:
    if value not in legal:
        raise UsageError(name, value, " or ".join(f'"{word}"' for word in legal))


def _channels(array: NDArray[Any], geometry: str) -> int:
    """How many components an array's texels have.

    Raises:
        UsageError: It is not an array of texels.
    """
    if _letter(array) not in ELEMENTS or not array.dtype.isnative:
        raise UsageError("array", f"{array.dtype} array", "an array of u8, s8, u16, s16, u32, s32, f16 or f32")
    dimensions = GEOMETRIES[geometry].dimensions
    if array.ndim not in {dimensions, dimensions + 1} or 0 in array.shape:
        legal = f"{dimensions} dimensions for `.{geometry}`, and one more for several components; none of them empty"
        raise UsageError("array", f"an array of shape {array.shape}", legal)
    if not array.flags.c_contiguous:
        raise UsageError("array", "an array with gaps", "a C-contiguous one")
    channels = array.shape[-1] if array.ndim > dimensions else 1
    if channels not in CHANNELS:
        raise UsageError("array", f"{channels} components", "1, 2 or 4 of them, in the last dimension")
    if array.ctypes.data % (channels * array.itemsize):
        raise UsageError("array", "an array between two texels", "one whose address is a multiple of its texels' size")
    most = _MOST_TEXELS.get(geometry, _MOST_OTHERS)
    if max(array.shape[:dimensions]) > most:
        raise UsageError("array", f"an array of shape {array.shape}", f"at most {most:,} texels in each dimension")
    if geometry.endswith("cube") and (array.shape[0] % _CUBE_FACES or array.shape[1] != array.shape[2]):
        raise UsageError("array", f"an array of shape {array.shape}", "six square faces, or six for each layer")
    if geometry == "cube" and array.shape[0] != _CUBE_FACES:
        raise UsageError("array", f"{array.shape[0]} faces", "six of them")
    return channels


def _check_sampling(levels: tuple[NDArray[Any], ...], geometry: str, sampling: Sampling) -> None:
    """Refuse what CUDA refuses.

    Raises:
        UsageError: It names the parameter.
    """
    letter = _letter(levels[0])
    normalized = sampling.read_mode == "normalized_float"
    if normalized and letter not in NORMALIZED:
        raise UsageError("read_mode", sampling.read_mode, f'"element_type" for {levels[0].dtype}: 8 and 16 bits alone')
    if sampling.filter_mode == "linear" and not normalized and letter[0] != "f":
        raise UsageError("filter_mode", "linear", '"point" for integers that are read as they are')
    if geometry == "linear" and (sampling.filter_mode == "linear" or sampling.normalized_coords):
        raise UsageError("geometry", "linear", "neither filtered nor with normalised coordinates")
    if (geometry.endswith("cube") or len(levels) > 1) and not sampling.normalized_coords:
        raise UsageError("normalized_coords", value=False, legal="True for cubes and mipmaps")
    numbers = (sampling.mipmap_level_bias, sampling.min_mipmap_level_clamp, sampling.max_mipmap_level_clamp)
    if not all(abs(number) <= FRACTIONS for number in numbers):
        raise UsageError("the bias and the clamps of levels", numbers, f"numbers from -{FRACTIONS} to {FRACTIONS}")


def _check_levels(levels: tuple[NDArray[Any], ...], geometry: str) -> None:
    """Each level has half the size of the one before.

    Raises:
        UsageError: One has not.
    """
    base = levels[0]
    halved = {"1d": (0,), "2d": (0, 1), "3d": (0, 1, 2), "a1d": (1,), "a2d": (1, 2)}.get(geometry, (1, 2))
    for number, level in enumerate(levels):
        wanted = tuple(max(n >> number, 1) if axis in halved else n for axis, n in enumerate(base.shape))
        if level.shape != wanted or level.dtype != base.dtype:
            raise UsageError(
                f"level {number}", f"{level.dtype} array of shape {level.shape}", f"{base.dtype}, {wanted}"
            )
        if geometry == "linear" and number:
            raise UsageError("geometry", "linear", "of one level")


def _letter(array: NDArray[Any]) -> str:
    return f"{array.dtype.kind}{array.dtype.itemsize}"


def image_of(thing: Texture | Surface, handle: int) -> Any:
    """An object as native code reads it, under a handle of its own or that of a variable."""
    arrays = thing.levels if isinstance(thing, Texture) else (thing.array,)
    is_layered = GEOMETRIES[thing.geometry].is_layered
    return image_row(
        handle,
        Texels(thing.geometry, _letter(arrays[0]), thing.channels, arrays[0].shape[0] if is_layered else 0),
        [_level(array, thing) for array in arrays],
        thing.sampling if isinstance(thing, Texture) else None,
    )


def _level(array: NDArray[Any], thing: Texture | Surface) -> MipLevel:
    shape = array.shape[: GEOMETRIES[thing.geometry].dimensions]
    inner = shape[1:] if GEOMETRIES[thing.geometry].is_layered else shape
    depth, height, width = (1, 1, 1, *inner)[-3:]
    pitch = width * thing.channels * array.itemsize
    return MipLevel(array.ctypes.data, pitch, height * pitch, width, height, depth)
