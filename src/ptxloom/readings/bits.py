"""Facts about a value without running it: fixed bits, and bits in which lanes of a warp may differ."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from ptxloom.dataclass import dataclass

WIDEST: Final = 64
FULL: Final = (1 << WIDEST) - 1


class Level(IntEnum):
    """How a value may differ between the lanes of a warp; of several that are combined, the highest applies."""

    UNIFORM = 0  # the same in all lanes
    DIVERGENT = 1  # depends on something that is known to differ, such as `%tid.x`
    UNKNOWN = 2  # may or may not differ


@dataclass(frozen=True, slots=True)
class Bits:
    """A value of up to 64 bits, zero above its own width. The three masks share no bit.

    Bits in no mask are unknown, but the same in all lanes that are active together.

    Attributes:
        zeros: Bits that are always 0.
        ones: Bits that are always 1.
        varies: Bits that may differ between lanes.
        level: How they may differ; UNIFORM if they do not.
    """

    zeros: int
    ones: int
    varies: int
    level: Level

    @property
    def low(self) -> int:
        """The least value that it can have."""
        return self.ones

    @property
    def high(self) -> int:
        """The greatest value that it can have."""
        return FULL & ~self.zeros

    @property
    def uniform(self) -> bool:
        """Whether all lanes that are active together have the same value."""
        return not self.varies

    @property
    def exact(self) -> int | None:
        """The value, if all its bits are known."""
        return self.ones if self.zeros | self.ones == FULL else None

    @property
    def even(self) -> int:
        """The number of lowest bits that are always 0."""
        rest = self.high
        return 64 if rest == 0 else (rest & -rest).bit_length() - 1


def made(zeros: int, ones: int, varies: int, level: Level) -> Bits:
    """Bits with a level consistent with their masks."""
    return Bits(zeros, ones, varies, level if varies else Level.UNIFORM)


def mask(width: int) -> int:
    """The bits below a width."""
    return FULL if width >= 64 else (1 << width) - 1


def fixed(value: int, width: int = 64) -> Bits:
    """A constant; a negative one in two's complement."""
    ones = value & mask(width)
    return Bits(FULL & ~ones, ones, 0, Level.UNIFORM)


def shared(width: int) -> Bits:
    """Any value, the same in all lanes."""
    return Bits(FULL & ~mask(width), 0, 0, Level.UNIFORM)


def various(width: int, level: Level) -> Bits:
    """Any value, perhaps different in each lane by `level`."""
    if level is Level.UNIFORM:
        return shared(width)
    return made(FULL & ~mask(width), 0, mask(width), level)


def opaque(width: int, *operands: Bits) -> Bits:
    """A result with a known level only: the highest of its operands."""
    return various(width, worst(*operands))


def worst(*operands: Bits) -> Level:
    """The highest level of several."""
    return max((one.level for one in operands), default=Level.UNIFORM)


def cut(a: Bits, width: int) -> Bits:
    """The lowest bits of a value."""
    kept = mask(width)
    return made(a.zeros | FULL & ~kept, a.ones & kept, a.varies & kept, a.level)


def extended(a: Bits, width: int, to: int) -> Bits:
    """A value of `width` bits as a signed number of `to` bits."""
    a = cut(a, width)
    top, rest = 1 << width - 1, mask(to) & ~mask(width)
    if a.zeros & top:
        return a
    zeros = a.zeros & ~rest
    if a.ones & top:
        return made(zeros, a.ones | rest, a.varies, a.level)
    return made(zeros, a.ones, a.varies | (rest if a.varies & top else 0), a.level)


def either(a: Bits, b: Bits) -> Bits:
    """One of two values, the same one in all lanes."""
    return made(a.zeros & b.zeros, a.ones & b.ones, a.varies | b.varies, max(a.level, b.level))


def mixed(a: Bits, b: Bits, level: Level) -> Bits:
    """One of two values, perhaps chosen lane by lane, by `level`."""
    joined = either(a, b)
    if level is Level.UNIFORM:
        return joined
    varies = FULL & ~(joined.zeros | joined.ones)
    return made(joined.zeros, joined.ones, varies, max(level, joined.level))


def widened(before: Bits, after: Bits) -> Bits:
    """A value that covers both, and any further change of the bits from the lowest changed one on."""
    changed = (before.zeros ^ after.zeros) | (before.ones ^ after.ones)
    fickle = before.varies ^ after.varies
    known = mask((changed & -changed).bit_length() - 1) if changed else FULL
    varies = after.varies | (FULL & -(fickle & -fickle) if fickle else 0)
    return made(after.zeros & known & ~varies, after.ones & known & ~varies, varies, after.level)


def inverted(a: Bits, width: int) -> Bits:
    """Every bit inverted."""
    kept = mask(width)
    return made(a.ones & kept | FULL & ~kept, a.zeros & kept, a.varies & kept, a.level)


def combined(table: int, *operands: Bits) -> Bits:
    """A bitwise function of up to three operands; `table` has bit 4a + 2b + c set where it is 1, as in `lop3`."""
    a, b, c = (*operands, fixed(0), fixed(0))[:3]
    may_be = [(FULL & ~one.ones, FULL & ~one.zeros) for one in (a, b, c)]
    outcome = [0, 0]
    for row in range(8):
        possible = may_be[0][row >> 2] & may_be[1][row >> 1 & 1] & may_be[2][row & 1]
        outcome[table >> row & 1] |= possible
    open_ = outcome[0] & outcome[1]
    varies = (a.varies | b.varies | c.varies) & open_
    level = max((one.level for one in operands if one.varies & varies), default=Level.UNIFORM)
    return made(FULL & ~outcome[1], FULL & ~outcome[0], varies, level)


def moved(a: Bits, by: int, width: int) -> Bits:
    """A value shifted left (or, if `by` is negative, right), filled with zeros."""
    if by < 0:
        return made(a.zeros >> -by | FULL & ~(FULL >> -by), a.ones >> -by, a.varies >> -by, a.level)
    if by >= width:
        return fixed(0)
    filled = (a.zeros << by | mask(by)) & FULL
    return cut(made(filled, a.ones << by & FULL, a.varies << by & FULL, a.level), width)


def shifted_signed(a: Bits, by: int, width: int) -> Bits:
    """A signed value shifted right, filled with its sign."""
    a, by = cut(a, width), min(by, width - 1)
    top, entered = 1 << width - 1, mask(width) & ~mask(width - by)
    zeros = FULL & ~mask(width) | (a.zeros & mask(width)) >> by | (entered if a.zeros & top else 0)
    ones = a.ones >> by | (entered if a.ones & top else 0)
    return made(zeros, ones, a.varies >> by | (entered if a.varies & top else 0), a.level)


def total(a: Bits, b: Bits, width: int, carry: int = 0) -> Bits:
    """The sum of two values and a carry, wrapping."""
    if not carry and not a.high & b.high:
        return cut(combined(0b11111100, a, b), width)
    low, high = a.low + b.low + carry, a.high + b.high + carry
    carry_known = ~(high ^ a.high ^ b.high) | low ^ a.low ^ b.low
    settled = carry_known & (a.zeros | a.ones) & (b.zeros | b.ones)
    varies = _varying_sum(a, b, width, carry) if a.varies | b.varies else 0
    found = made(~low & settled & FULL, low & settled, varies & ~settled, max(a.level, b.level))
    return cut(found, width)


def _varying_sum(a: Bits, b: Bits, width: int, carry: int) -> int:
    """The bits of a sum that varying bits of its terms affect, directly or by carries."""
    either_varies = a.varies | b.varies
    at = (either_varies & -either_varies).bit_length() - 1
    below = mask(at)
    least, most = (a.low & below) + (b.low & below) + carry, (a.high & below) + (b.high & below) + carry
    carries_may = {least >> at & 1, most >> at & 1}
    moving, varies = False, 0
    settling = a.zeros & b.zeros | a.ones & b.ones  # where a carry stops, or starts
    while at < width:
        bit = 1 << at
        if moving and not settling >> at:
            return varies | mask(width) & -bit
        here = bool(either_varies & bit)
        if here or moving:
            varies |= bit
        carries_may, moving = _next_carry(a, b, bit, carries_may, moving=moving)
        at += 1
    return varies


def _next_carry(a: Bits, b: Bits, bit: int, carries: set[int], *, moving: bool) -> tuple[set[int], bool]:
    """The possible carries into the next bit, and whether they may differ between lanes."""
    may_a = [one for one, never in ((0, a.ones), (1, a.zeros)) if not never & bit]
    may_b = [one for one, never in ((0, b.ones), (1, b.zeros)) if not never & bit]
    after = {one + two + three >> 1 for one in may_a for two in may_b for three in carries}
    return after, len(after) > 1 and (moving or bool((a.varies | b.varies) & bit))


def difference(a: Bits, b: Bits, width: int) -> Bits:
    """One value less another, wrapping."""
    return total(a, inverted(b, width), width, 1)


def multiplied(a: Bits, b: Bits, width: int) -> Bits:
    """The lower bits of a product."""
    for one, other in ((a, b), (b, a)):
        factor = one.exact
        if factor is not None and factor & factor - 1 == 0:
            return fixed(0) if factor == 0 else moved(other, factor.bit_length() - 1, width)
    if a.exact is not None and b.exact is not None:
        return fixed(a.exact * b.exact, width)
    even = min(a.even + b.even, width)
    above = mask(width) & ~mask(min(width, (a.high * b.high).bit_length()))
    varies = 0
    for one, other in ((a, b), (b, a)):
        if one.varies:
            varies |= FULL & ~mask(min(64, (one.varies & -one.varies).bit_length() - 1 + other.even))
    zeros = mask(even) | above | FULL & ~mask(width)
    return made(zeros, 0, varies & ~zeros, max(a.level, b.level))


def quotient(a: Bits, b: Bits, width: int) -> Bits:
    """An unsigned quotient; one by a multiple of 2^k is uniform if only the k lowest bits of the dividend vary."""
    divisor = b.exact
    if divisor is not None and divisor and divisor & divisor - 1 == 0:
        return moved(a, 1 - divisor.bit_length(), width)
    if b.uniform and a.varies.bit_length() <= b.even:
        return shared(width)
    return opaque(width, a, b)


def remainder(a: Bits, b: Bits, width: int) -> Bits:
    """An unsigned remainder; one by a multiple of 2^k keeps the k lowest bits."""
    divisor = b.exact
    if divisor is not None and divisor and divisor & divisor - 1 == 0:
        return cut(a, divisor.bit_length() - 1)
    if b.uniform and a.varies.bit_length() <= b.even:
        kept = mask(b.even) if b.low else 0  # the remainder by zero is all ones
        return made(a.zeros & kept | FULL & ~mask(width), a.ones & kept, a.varies, a.level)
    return opaque(width, a, b)


def less(a: Bits, b: Bits) -> Bits:
    """Whether one value is below another, both unsigned.

    A value that varies in its k lowest bits only is below a multiple of 2^k in all lanes or in no lane.
    """
    if a.high < b.low:
        return fixed(1)
    if a.low >= b.high:
        return fixed(0)
    if a.varies and not b.varies and a.varies.bit_length() <= b.even:
        return shared(1)
    if b.varies and not a.varies and not mask(b.varies.bit_length()) & ~a.ones:
        return shared(1)
    return opaque(1, a, b)


def equal(a: Bits, b: Bits) -> Bits:
    """Whether two values are the same."""
    if a.ones & b.zeros or a.zeros & b.ones:
        return fixed(0)
    if a.exact is not None and a.exact == b.exact:
        return fixed(1)
    return opaque(1, a, b)


def signed(a: Bits, width: int) -> Bits:
    """A signed value offset so that it compares like an unsigned one."""
    top = 1 << width - 1
    a = cut(a, width)
    return made(a.zeros & ~top | a.ones & top, a.ones & ~top | a.zeros & top, a.varies, a.level)
