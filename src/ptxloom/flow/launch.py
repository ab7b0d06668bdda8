"""Special registers within a warp: which of their bits its lanes share (PTX ISA 10, 2.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.isa.special import special_register
from ptxloom.isa.types import element_type
from ptxloom.readings.bits import FULL, Bits, Level, fixed, made, mask, shared, various
from ptxloom.syntax.tree import Integer

if TYPE_CHECKING:
    from ptxloom.syntax.tree import Function

_MOST_THREADS: Final = 1024
_LANE: Final = made(FULL & ~(LANES - 1), 0, LANES - 1, Level.DIVERGENT)
_READ_LATE: Final = ("clock", "globaltimer", "pm")


class LaunchShape:
    """The threads of a kernel's CTA, as far as the text defines them.

    `.reqntid` defines all. Without it the first dimension is assumed to be a multiple of 32, so that a warp is 32
    threads with consecutive `%tid.x` and equal `%tid.y` and `%tid.z`; other launches are rare.
    """

    def __init__(self, function: Function) -> None:
        self._size = _required(function)

    def special(self, name: str, field: str) -> Bits | None:
        """What a special register (or its component) holds; None if no register has that name."""
        found = special_register(name)
        if found is None:
            return None
        width = element_type(found.type).bits
        bare = name[1:]
        if bare in {"tid", "ntid"}:
            axis = "xyz".find(field)
            return fixed(0) if axis < 0 else self._thread(axis) if bare == "tid" else self._extent(axis)
        if bare == "laneid":
            return _LANE
        if bare.startswith("lanemask"):
            return various(width, Level.DIVERGENT)
        return various(width, Level.UNKNOWN) if bare.startswith(_READ_LATE) else shared(width)

    def _extent(self, axis: int) -> Bits:
        if self._size:
            return fixed(self._size[axis])
        return made(FULL & ~(_MOST_THREADS * 2 - LANES if axis == 0 else _MOST_THREADS * 2 - 1), 0, 0, Level.UNIFORM)

    def _thread(self, axis: int) -> Bits:
        """An index within the CTA: threads are numbered along x, then y, then z, and 32 in a row are a warp."""
        most = self._size[axis] if self._size else _MOST_THREADS
        width = max(0, most - 1).bit_length()
        varies = self._varying(axis, width)
        return made(FULL & ~mask(width), 0, varies, Level.DIVERGENT)

    def _varying(self, axis: int, width: int) -> int:
        if not self._size:
            return LANES - 1 if axis == 0 else 0
        step = 1
        for extent in self._size[:axis]:
            step *= extent
        if step % LANES == 0:
            return 0
        whole = self._size[axis]
        last = all(extent == 1 for extent in self._size[axis + 1 :])
        if step & step - 1 == 0 and (last or whole % LANES == 0 or whole & whole - 1 == 0):
            return mask(min(width, max(0, (LANES // step - 1).bit_length())))
        return mask(width)


def _required(function: Function) -> tuple[int, int, int] | None:
    """The size of the CTA that `.reqntid` states."""
    for directive in function.directives:
        if directive.name == "reqntid":
            numbers = [one.value for one in directive.values if isinstance(one, Integer)]
            if 0 < len(numbers) <= 3 and len(numbers) == len(directive.values):
                x, y, z = (*numbers, 1, 1)[:3]
                return x, y, z
    return None
