"""The integer words on known bits: a function of two values and a width for each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ptxloom.readings import bits, integers
from ptxloom.readings.bits import FULL, Bits, Level, fixed, made, mask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MAGIC_BITS: Final = 14
"""A factor of at least this many bits implements a division."""


# -------------------------------------------------------------------------------------------------------- operations


def _times(a: Bits, b: Bits, width: int) -> Bits:
    """A product.

    The product with a factor that only occurs in divisions by multiplication counts as not shared.
    """
    found = bits.multiplied(a, b, width)
    for one in (a, b):
        if one.exact is not None and _MAGIC_BITS < (one.exact >> one.even).bit_length() < width - _MAGIC_BITS // 2:
            return made(found.zeros, found.ones, found.varies, Level.UNKNOWN)
    return found


def _left(a: Bits, b: Bits, width: int) -> Bits:
    by = b.exact
    return bits.opaque(width, a, b) if by is None else bits.moved(a, by, width)


def _right(a: Bits, b: Bits, width: int) -> Bits:
    by = b.exact
    if by is None:
        return bits.opaque(width, a, b)
    return bits.moved(a, -by, width) if by < width else fixed(0)


def _right_signed(a: Bits, b: Bits, width: int) -> Bits:
    by = b.exact
    return bits.opaque(width, a, b) if by is None else bits.shifted_signed(a, by, width)


def _bitwise(table: int) -> Callable[[Bits, Bits, int], Bits]:
    return lambda a, b, _: bits.combined(table, a, b)


OPERATIONS: Final[dict[str, Callable[[Bits, Bits, int], Bits]]] = {
    "add": bits.total,
    "sub": bits.difference,
    "mul": _times,
    "and": _bitwise(0b11000000),
    "or": _bitwise(0b11111100),
    "xor": _bitwise(0b00111100),
    "shl": _left,
    "lshr": _right,
    "ashr": _right_signed,
}
UPWARDS: Final = frozenset(("add", "sub", "mul", "and", "or", "xor", "shl"))
"""Operations whose low bits depend only on the low bits of their operands."""


# ------------------------------------------------------------------------------------------------------- comparisons


def _not(a: Bits) -> Bits:
    return bits.inverted(a, 1)


def _signed_less(a: Bits, b: Bits, width: int) -> Bits:
    return bits.less(bits.signed(a, width), bits.signed(b, width))


COMPARISONS: Final[dict[str, Callable[[Bits, Bits, int], Bits]]] = {
    "eq": lambda a, b, _: bits.equal(a, b),
    "ne": lambda a, b, _: _not(bits.equal(a, b)),
    "ult": lambda a, b, _: bits.less(a, b),
    "ugt": lambda a, b, _: bits.less(b, a),
    "ule": lambda a, b, _: _not(bits.less(b, a)),
    "uge": lambda a, b, _: _not(bits.less(a, b)),
    "slt": _signed_less,
    "sgt": lambda a, b, width: _signed_less(b, a, width),
    "sle": lambda a, b, width: _not(_signed_less(b, a, width)),
    "sge": lambda a, b, width: _not(_signed_less(a, b, width)),
}


# --------------------------------------------------------------------------------------------------------- functions


def chosen(which: Bits, a: Bits, b: Bits) -> Bits:
    """The first where a bit is 1, else the second."""
    if which.exact is not None:
        return a if which.exact else b
    return bits.mixed(a, b, which.level)


def _lesser(a: Bits, b: Bits, width: int, *, least: bool) -> Bits:
    """The smaller or the larger of two unsigned values."""
    del width
    if a.high <= b.low:
        return a if least else b
    if b.high <= a.low:
        return b if least else a
    found = bits.mixed(a, b, bits.worst(a, b))
    limit = min(a.high, b.high) if least else max(a.high, b.high)
    above = FULL & ~mask(limit.bit_length())
    return made(found.zeros | above, found.ones, found.varies & ~above, found.level)


def _lesser_signed(a: Bits, b: Bits, width: int, *, least: bool) -> Bits:
    found = _lesser(bits.signed(a, width), bits.signed(b, width), width, least=least)
    return bits.signed(found, width)


def _counted(a: Bits, _b: Bits, width: int) -> Bits:
    """A number from 0 to the width."""
    return bits.cut(bits.opaque(width, a), width.bit_length())


def _reversed(a: Bits, _b: Bits, width: int) -> Bits:
    a = bits.cut(a, width)
    zeros, ones, varies = (int(f"{one & mask(width):0{width}b}"[::-1], 2) for one in (a.zeros, a.ones, a.varies))
    return made(zeros | FULL & ~mask(width), ones, varies, a.level)


def _opaque(a: Bits, b: Bits, width: int) -> Bits:
    return bits.opaque(width, a, b)


def _folded(name: str, act: Callable[[Bits, Bits, int], Bits]) -> Callable[[Bits, Bits, int], Bits]:
    """The function of plain integers, if all bits are known."""
    compute = integers.FUNCTIONS[name]

    def found(a: Bits, b: Bits, width: int) -> Bits:
        if a.exact is not None and b.exact is not None:
            return fixed(compute(a.exact, b.exact, width), width)
        return act(a, b, width)

    return found


FUNCTIONS: Final[dict[str, Callable[[Bits, Bits, int], Bits]]] = {
    "llvm.umin": partial(_lesser, least=True),
    "llvm.umax": partial(_lesser, least=False),
    "llvm.smin": partial(_lesser_signed, least=True),
    "llvm.smax": partial(_lesser_signed, least=False),
    "llvm.ctpop": _folded("llvm.ctpop", _counted),
    "llvm.ctlz": _folded("llvm.ctlz", _counted),
    "llvm.bitreverse": _reversed,
    **{name: _folded(name, _opaque) for name in ("llvm.abs", "llvm.sadd.sat", "llvm.ssub.sat", "llvm.usub.sat")},
}


def divided(name: str, a: Bits, b: Bits, width: int) -> Bits:
    """`sdiv`, `udiv`, `srem` or `urem`."""
    if a.exact is not None and b.exact is not None:
        return fixed(integers.divided(name, a.exact, b.exact, width), width)
    top = 1 << width - 1
    if b.low == 0 or (name[0] == "s" and not (a.zeros & top and b.zeros & top)):
        return bits.opaque(width, a, b)
    return bits.quotient(a, b, width) if name.endswith("div") else bits.remainder(a, b, width)


# ------------------------------------------------------------------------------------------------- elements and bytes


def joined(parts: Sequence[Bits], width: int) -> Bits:
    """Concatenated elements, the first lowest; only 64 bits."""
    whole = fixed(0)
    for at, one in enumerate(parts):
        whole = bits.combined(0b11111100, whole, bits.moved(one, width * at, 64))
    return whole


def split(whole: Bits, width: int, many: int) -> tuple[Bits, ...]:
    """The elements of a value."""
    return tuple(bits.cut(bits.moved(whole, -width * at, 64), width) for at in range(many))


def permuted(a: Bits, b: Bits, code: int) -> Bits:
    """Four bytes of eight, by a digit per byte, whose bit 3 replicates the byte's sign."""
    bytes_ = (*split(a, 8, 4), *split(b, 8, 4))
    taken: list[Bits] = []
    for n in range(4):
        choice = code >> 4 * n & 15
        byte = bytes_[choice & 7]
        taken.append(bits.shifted_signed(byte, 7, 8) if choice & 8 else byte)
    return joined(taken, 8)
