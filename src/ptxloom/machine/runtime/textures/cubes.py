"""Which face of a cube a direction meets, and where (PTX ISA 9.7.10.3).

An H200 is given directions whose largest coordinate is about 1: ptxas multiplies them by an approximate reciprocal.
"""

from __future__ import annotations

from ptxloom.machine.native.language import i64, u32
from ptxloom.machine.runtime.structs.texture import Lookup
from ptxloom.machine.runtime.textures.positions import fine_bits, fixed, position, settle_texel

NOT_A_NUMBER = 0x7F800000
MAGNITUDE = 0x7FFFFFFF
SIGN = 0x80000000


def size_of(bits: u32) -> u32:
    """A float's magnitude, which compares like an integer; of a NaN 0."""
    return 0 if bits & MAGNITUDE > NOT_A_NUMBER else bits & MAGNITUDE


def major_axis(x: u32, y: u32, z: u32) -> u32:
    """The axis of the largest coordinate: the last of equal ones, and if all are NaN."""
    if z & MAGNITUDE <= NOT_A_NUMBER and size_of(z) >= max(size_of(x), size_of(y)):
        return 2
    if x & MAGNITUDE > NOT_A_NUMBER and y & MAGNITUDE > NOT_A_NUMBER:
        return 2
    return 1 if y & MAGNITUDE <= NOT_A_NUMBER and size_of(y) >= size_of(x) else 0


def cube_face(x: u32, y: u32, z: u32) -> u32:
    """The face: of x, y, z the positive and the negative one."""
    axis = major_axis(x, y, z)
    if axis == 2:
        return 4 + u32(size_of(z) != 0 and z >> 31 != 0)
    if axis == 1:
        return 2 + u32(size_of(y) != 0 and y >> 31 != 0)
    return u32(size_of(x) != 0 and x >> 31 != 0)


def locate_on_face(t: Lookup, x: u32, y: u32, z: u32, is_between: u32) -> None:
    """Note the first texel on the face, in both dimensions, and the fractions of the second ones."""
    face = cube_face(x, y, z)
    across = x
    down = y ^ SIGN
    if face == 0:
        across = z ^ SIGN
    elif face == 1:
        across = z
    elif face == 2:
        down = z
    elif face == 3:
        down = z ^ SIGN
    elif face == 5:
        across = x ^ SIGN
    settle_on_face(t, 0, across, is_between)
    settle_on_face(t, 1, down, is_between)


def settle_on_face(t: Lookup, dimension: u32, bits: u32, is_between: u32) -> None:
    """The same in one dimension, from -1 to 1."""
    fine = fine_bits(t.width)
    middle = i64(1) << i64(fine - 1)
    at = middle + max(min(fixed(bits, fine - 1), middle), -middle)
    if is_between != 0:
        settle_texel(t, dimension, position(at, t.width, fine))
        return
    t.index[dimension] = at * t.width >> i64(fine)
    t.fraction[dimension] = 0
