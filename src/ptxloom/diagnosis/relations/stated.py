"""How arrays correspond to a result that is an expression over them: `Y = relu(X + b)`, `Y = sum(X, axis=1)`."""

from __future__ import annotations

import ast
from itertools import count, zip_longest
from typing import TYPE_CHECKING, Final

from ptxloom.comparison.functions import ALONG, ELEMENTWISE, OF_TWO
from ptxloom.diagnosis.relations.links import Link, Links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ptxloom.comparison.expression import Expectation
    from ptxloom.diagnosis.relations.links import Shape

_KEEPS: Final = frozenset({"softmax"})  # the axis along which it works
_ELEMENTWISE: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div)
Axes = tuple[int, ...]


class _NotReadError(Exception):
    """A part of an expression that is not followed."""


def stated(expected: Expectation, shapes: Mapping[str, Shape]) -> dict[str, Links]:
    """How each array in an expression corresponds to the result.

    Args:
        expected: The expression.
        shapes: The shapes of arrays by their names, the result among them.

    Returns:
        The links of arrays that it names once; empty if a part of it is not supported.
    """
    walk = _Walk(shapes)
    try:
        found = walk.of(expected.body)
        own = shapes.get(expected.name, ())
        walk.alike(found, tuple(walk.fresh(extent) for extent in own))
    except _NotReadError:
        return {}
    axes = [walk.root(axis) for axis in found]
    ahead = len(own) - len(axes)
    if ahead < 0:
        return {}
    links: dict[str, Links] = {}
    for name, held in walk.named.items():
        along = [walk.root(axis) for axis in walk.along]
        roots = [walk.root(axis) for axis in held]
        by = [Link(axes.index(axis) + ahead) if axis in axes and axis not in along else Link() for axis in roots]
        links[name] = Links(shapes[name], own, tuple(by), stated=True, again=bool(set(along) & set(roots)))
    return {name: one for name, one in links.items() if name not in walk.again}


class _Walk:
    """Gives each axis of each array a number, and joins those that go with each other."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes
        self._numbers = count()
        self._same: dict[int, int] = {}
        self._extents: dict[int, int] = {}
        self.named: dict[str, Axes] = {}
        self.again: set[str] = set()
        self.along: set[int] = set()

    def fresh(self, extent: int) -> int:
        """A new axis."""
        number = next(self._numbers)
        self._extents[number] = extent
        return number

    def root(self, axis: int) -> int:
        """The axis that stands for all that go with one."""
        while axis in self._same:
            axis = self._same[axis]
        return axis

    def alike(self, first: Axes, second: Axes) -> Axes:
        """Axes as NumPy broadcasts them: the last with the last."""
        found: list[int] = []
        for left, right in zip_longest(reversed(first), reversed(second)):
            if left is None or right is None:
                found += [one for one in (left, right) if one is not None]
                continue
            one, other = self.root(left), self.root(right)
            narrow, wide = self._extents[one], self._extents[other]
            if one != other and narrow == wide:
                self._same[one] = other
            elif narrow != wide and 1 not in {narrow, wide}:
                raise _NotReadError
            found.append(other if narrow <= wide else one)
        return tuple(reversed(found))

    def of(self, node: ast.expr) -> Axes:
        """The axes of a part."""
        match node:
            case ast.Name(name) if name in self._shapes:
                if name in self.named:
                    self.again.add(name)
                self.named[name] = tuple(self.fresh(extent) for extent in self._shapes[name])
                return self.named[name]
            case ast.Name() | ast.Constant():
                return ()
            case ast.BinOp(left, ast.MatMult(), right):
                return self._product(self.of(left), self.of(right))
            case ast.BinOp(left, sign, right) if isinstance(sign, _ELEMENTWISE):
                return self.alike(self.of(left), self.of(right))
            case ast.UnaryOp(_, part) | ast.Attribute(part, "T"):
                return self.of(part)[:: -1 if isinstance(node, ast.Attribute) else 1]
            case ast.Call(ast.Name(name), parts, options):
                return self._call(name, parts, options)
            case _:
                raise _NotReadError

    def _product(self, left: Axes, right: Axes) -> Axes:
        if not left or not right:
            raise _NotReadError
        self.alike(left[-1:], right[-2:-1] or right)
        return (*left[:-1], *right[-1:]) if len(right) > 1 else left[:-1]

    def _call(self, name: str, parts: list[ast.expr], options: Iterable[ast.keyword]) -> Axes:
        axes = [self.of(part) for part in parts[:2]]
        if name in ELEMENTWISE:
            return axes[0]
        if name in OF_TWO:
            return self.alike(*axes)
        if name not in ALONG:
            raise _NotReadError
        said = [one.value for one in options if one.arg == "axis"]
        said += parts[1:2]
        axis = _number(said[0]) if said else None
        if axis is None:
            if name in _KEEPS:
                raise _NotReadError
            return ()
        own = axes[0][axis]
        if name in _KEEPS:
            self.along.add(own)
            return axes[0]
        left = list(axes[0])
        left.remove(own)
        return tuple(left)


def _number(node: ast.expr) -> int:
    match node:
        case ast.Constant(int() as number):
            return number
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as number)):
            return -number
        case _:
            raise _NotReadError
