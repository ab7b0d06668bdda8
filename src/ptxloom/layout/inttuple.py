"""Nested tuples of integers: the shapes, strides and coordinates of layouts (CuTe: IntTuple)."""

from __future__ import annotations

from typing import TypeAlias

from ptxloom.diagnostics import UsageError
from ptxloom.layout.errors import LayoutError

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"
Mode: TypeAlias = tuple[int, int]  # (shape, stride) of a mode that is not nested


def must_nest(argument: str, value: object) -> None:
    """Refuse what is neither an integer nor a tuple of such, for callers without a type checker.

    Raises:
        UsageError: It is neither.
    """
    if not isinstance(value, (tuple, list)):
        raise UsageError(argument, value, "a whole number, or a tuple of such, nested as you like")


def product(shape: IntTuple) -> int:
    """How many coordinates a shape has: the product of its leaves."""
    if isinstance(shape, int):
        return shape
    must_nest("shape", shape)
    result = 1
    for inner in shape:
        result *= inner if isinstance(inner, int) else product(inner)
    return result


def flatten(value: IntTuple) -> tuple[int, ...]:
    """The leaves, leftmost first."""
    if isinstance(value, int):
        return (value,)
    must_nest("value", value)
    leaves: list[int] = []
    for inner in value:
        if isinstance(inner, int):
            leaves.append(inner)
        else:
            leaves.extend(flatten(inner))
    return tuple(leaves)


def depth(value: IntTuple) -> int:
    """How deeply tuples nest: 0 for an integer, 1 for a flat tuple."""
    if isinstance(value, int):
        return 0
    return 1 + max((depth(inner) for inner in value), default=0)


def congruent(left: IntTuple, right: IntTuple) -> bool:
    """Whether two nested tuples have the same profile (the same brackets)."""
    if isinstance(left, int) or isinstance(right, int):
        return isinstance(left, int) and isinstance(right, int)
    must_nest("left", left)
    must_nest("right", right)
    return len(left) == len(right) and all(map(congruent, left, right))


def compatible(coarse: IntTuple, fine: IntTuple) -> bool:
    """Whether every coordinate of `coarse` is also one of `fine`: `fine` only splits modes of `coarse`.

    Example:
        >>> compatible((8, 6), ((2, 4), 6)), compatible((8, 6), (6, 8))
        (True, False)
    """
    if isinstance(coarse, int):
        return coarse == product(fine)
    must_nest("coarse", coarse)
    if not isinstance(fine, int):
        must_nest("fine", fine)
    return not isinstance(fine, int) and len(coarse) == len(fine) and all(map(compatible, coarse, fine))


def compact_strides(shape: IntTuple) -> IntTuple:
    """The strides of a dense layout whose leftmost mode is fastest (CuTe: LayoutLeft, column-major)."""
    return _compact(shape, 1)[0]


def _compact(shape: IntTuple, start: int) -> tuple[IntTuple, int]:
    if isinstance(shape, int):
        return start, start * shape
    strides: list[IntTuple] = []
    for inner in shape:
        stride, start = _compact(inner, start)
        strides.append(stride)
    return tuple(strides), start


def row_major_strides(shape: IntTuple) -> IntTuple:
    """The strides of a dense layout whose rightmost mode is fastest (CuTe: LayoutRight, row-major)."""
    return _mirror(compact_strides(_mirror(shape)))


def _mirror(value: IntTuple) -> IntTuple:
    return value if isinstance(value, int) else tuple(_mirror(inner) for inner in reversed(value))


def text_of(value: IntTuple) -> str:
    """`(8,(2,2))`: how CuTe writes a nested tuple."""
    if isinstance(value, int):
        return str(value)
    return f"({','.join(map(text_of, value))}{',' * (len(value) == 1)})"


def coordinate_of(index: int, shape: IntTuple) -> IntTuple:
    """The natural coordinate (congruent to `shape`) of a 1-D index; the last mode takes what is left over."""
    if isinstance(shape, int):
        return index
    parts: list[IntTuple] = []
    for inner in shape[:-1]:
        index, here = divmod(index, product(inner))
        parts.append(coordinate_of(here, inner))
    parts.extend(coordinate_of(index, inner) for inner in shape[-1:])
    return tuple(parts)


def checked_modes(shape: object, stride: object, modes: list[Mode]) -> tuple[IntTuple, IntTuple]:
    """A shape and a congruent stride as nested tuples, their leaves appended to `modes`.

    Raises:
        LayoutError: A shape is not positive, something is not an integer, or the two are not congruent.
    """
    nested = isinstance(shape, (tuple, list)), isinstance(stride, (tuple, list))
    if all(nested):
        return _checked_tuples(tuple(shape), tuple(stride), modes)  # pyright: ignore[reportArgumentType, reportUnknownArgumentType] - checked by nested
    if any(nested):
        raise LayoutError(f"shape {shape} and stride {stride} are not congruent: only one of the two is a tuple")
    extent, step = whole(shape, "a shape"), whole(stride, "a stride")
    if extent < 1:
        raise LayoutError(f"{extent} cannot be a shape; every mode has at least one element")
    modes.append((extent, step))
    return extent, step


def _checked_tuples(
    shape: tuple[object, ...], stride: tuple[object, ...], modes: list[Mode]
) -> tuple[IntTuple, IntTuple]:
    if len(shape) != len(stride):
        raise LayoutError(
            f"shape {shape} and stride {stride} are not congruent: {len(shape)} modes against {len(stride)}"
        )
    pairs = [checked_modes(*pair, modes) for pair in zip(shape, stride, strict=True)]
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def whole(value: object, what: str) -> int:
    """An integer (also NumPy's), as `int`."""
    if isinstance(value, int):
        return int(value)
    index = getattr(value, "__index__", None)
    if index is None:
        raise LayoutError(f"{value!r} cannot be {what}; layouts are made of integers")
    return int(index())
