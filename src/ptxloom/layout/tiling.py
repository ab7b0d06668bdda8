"""Dividing layouts into tiles and repeating them: logical, zipped, tiled and flat divide and product (CuTe)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.layout.algebra import coalesce, complement
from ptxloom.layout.composition import Tiler, by_mode, compose
from ptxloom.layout.core import Layout, a_layout, make_layout
from ptxloom.layout.errors import LayoutError

if TYPE_CHECKING:
    from collections.abc import Callable


def logical_divide(layout: Layout, tiler: Tiler) -> Layout:
    """Split a layout into (tile, rest): the elements that `tiler` picks, and where each further tile starts.

    A tuple divides mode by mode, None leaves a mode alone, an integer n stands for n:1.

    Args:
        layout: What is divided.
        tiler: A tile for all of it, or one for each mode; None leaves a mode alone, an integer n is n:1.

    Returns:
        (tile, rest), for each mode that is divided.

    Raises:
        LayoutError: The tiler has no complement, or does not divide the layout.

    Example:
        >>> print(logical_divide(Layout((4, 2, 3), (2, 1, 8)), Layout(4, 2)))
        ((2,2),(2,3)):((4,1),(2,8))
    """
    a_layout("layout", layout)
    if isinstance(tiler, Layout):
        return compose(layout, make_layout(tiler, complement(tiler, layout.size)))
    if tiler is None:
        return layout
    if isinstance(tiler, int):
        return logical_divide(layout, Layout(tiler))
    return by_mode(logical_divide, layout, tiler)


def logical_product(layout: Layout, tiler: Tiler) -> Layout:
    """Repeat a layout: (layout, how the repetitions are laid out), in the order of `tiler`.

    Args:
        layout: The layout to repeat.
        tiler: The layout of the repetitions, for all of it or for each mode.

    Returns:
        (layout, repetitions).

    Raises:
        LayoutError: The layout has no complement, or the tiler does not fit it.

    Example:
        >>> print(logical_product(Layout((2, 2), (4, 1)), Layout(6, 1)))
        ((2,2),(2,3)):((4,1),(2,8))
    """
    a_layout("layout", layout)
    if isinstance(tiler, Layout):
        return make_layout(layout, compose(complement(layout, layout.size * tiler.cosize), tiler))
    if tiler is None:
        return layout
    if isinstance(tiler, int):
        return logical_product(layout, Layout(tiler))
    return by_mode(logical_product, layout, tiler)


def zipped_divide(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_divide`, gathered as ((tile of each mode), (rest of each mode, modes left alone)).

    Args:
        layout: What is divided.
        tiler: A tile for all of it, or one for each mode; None leaves a mode alone, an integer n is n:1.

    Returns:
        The same elements, tile and rest apart.

    Raises:
        LayoutError: The tiler has no complement, or does not divide the layout.

    Example:
        >>> print(zipped_divide(Layout((8, 6)), (Layout(4), Layout(3))))
        ((4,3),(2,2)):((1,8),(4,24))
    """
    return _unzip(logical_divide, layout, tiler)


def tiled_divide(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_divide`, gathered as ((tile of each mode), rest, rest, ...).

    Args:
        layout: What is divided.
        tiler: A tile for all of it, or one for each mode; None leaves a mode alone, an integer n is n:1.

    Returns:
        The same elements, tile and rest apart.

    Raises:
        LayoutError: The tiler has no complement, or does not divide the layout.

    Example:
        >>> print(tiled_divide(Layout((8, 6)), (Layout(4), Layout(3))))
        ((4,3),2,2):((1,8),4,24)
    """
    return _spread(zipped_divide(layout, tiler))


def flat_divide(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_divide`, gathered as (tile, tile, ..., rest, rest, ...).

    Args:
        layout: What is divided.
        tiler: A tile for all of it, or one for each mode; None leaves a mode alone, an integer n is n:1.

    Returns:
        The same elements, tile and rest apart.

    Raises:
        LayoutError: The tiler has no complement, or does not divide the layout.

    Example:
        >>> print(flat_divide(Layout((8, 6)), (Layout(4), Layout(3))))
        (4,3,2,2):(1,8,4,24)
    """
    tile, rest = zipped_divide(layout, tiler)
    return make_layout(*tile, *rest)


def zipped_product(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_product`, gathered as ((block of each mode), (repetition of each mode, modes left alone)).

    Args:
        layout: The layout to repeat.
        tiler: The layout of the repetitions, for all of it or for each mode.

    Returns:
        The layout and its repetitions.

    Raises:
        LayoutError: The layout has no complement, or the tiler does not fit it.

    Example:
        >>> print(zipped_product(Layout((2, 2)), (Layout(3), Layout(2))))
        ((2,2),(3,2)):((1,2),(2,1))
    """
    return _unzip(logical_product, layout, tiler)


def tiled_product(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_product`, gathered as ((block of each mode), repetition, repetition, ...).

    Args:
        layout: The layout to repeat.
        tiler: The layout of the repetitions, for all of it or for each mode.

    Returns:
        The layout and its repetitions.

    Raises:
        LayoutError: The layout has no complement, or the tiler does not fit it.

    Example:
        >>> print(tiled_product(Layout((2, 2)), (Layout(3), Layout(2))))
        ((2,2),3,2):((1,2),2,1)
    """
    return _spread(zipped_product(layout, tiler))


def flat_product(layout: Layout, tiler: Tiler) -> Layout:
    """`logical_product`, gathered as (block, block, ..., repetition, repetition, ...).

    Args:
        layout: The layout to repeat.
        tiler: The layout of the repetitions, for all of it or for each mode.

    Returns:
        The layout and its repetitions.

    Raises:
        LayoutError: The layout has no complement, or the tiler does not fit it.

    Example:
        >>> print(flat_product(Layout((2, 2)), (Layout(3), Layout(2))))
        (2,2,3,2):(1,2,2,1)
    """
    block, repeated = zipped_product(layout, tiler)
    return make_layout(*block, *repeated)


def blocked_product(block: Layout, tiler: Layout) -> Layout:
    """Repeat a block over a tiler of the same rank, block elements side by side: mode i is (block i, tiler i).

    Args:
        block: The layout to repeat.
        tiler: How often along each mode, and in which order.

    Returns:
        The layout of the whole, mode by mode.

    Raises:
        LayoutError: The block has no complement.

    Example:
        >>> print(blocked_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
        (6,(5,4)):(5,(1,30))
    """
    a_layout("block", block)
    a_layout("tiler", tiler)
    rank = max(block.rank, tiler.rank)
    inner, outer = logical_product(_padded(block, rank), _padded(tiler, rank))
    pairs = [make_layout(inner[i], outer[i]) for i in range(rank)]
    return coalesce(make_layout(*pairs), (1,) * rank)


def raked_product(block: Layout, tiler: Layout) -> Layout:
    """Repeat a block over a tiler of the same rank, block elements dealt out: mode i is (tiler i, block i).

    Args:
        block: The layout to repeat.
        tiler: How often along each mode, and in which order.

    Returns:
        The layout of the whole, mode by mode.

    Raises:
        LayoutError: The block has no complement.

    Example:
        >>> print(raked_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
        ((3,2),(4,5)):((10,5),(30,1))
    """
    a_layout("block", block)
    a_layout("tiler", tiler)
    rank = max(block.rank, tiler.rank)
    inner, outer = logical_product(_padded(block, rank), _padded(tiler, rank))
    pairs = [make_layout(outer[i], inner[i]) for i in range(rank)]
    return coalesce(make_layout(*pairs), (1,) * rank)


def _padded(layout: Layout, rank: int) -> Layout:
    """The layout with modes 1:0 appended up to a rank."""
    modes = list(layout) if isinstance(layout.shape, tuple) or rank > 1 else [layout]
    return make_layout(*modes, *[Layout(1, 0)] * (rank - len(modes)))


def _spread(zipped: Layout) -> Layout:
    first, second = zipped
    return make_layout(first, *second)


def _unzip(split: Callable[[Layout, Tiler], Layout], layout: Layout, tiler: Tiler) -> Layout:
    """Split mode by mode, then gather the first halves and the second halves."""
    if tiler is None:
        return make_layout(Layout(1, 0), layout)
    if not isinstance(tiler, tuple):
        return split(layout, tiler)
    if len(tiler) > layout.rank:
        raise LayoutError(f"{len(tiler)} tiles are too many for {layout}, which has {layout.rank} modes")
    parts = [_unzip(split, layout[i], tile) for i, tile in enumerate(tiler)]
    return make_layout(
        make_layout(*(part[0] for part in parts)),
        make_layout(*(part[1] for part in parts), *(layout[i] for i in range(len(tiler), layout.rank))),
    )
