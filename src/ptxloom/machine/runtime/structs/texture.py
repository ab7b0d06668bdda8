"""A texture or a surface as native code knows it, and the elements that a look-up combines.

Kernels name an object by a number, or by the address of a module's variable; the table of a launch describes it. No
kernel can reach the table. The address of a texel is one of global memory like any other: it is checked when the texel
is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ptxloom.machine.native import language

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Array, i32, i64, u32, u64

TEXTURE, SURFACE = 1, 2
ONE, TWO, THREE, LAYERED_ONE, LAYERED_TWO, CUBE, LAYERED_CUBE, LINEAR_MEMORY = range(8)
WRAP, CLAMP, MIRROR, BORDER = range(4)
# How the bits of a component are read.
UNSIGNED, SIGNED, HALF, SINGLE, UNORM, SNORM = range(6)

MOST_LEVELS: Final = 18
MOST_TAPS: Final = 16  # two of each dimension, in two levels
COORDINATES: Final = 8  # of a look-up: three numbers, the layer, the level, three offsets
LAYER, LEVEL, OFFSETS = 3, 4, 5
ONE_WEIGHT: Final = 256

# Why an object cannot be looked up; the numbers below these are reasons about tensor maps.
NO_OBJECT, OTHER_OBJECT, OTHER_GEOMETRY, OUTSIDE, BETWEEN_ACCESSES = range(30, 35)


class Image(language.Sealed):
    """A texture or a surface."""

    handle: u64
    kind: u32
    geometry: u32
    component: u32
    component_bytes: u32
    channels: u32
    layers: u32  # of a cube: its faces
    srgb: u32  # 1: its colours are encoded (`texels.is_encoded`)
    is_linear: u32  # between texels
    is_normalized: u32
    modes: Annotated[Array[u32], 3]
    border: Annotated[Array[u32], 4]  # the bits of components
    between_levels: u32  # 1: levels are combined
    level_count: u32
    bias: i32  # of levels, in units of 1/256, like the next two
    least: i32
    most: i32
    widths: Annotated[Array[u32], MOST_LEVELS]
    heights: Annotated[Array[u32], MOST_LEVELS]
    depths: Annotated[Array[u32], MOST_LEVELS]
    starts: Annotated[Array[u64], MOST_LEVELS]  # the address of the first texel
    pitches: Annotated[Array[u64], MOST_LEVELS]  # from row to row, in bytes
    planes: Annotated[Array[u64], MOST_LEVELS]  # from slice, layer or face to the next


class Lookup:
    """The texels of one lane's look-up; groups of four belong together: a slice of a level each."""

    groups: u32
    width: i64  # of the level at hand
    height: i64
    depth: i64
    plane: i64  # the layer or the face
    index: Annotated[Array[i64], 3]  # of the first texel in each dimension
    fraction: Annotated[Array[u32], 3]  # the weight of the second, of 256
    weights: Annotated[Array[u32], MOST_TAPS]
    meant: Annotated[Array[u32], MOST_TAPS]  # 1: its fractions are not zero, even if its weight is zero
    texels: Annotated[Array[u32], 4 * MOST_TAPS]  # the bits of components
    result: Annotated[Array[u32], 4]
    sums: Annotated[Array[i64], 4]  # of floats, for each group; then the value of the last bit of each
    units: Annotated[Array[i32], 4]
    failed: u32
