"""Layout: a function from coordinates to integers, given by a shape and a stride (CuTe layout algebra)."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, cast

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.display import mimebundle
from ptxloom.layout.errors import LayoutError
from ptxloom.layout.inttuple import (
    IntTuple,
    Mode,
    checked_modes,
    compact_strides,
    coordinate_of,
    depth,
    product,
    row_major_strides,
    text_of,
)
from ptxloom.layout.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Coordinate: TypeAlias = IntTuple
Slice: TypeAlias = "int | tuple[Slice, ...] | None"

_set = object.__setattr__


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Layout:
    """A shape and a congruent stride: the coordinate (c0, c1, ...) goes to c0*stride0 + c1*stride1 + ...

    A coordinate is natural (nested like the shape), or has an integer where the shape has a tuple (which then counts
    colexicographically, leftmost fastest), down to a single integer for the whole layout. Coordinates are not
    checked against the shape: as in CuTe, an index past the end continues the last mode, and a negative 1-D index
    mirrors, L(-i) = -L(i). Strides may be zero (broadcast) or negative.

    Attributes:
        shape: Integers, nested in tuples.
        stride: Likewise: how far the value moves by one step along each.
        modes: The leaves as (shape, stride), leftmost first.

    Example:
        >>> layout = Layout((8, (2, 2)), (4, (1, 32)))
        >>> layout(3, 1), layout(3, (1, 0)), layout(11), layout.size, layout.cosize
        (13, 13, 13, 32, 62)
    """

    shape: IntTuple
    stride: IntTuple
    modes: tuple[Mode, ...] = field(compare=False)  # the leaves as (shape, stride), leftmost first

    _repr_mimebundle_ = mimebundle

    def __init__(self, shape: object, stride: object = None) -> None:
        modes: list[Mode] = []
        if stride is None:
            stride = compact_strides(checked_modes(shape, shape, [])[0])
        shape, stride = checked_modes(shape, stride, modes)
        _set(self, "shape", shape)
        _set(self, "stride", stride)
        _set(self, "modes", tuple(modes))

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Parse a layout such as `(8,4):(1,8)` or `(_8,_4):(_1,_8)`; `str` writes it again.

        Args:
            text: A shape, and a stride behind a colon.

        Returns:
            The layout.

        Raises:
            LayoutError: It is not a layout; the message shows where.
            UsageError: It is not text.
        """
        must_be(str, "text", text, "a text such as (8,4):(1,8)")
        return cls(*Reader(text).modes())

    @classmethod
    def row_major(cls, shape: object) -> Layout:
        """The dense layout of a shape with the rightmost mode fastest (CuTe: LayoutRight).

        Args:
            shape: Integers, nested in tuples.

        Returns:
            A layout of that shape without gaps.
        """
        return cls(shape, row_major_strides(checked_modes(shape, shape, [])[0]))

    @property
    def size(self) -> int:
        """How many coordinates the layout has."""
        result = 1
        for extent, _ in self.modes:
            result *= extent
        return result

    @property
    def cosize(self) -> int:
        """How many consecutive integers the image spans; with no negative stride, one more than the largest value."""
        return 1 + sum((extent - 1) * abs(step) for extent, step in self.modes)

    @property
    def rank(self) -> int:
        """How many top-level modes; 1 if the shape is an integer."""
        return 1 if isinstance(self.shape, int) else len(self.shape)

    @property
    def depth(self) -> int:
        """How deeply the shape nests: 0 for an integer."""
        return depth(self.shape)

    def __call__(self, *coordinate: Coordinate) -> int:
        """The value at a coordinate, given as one (nested) coordinate or one for each top-level mode."""
        where = coordinate[0] if len(coordinate) == 1 else coordinate
        if isinstance(where, int):
            return self._at_index(where)
        _must_be_coordinate(where)
        return _at_coordinate(where, self.shape, self.stride)

    def _at_index(self, index: int) -> int:
        if index < 0:
            return -self._at_index(-index)
        result = 0
        if not self.modes:
            return result
        for extent, step in self.modes[:-1]:
            result += index % extent * step
            index //= extent
        return result + index * self.modes[-1][1]

    def at(self, *coordinate: Any) -> Any:
        """The values at arrays of coordinates, which broadcast against each other; indices are not negative.

        Args:
            coordinate: One array of 1-D indices, or one for each mode.

        Returns:
            An array of values.

        Example:
            >>> import numpy as np
            >>> Layout((2, 3), (3, 1)).at(np.arange(2)[:, None], np.arange(3))
            array([[0, 1, 2],
                   [3, 4, 5]])
        """
        where: Any = coordinate[0] if len(coordinate) == 1 else coordinate
        return _at_coordinate(where, self.shape, self.stride)

    def offsets(self) -> list[int]:
        """Every value, in order of the 1-D index."""
        values = [0]
        for extent, step in self.modes:
            if extent > 1:
                values = (
                    [value + shift for shift in range(0, extent * step, step) for value in values]
                    if step
                    else (values * extent)
                )
        return values

    def coordinate(self, index: int) -> Coordinate:
        """The natural coordinate of a 1-D index.

        Args:
            index: From 0; the leftmost mode is the fastest.

        Returns:
            One integer for each mode, nested as the shape is.
        """
        return coordinate_of(index, self.shape)

    def slice(self, *coordinate: Slice) -> Layout:
        """The layout of the modes that the coordinate leaves open with None; `Tensor` also keeps the offset.

        Args:
            coordinate: An integer for each mode that is fixed, None for one that is left.

        Returns:
            A layout of what is left.

        Example:
            >>> print(Layout((8, 4), (1, 8)).slice(None, 2))
            8:1
        """
        where = coordinate[0] if len(coordinate) == 1 else coordinate
        shape, stride = _open_modes(where, self.shape), _open_modes(where, self.stride)
        return Layout(shape[0], stride[0]) if len(shape) == 1 else Layout(shape, stride)

    def __getitem__(self, mode: int) -> Layout:
        """One top-level mode as a layout."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            if mode not in {0, -1}:
                raise IndexError(f"layout {self} has no mode {mode}; its rank is 1")
            return self
        if not -len(self.shape) <= mode < len(self.shape):
            raise IndexError(f"layout {self} has no mode {mode}; its rank is {self.rank}")
        return from_valid(self.shape[mode], self.stride[mode])

    def __len__(self) -> int:
        return self.rank

    def __iter__(self) -> Iterator[Layout]:
        return (self[mode] for mode in range(self.rank))

    def __str__(self) -> str:
        return f"{text_of(self.shape)}:{text_of(self.stride)}"

    def __repr__(self) -> str:
        return f"Layout({self.shape}, {self.stride})"


def from_valid(shape: IntTuple, stride: IntTuple) -> Layout:
    """A layout from a shape and stride that are known to be valid and congruent (no checks: for the algebra)."""
    modes: list[Mode] = []
    _leaves(shape, stride, modes)
    return _made(shape, stride, tuple(modes))


def _leaves(shape: IntTuple, stride: IntTuple, modes: list[Mode]) -> None:
    if isinstance(shape, int) or isinstance(stride, int):
        modes.append((shape, stride))  # pyright: ignore[reportArgumentType] - congruent, so both are integers
        return
    for inner in zip(shape, stride, strict=True):
        _leaves(*inner, modes)


def _made(shape: IntTuple, stride: IntTuple, modes: tuple[Mode, ...]) -> Layout:
    layout = object.__new__(Layout)
    _set(layout, "shape", shape)
    _set(layout, "stride", stride)
    _set(layout, "modes", modes)
    return layout


def from_modes(modes: Sequence[Mode]) -> Layout:
    """A flat layout of (shape, stride) modes; a single mode stands without brackets, no modes are 1:0."""
    if len(modes) == 1:
        return _made(modes[0][0], modes[0][1], (modes[0],))
    if not modes:
        return _made(1, 0, ((1, 0),))
    return _made(tuple([mode[0] for mode in modes]), tuple([mode[1] for mode in modes]), tuple(modes))


def a_layout(argument: str, value: object) -> None:
    """Refuse what is not a layout.

    Raises:
        UsageError: It is not one.
    """
    must_be(Layout, argument, value, "a Layout, such as Layout((8, 4), (1, 8))")


def make_layout(*layouts: Layout) -> Layout:
    """The layout whose top-level modes are the given layouts.

    Args:
        layouts: The modes.

    Returns:
        A layout of rank `len(layouts)`.

    Example:
        >>> print(make_layout(Layout(8, 1), Layout((2, 2), (8, 0))))
        (8,(2,2)):(1,(8,0))
    """
    for layout in layouts:
        a_layout("layouts", layout)
    modes = tuple([mode for layout in layouts for mode in layout.modes])
    return _made(tuple([layout.shape for layout in layouts]), tuple([layout.stride for layout in layouts]), modes)


def _must_be_coordinate(value: object) -> None:
    """Refuse what is neither a whole number, of Python's or of NumPy's, nor a tuple of such.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(value, tuple):
        for one in cast("tuple[object, ...]", value):
            _must_be_coordinate(one)
    else:
        must_be(SupportsIndex, "coordinate", value, "a whole number, or a tuple of such, nested as the shape is")


def _at_coordinate(where: Any, shape: IntTuple, stride: IntTuple) -> Any:
    """Dot product of a coordinate and the strides; array leaves work as integers do."""
    if isinstance(where, tuple):
        inner: tuple[Any, ...] = where  # pyright: ignore[reportUnknownVariableType] - checked leaf by leaf below
        if isinstance(shape, int) or isinstance(stride, int) or len(inner) != len(shape):
            raise LayoutError(f"coordinate {inner} does not fit shape {text_of(shape)}")
        return sum(_at_coordinate(*part) for part in zip(inner, shape, stride, strict=True))
    if isinstance(shape, int) or isinstance(stride, int):
        return where * stride
    if isinstance(where, int) and where < 0:
        return -_at_coordinate(-where, shape, stride)
    total: Any = 0
    for part, step in zip(shape[:-1], stride[:-1], strict=True):
        extent = product(part)
        total = total + _at_coordinate(where % extent, part, step)
        where = where // extent
    return total + _at_coordinate(where, shape[-1], stride[-1]) if shape else total


def _open_modes(where: Slice, value: IntTuple) -> tuple[IntTuple, ...]:
    if where is None:
        return (value,)
    if isinstance(where, int):
        return ()
    if isinstance(value, int) or len(where) != len(value):
        raise LayoutError(f"coordinate {where} does not fit {text_of(value)}")
    return tuple(inner for part in zip(where, value, strict=True) for inner in _open_modes(*part))
