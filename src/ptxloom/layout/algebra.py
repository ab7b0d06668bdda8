"""The algebra of layouts: coalesce, filter, complement and inverses (CuTe layout algebra)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ptxloom.diagnostics import must_be_several
from ptxloom.layout.composition import coalesced, compose, modes_of
from ptxloom.layout.core import Layout, a_layout, from_modes, make_layout
from ptxloom.layout.errors import LayoutError
from ptxloom.layout.inttuple import product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.layout.inttuple import IntTuple, Mode

Profile: TypeAlias = "int | tuple[Profile, ...]"


def coalesce(layout: Layout, profile: Profile | None = None) -> Layout:
    """The same function on 1-D indices with the fewest modes; a tuple `profile` keeps the modes it names apart.

    Args:
        layout: The layout.
        profile: A nesting whose modes are simplified one by one; None for the layout as a whole.

    Returns:
        An equal layout, without modes of size 1 and with neighbours joined where they run on.

    Raises:
        LayoutError: `profile` has other modes than the layout.

    Example:
        >>> print(coalesce(Layout((2, (1, 6)), (1, (6, 2)))), coalesce(Layout((2, (1, 6)), (1, (6, 2))), (1, 1)))
        12:1 (2,6):(1,2)
    """
    a_layout("layout", layout)
    if isinstance(profile, tuple):
        _check_profile(layout, profile)
        done = [coalesce(layout[i], inner) for i, inner in enumerate(profile)]
        return make_layout(*done, *(layout[i] for i in range(len(profile), layout.rank)))
    return from_modes(coalesced(layout.modes))


def filter(layout: Layout, profile: Profile | None = None) -> Layout:  # noqa: A001 - CuTe's name
    """The layout without its modes of stride 0 and of size 1 (CuTe: filter): the same image, met less often.

    Args:
        layout: The layout.
        profile: A nesting whose modes are taken one by one; None for the layout as a whole.

    Returns:
        A layout that meets the same integers; no stride of 0 repeats one.

    Example:
        >>> print(filter(Layout((4, 2, 8), (1, 0, 4))))
        32:1
    """
    a_layout("layout", layout)
    if isinstance(profile, tuple):
        _check_profile(layout, profile)
        done = [filter(layout[i], inner) for i, inner in enumerate(profile)]
        return make_layout(*done, *(layout[i] for i in range(len(profile), layout.rank)))
    return from_modes(coalesced([mode for mode in layout.modes if mode[1]]))


def _check_profile(layout: Layout, profile: tuple[Profile, ...]) -> None:
    if len(profile) > layout.rank:
        raise LayoutError(f"profile {profile} has more modes than {layout}")


def complement(layout: Layout | int, cosize_hi: IntTuple = 1) -> Layout:
    """The layout C that reaches what `layout` leaves out: (layout, C) is injective and covers [0, `cosize_hi`).

    Modes of stride 0 or size 1 do not count. C is coalesced and its strides increase. Where the gaps of `layout` can
    be filled evenly, C fills them all, also beyond `cosize_hi`, and (layout, C) is a bijection onto some [0, n).

    Args:
        layout: The layout.
        cosize_hi: How far the two together must reach at the least.

    Returns:
        C, such that (layout, C) meets every integer up to its end once.

    Raises:
        LayoutError: There is no such layout, because `layout` meets an integer twice, leaves gaps before `cosize_hi`
            that cannot be filled evenly, or goes below zero.

    Example:
        >>> print(complement(Layout((2, 2), (1, 6)), 24))
        (3,2):(2,12)
    """
    whole = layout if isinstance(layout, Layout) else Layout(layout)
    return _complement(whole, product(cosize_hi))[0]


def _complement(layout: Layout, least: int) -> tuple[Layout, bool]:
    """The complement, and whether it fills every gap."""
    modes: list[Mode] = []
    filled = 1  # (modes so far, C so far) is a bijection onto [0, filled)
    reach = 1  # and no value of the modes so far is larger
    for stride, extent in _ascending(layout.modes):
        if stride < reach:
            what = f"its mode {extent}:{stride} " + (
                "goes below zero" if stride < 0 else "repeats or interleaves values"
            )
            raise LayoutError(f"{layout} has no complement: {what}")
        if filled == reach and stride % filled == 0:
            modes.append((stride // filled, filled))
            filled = extent * stride
        elif filled < least:
            raise LayoutError(
                f"{layout} has no complement up to {least}: blocks of {filled} cannot fill the gap "
                f"before its mode {extent}:{stride}"
            )
        reach = extent * stride
    if filled == reach:
        modes.append((-(-least // filled), filled))
    return from_modes(coalesced(modes)), filled == reach


def _ascending(modes: Sequence[Mode]) -> list[Mode]:
    """The modes that move, as (stride, shape) by increasing stride."""
    return sorted([(stride, extent) for extent, stride in modes if stride and extent > 1])


def right_inverse(layout: Layout | int) -> Layout:
    """R with layout(R(i)) = i for every i < size(R): how to walk the image in order, as far as the modes allow.

    Modes that repeat what smaller strides reach already are left at 0.

    Args:
        layout: The layout.

    Returns:
        R, as large as the run of integers from 0 that the layout meets.

    Example:
        >>> print(right_inverse(Layout((4, 8), (8, 1))))
        (8,4):(4,1)
    """
    if isinstance(layout, int):
        return Layout(layout)
    a_layout("layout", layout)
    candidates: list[tuple[int, int, int]] = []
    before = 1
    for extent, stride in layout.modes:
        if extent > 1 and stride > 0:
            candidates.append((stride, extent, before))
        before *= extent
    candidates.sort()
    modes: list[Mode] = []
    reached = 1
    for stride, extent, coordinate_stride in candidates:
        if stride > reached:
            break
        if stride == reached:
            modes.append((extent, coordinate_stride))
            reached *= extent
    return from_modes(coalesced(modes))


def left_inverse(layout: Layout | int) -> Layout:
    """R with R(layout(i)) = i for every i: which 1-D coordinate an integer of the image came from.

    Args:
        layout: A layout that meets no integer twice.

    Returns:
        R; its results for integers that the layout does not meet mean nothing.

    Raises:
        LayoutError: `layout` sends two coordinates to one integer, or no layout undoes it.

    Example:
        >>> print(left_inverse(Layout(4, 2)))
        (2,4):(4,1)
    """
    if isinstance(layout, int):
        return Layout(layout)
    a_layout("layout", layout)
    moving = _ascending(layout.modes)
    if len(moving) < sum(extent > 1 for extent, _ in layout.modes):
        raise LayoutError(f"{layout} has no left inverse: its modes of stride 0 send many coordinates to one integer")
    try:
        filling, even = _complement(layout, 1)
    except LayoutError:
        return _left_inverse_with_gaps(layout)
    return right_inverse(make_layout(layout, filling)) if even else _left_inverse_with_gaps(layout)


def _left_inverse_with_gaps(layout: Layout) -> Layout:
    """The left inverse where the strides divide each other but the gaps between the blocks cannot be filled evenly."""
    candidates: list[tuple[int, int, int]] = []
    before = 1
    for extent, stride in layout.modes:
        if extent > 1:
            candidates.append((stride, extent, before))
        before *= extent
    candidates.sort()
    modes: list[Mode] = [(candidates[0][0], 0)]
    for i, (stride, extent, coordinate_stride) in enumerate(candidates):
        following = candidates[i + 1][0] if i + 1 < len(candidates) else stride * extent
        if stride < 0 or following % stride or following < stride * extent:
            raise LayoutError(
                f"{layout} has no left inverse: from its mode {extent}:{stride}, which spans "
                f"{abs(stride) * (extent - 1) + 1}, to its next stride {following} there is no whole, sufficient step"
            )
        modes.append((following // stride, coordinate_stride))
    return from_modes(coalesced(modes))


def with_shape(layout: Layout, shape: IntTuple) -> Layout:
    """The same function on 1-D indices, its coordinates arranged in another shape.

    Args:
        layout: The layout.
        shape: The new shape, of the same size.

    Returns:
        The layout with that shape.

    Raises:
        LayoutError: A mode of `shape` would need two strides.

    Example:
        >>> print(with_shape(Layout(32, 2), (4, 8)))
        (4,8):(2,8)
    """
    a_layout("layout", layout)
    target = Layout(shape)
    if target.size != layout.size:
        raise LayoutError(f"{layout} has {layout.size} elements, which do not fill the shape {shape} of {target.size}")
    return compose(layout, target)


def layout_of(values: Sequence[int]) -> Layout:
    """The coalesced layout whose i-th value is `values[i]`.

    Raises:
        LayoutError: No layout has these values.

    Example:
        >>> print(layout_of([0, 8, 1, 9, 2, 10]))
        (2,3):(8,1)
    """
    must_be_several("values", values, "whole numbers")
    if not values or values[0] != 0:
        raise LayoutError("the values of a layout start with 0")
    modes = modes_of(values)
    if modes is None:
        raise LayoutError(f"the {len(values)} values {list(values[:8])}... have no constant strides")
    return from_modes(modes)
