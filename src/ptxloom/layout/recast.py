"""The same storage seen in elements of another width: upcast, downcast and recast (CuTe)."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

from ptxloom.diagnostics import must_be
from ptxloom.layout.core import Layout, a_layout, from_valid
from ptxloom.layout.errors import LayoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.layout.inttuple import IntTuple, Mode


def downcast(layout: Layout, count: int) -> Layout:
    """Every element becomes `count` smaller ones: the mode of stride 1 grows, other strides scale.

    Args:
        layout: The layout.
        count: How many smaller elements one becomes.

    Returns:
        The layout in smaller elements.

    Raises:
        LayoutError: No single mode is contiguous, so the smaller elements have nowhere to go.

    Example:
        >>> print(downcast(Layout((8, 4), (1, 8)), 2))
        (16,4):(1,16)
    """
    a_layout("layout", layout)
    _check_count(count)
    if count == 1:
        return layout
    unit = [i for i, (extent, stride) in enumerate(layout.modes) if stride == 1 and extent > 1] or [
        i for i, (_, stride) in enumerate(layout.modes) if stride == 1
    ]
    if not unit:
        raise LayoutError(f"{layout} cannot be split into elements {count} times smaller: no mode has stride 1")
    modes = [
        (extent * count, 1) if i == unit[0] else (extent, stride * count)
        for i, (extent, stride) in enumerate(layout.modes)
    ]
    return _rebuilt(layout, modes)


def upcast(layout: Layout, count: int) -> Layout:
    """Merge groups of `count` contiguous elements into one larger element.

    Args:
        layout: The layout.
        count: How many elements become one.

    Returns:
        The layout in larger elements.

    Raises:
        LayoutError: The layout does not hold whole, aligned groups.

    Example:
        >>> print(upcast(Layout(((4, 8), (16, 2)), ((256, 16), (1, 128))), 16))
        ((4,8),(1,2)):((16,1),(1,8))
    """
    folded, inside = _folded(layout, count)
    filled = 1
    for step, extent in sorted(inside):
        if step != filled:
            raise _no_groups(layout, count, f"after runs of {filled} adjacent elements it steps by {step}")
        filled *= extent
    if filled != count:
        raise _no_groups(layout, count, f"it holds only runs of {filled} adjacent elements")
    return folded


def blocks(layout: Layout, count: int) -> Layout:
    """Which block of `count` each step goes to, where a block need not be held whole.

    Raises:
        LayoutError: A mode neither stays inside blocks nor skips whole ones.

    Example:
        >>> print(blocks(Layout((2, 4, 2), (1, 8, 32)), 16))
        (1,2,2):(1,1,2)
    """
    return _folded(layout, count)[0]


def _folded(layout: Layout, count: int) -> tuple[Layout, list[Mode]]:
    """The layout in blocks of `count`, and the steps inside a block as (stride, how many)."""
    a_layout("layout", layout)
    _check_count(count)
    modes: list[Mode] = []
    inside: list[Mode] = []
    for extent, stride in layout.modes:
        if stride % count == 0:
            modes.append((extent, stride // count))
            continue
        step = abs(stride)
        folded = min(extent, count // step) if count % step == 0 else 0
        if folded == 0 or extent % folded or (stride < 0 and extent > 1):
            raise _no_groups(layout, count, f"its mode {extent}:{stride} does not fill or skip whole groups")
        if extent > 1:
            inside.append((step, folded))
        modes.append((extent // folded, 1))
    return _rebuilt(layout, modes), inside


def recast(layout: Layout, old_bits: int, new_bits: int) -> Layout:
    """A layout of elements of `old_bits` as one of elements of `new_bits` over the same bits.

    Args:
        layout: The layout.
        old_bits: The width of its elements.
        new_bits: The width of the elements to count in.

    Returns:
        The layout in elements of `new_bits`.

    Raises:
        LayoutError: The new elements are cut apart by the layout.

    Example:
        >>> print(recast(Layout((32, 8), (1, 32)), 8, 16))
        (16,8):(1,16)
    """
    a_layout("layout", layout)
    common = gcd(old_bits, new_bits)
    return upcast(downcast(layout, old_bits // common), new_bits // common)


def _check_count(count: int) -> None:
    must_be(int, "count", count, "a whole number from 1 up")
    if count < 1:
        raise LayoutError(f"an element cannot become {count} elements; the factor must be at least 1")


def _no_groups(layout: Layout, count: int, why: str) -> LayoutError:
    return LayoutError(f"{layout} cannot be read in elements {count} times larger: {why}")


def _rebuilt(layout: Layout, modes: list[Mode]) -> Layout:
    """The brackets of `layout` around other leaves."""
    return from_valid(
        _nested(layout.shape, iter([mode[0] for mode in modes])),
        _nested(layout.shape, iter([mode[1] for mode in modes])),
    )


def _nested(profile: IntTuple, leaves: Iterator[int]) -> IntTuple:
    if isinstance(profile, int):
        return next(leaves)
    return tuple([_nested(inner, leaves) for inner in profile])
