"""Composition: the layout R with R(i) = A(B(i)) for every i, or an error that explains why there is no such layout.

If there is a layout R compatible with B, each of its modes is what A does along one mode of B, so R is unique up to
coalescing. Two things can go wrong: A along a mode of B is not a layout (the strides and shapes do not divide), or two
modes of B carry into each other inside A. Divisibility proves almost every case; the rest is decided by values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, assert_never, overload

from ptxloom.diagnostics import must_be
from ptxloom.layout.core import Layout, a_layout, from_modes, from_valid, make_layout
from ptxloom.layout.errors import LayoutError
from ptxloom.layout.swizzle import ComposedLayout, Swizzle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.layout.inttuple import IntTuple, Mode

Tiler: TypeAlias = "Layout | int | tuple[Tiler, ...] | None"

_MOST_VALUES = 1 << 16  # what is decided by listing values


@overload
def composition(a: Layout, b: Tiler) -> Layout: ...
@overload
def composition(a: ComposedLayout | Swizzle, b: Tiler) -> ComposedLayout: ...
def composition(a: Layout | ComposedLayout | Swizzle, b: Tiler) -> Layout | ComposedLayout:
    """`a` after `b`: R(i) = a(b(i)), compatible with the shape of `b`.

    A tuple composes mode by mode (modes beyond it stay), None leaves a mode alone, an integer n stands for n:1.

    Args:
        a: What is applied last: a layout, or a swizzle.
        b: What is applied first; a tuple is applied mode by mode, an integer n stands for n:1.

    Returns:
        The layout R; a `ComposedLayout` where `a` is one, or a swizzle.

    Raises:
        LayoutError: No layout does this.

    Example:
        >>> print(composition(Layout((6, 2), (8, 2)), Layout((4, 3), (3, 1))))
        ((2,2),3):((24,2),8)
    """
    match a:
        case Layout():
            return _compose_tiler(a, b)
        case ComposedLayout():
            return ComposedLayout(a.outer, a.offset, composition(a.inner, b))
        case Swizzle():
            return ComposedLayout(a, 0, _as_layout(b))
        case _:
            must_be(Layout, "a", a, "a Layout, such as Layout((8, 4), (1, 8)), or a swizzle")
            assert_never(a)


def _as_layout(b: Tiler) -> Layout:
    match b:
        case Layout():
            return b
        case int():
            return Layout(b)
        case tuple():
            return make_layout(*map(_as_layout, b))
        case None:
            raise LayoutError("a swizzle has no modes, so None cannot pick one of them")


def _compose_tiler(a: Layout, b: Tiler) -> Layout:
    if isinstance(b, Layout):
        return compose(a, b)
    if b is None:
        return a
    if isinstance(b, int):
        return compose(a, Layout(b))
    return by_mode(_compose_tiler, a, b)


def by_mode(operation: Callable[[Layout, Tiler], Layout], a: Layout, tiler: tuple[Tiler, ...]) -> Layout:
    """Apply `operation(mode, tile)` to the leading modes of `a`, one for each tile; the rest stays."""
    must_be(tuple, "tiler", tiler, "a Layout, an integer, None, or a tuple of such")
    if len(tiler) > a.rank:
        raise LayoutError(f"{len(tiler)} tiles are too many for {a}, which has {a.rank} modes")
    done = [operation(a[i], tile) for i, tile in enumerate(tiler)]
    return make_layout(*done, *(a[i] for i in range(len(tiler), a.rank)))


def compose(a: Layout, b: Layout) -> Layout:
    """The composition of two layouts (`composition` also takes tilers and swizzles)."""
    a_layout("a", a)
    digits = _digits(a, b)
    used = [0] * len(digits)
    parts: list[list[Mode]] = []
    divides = True
    for extent, step in b.modes:
        part = _along(digits, extent, step, used)
        if part is None:
            part, divides = _along_by_values(a, b, extent, step), False
        parts.append(part)
    result = _assemble(b, iter(parts))
    if len(parts) > 1 and not (divides and _carry_free(digits, used, b)):
        _check_values(result, a, b)
    return result


def _digits(a: Layout, b: Layout) -> Sequence[Mode]:
    """The mixed-radix digits in which `a` reads an index: its coalesced modes, the last without an end.

    A last mode of size 1 only shows beyond the end of `a`, so it is kept only where `b` goes there.
    """
    digits = coalesced(a.modes)
    if a.modes and a.modes[-1][0] == 1 and b.cosize > a.size:
        digits = [mode for mode in digits if mode[0] > 1]
        last = a.modes[-1]
        if not digits or digits[-1][0] * digits[-1][1] != last[1]:
            digits.append(last)
    return digits


def _along(digits: Sequence[Mode], extent: int, step: int, used: list[int]) -> list[Mode] | None:
    """The modes of x -> A(step*x) for x < extent, or None where division does not show them.

    Adds to `used` the largest value that each digit of A takes along the way.
    """
    if extent == 1 or step == 0:
        return [(extent, 0)]
    sign, step = (1, step) if step > 0 else (-1, -step)
    modes: list[Mode] = []
    last = len(digits) - 1
    for k, (radix, stride) in enumerate(digits):
        if k == last or (extent - 1) * step < radix:
            used[k] += (extent - 1) * step
            modes.append((extent, sign * step * stride))
            break
        if step >= radix:
            if step % radix:
                return None
            step //= radix
            continue
        count = radix // step
        if radix % step or extent % count:
            return None
        used[k] += radix - step
        modes.append((count, sign * step * stride))
        extent //= count
        step = 1
        if extent == 1:
            break
    return modes


def _carry_free(digits: Sequence[Mode], used: Sequence[int], b: Layout) -> bool:
    """Whether the modes of B, added up, never overflow a digit of A (so that A is additive over them)."""
    if len(digits) == 1:
        return True
    signs = {step > 0 for extent, step in b.modes if extent > 1 and step}
    return len(signs) < 2 and all(most < digit[0] for most, digit in zip(used[:-1], digits, strict=False))


def _assemble(b: Layout, parts: Iterator[list[Mode]]) -> Layout:
    """The layout with the brackets of `b`, its leaves replaced by `parts` in turn."""
    if isinstance(b.shape, int):
        return from_modes(next(parts))
    shape, stride = _filled(b.shape, parts)
    return from_valid(shape, stride)


def _filled(profile: IntTuple, parts: Iterator[list[Mode]]) -> tuple[IntTuple, IntTuple]:
    if isinstance(profile, int):
        part = next(parts)
        if len(part) == 1:
            return part[0]
        return tuple([mode[0] for mode in part]), tuple([mode[1] for mode in part])
    pairs = [_filled(inner, parts) for inner in profile]
    return tuple([pair[0] for pair in pairs]), tuple([pair[1] for pair in pairs])


def _along_by_values(a: Layout, b: Layout, extent: int, step: int) -> list[Mode]:
    """The modes of x -> A(step*x) for x < extent, found by listing values where division does not show them."""
    if b.size > _MOST_VALUES:
        raise LayoutError(
            f"cannot compose {a} with {b}: the shapes and strides do not divide, "
            f"and {b.size} values are too many to try"
        )
    first = a(step)
    run = next((x for x in range(2, extent) if a(step * x) != first * x), extent)
    modes = None if extent % run else modes_of([a(step * x) for x in range(extent)])
    if modes is None:
        values = ", ".join(str(a(step * x)) for x in range(min(extent, 8)))
        raise LayoutError(
            f"{a} after {b} is not a layout: along the mode {extent}:{step} the values {values}"
            f"{', ...' if extent > 8 else ''} have no constant strides"
        )
    return modes


def _check_values(result: Layout, a: Layout, b: Layout) -> None:
    """Check the law where carries between the modes of B could break it."""
    if b.size > _MOST_VALUES:
        raise LayoutError(
            f"cannot compose {a} with {b}: its modes carry into each other, and {b.size} values are too many to try"
        )
    for index, (value, offset) in enumerate(zip(result.offsets(), b.offsets(), strict=True)):
        if value != a(offset):
            raise LayoutError(
                f"{a} after {b} is not a layout: its modes would have to be {result}, which sends {index} to {value}, "
                f"but {a} sends {offset} to {a(offset)} (modes of the second layout carry into each other)"
            )


def modes_of(values: Sequence[int]) -> list[Mode] | None:
    """The coalesced modes of the function i -> values[i] (with values[0] = 0), or None where no layout is it."""
    modes: list[Mode] = []
    rest = values
    while len(rest) > 1:
        step = rest[1]
        run = next((i for i, value in enumerate(rest) if value != i * step), len(rest))
        if len(rest) % run:
            return None
        modes.append((run, step))
        rest = rest[::run]
    return modes if from_modes(modes).offsets() == list(values) else None


def coalesced(modes: Sequence[Mode]) -> list[Mode]:
    """The fewest modes with the same function on 1-D indices; at least one."""
    result: list[Mode] = []
    extent, stride = 1, 0
    for mode in modes:
        if mode[0] == 1:
            continue
        if extent == 1:
            extent, stride = mode
        elif extent * stride == mode[1]:
            extent *= mode[0]
        else:
            result.append((extent, stride))
            extent, stride = mode
    result.append((extent, stride))
    return result
