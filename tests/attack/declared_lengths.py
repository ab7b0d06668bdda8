"""The lengths that the run-time's structs and functions declare as numbers."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.machine import runtime
from ptxloom.machine.native import language

if TYPE_CHECKING:
    from collections.abc import Iterator


class Place(NamedTuple):
    """Something in a struct: which one, if that is known, and at which offset."""

    struct: str
    offset: int


class Table(NamedTuple):
    """An array that lies in a struct, or what a field of it points to.

    Attributes:
        place: Where it lies, or the pointer to it.
        stride: Bytes from one element to the next.
        length: How many there are.
        inside: Whether it is an array in the struct.
    """

    place: Place
    stride: int
    length: int
    inside: bool

    def holds(self, first: int, count: int) -> bool:
        """Whether `count` elements lie in the array from one of its bytes on."""
        return self.inside and first + self.stride * count <= self.bytes

    @property
    def bytes(self) -> int:
        """What all elements take."""
        return self.stride * self.length


@dataclass(frozen=True)
class Declared:
    """What is declared.

    Attributes:
        tables: By structs.
        given: Numbers of elements of tables that are parameters.
    """

    tables: tuple[Table, ...]
    given: frozenset[int]

    def at(self, place: Place) -> Iterator[Table]:
        """What lies at a place, whichever struct it is in if that is not known."""
        for table in self.tables:
            if table.place.offset == place.offset and place.struct in {"", table.place.struct}:
                yield table


def is_native(function: FunctionType) -> bool:
    """Whether a function of the run-time is one of the native language, by its annotations."""
    try:
        return all(kind.struct is None or language.record(kind.struct).size for kind in kinds(function).values())
    except TypeError:
        return False


def kinds(function: FunctionType) -> dict[str, language.NativeType]:
    """What a native function takes, by its parameters' names; and what it returns."""
    names = function.__globals__
    texts = inspect.get_annotations(function)
    return {name: language.kind_of(ast.parse(str(text), mode="eval").body, names) for name, text in texts.items()}


def native_functions() -> Iterator[FunctionType]:
    """All of the run-time's."""
    for info in pkgutil.walk_packages(runtime.__path__, f"{runtime.__name__}."):
        for value in vars(importlib.import_module(info.name)).values():
            if isinstance(value, FunctionType) and value.__module__ == info.name and is_native(value):
                yield value


def structs_of(function: FunctionType) -> dict[str, str]:
    """The structs that a function is given, by its parameters' names."""
    return {name: kind.struct.__name__ for name, kind in kinds(function).items() if kind.struct is not None}


@cache
def declared() -> Declared:
    """Of the whole run-time."""
    given: set[int] = set()
    tables: list[Table] = []
    waiting: list[type] = []
    for function in native_functions():
        for kind in kinds(function).values():
            waiting += [one for one in (kind.struct, kind.element and kind.element.struct) if one is not None]
            count = _number(kind.bound, function.__globals__)
            given |= set() if count is None else {count}
    seen: set[type] = set()
    while waiting:
        struct = waiting.pop()
        if struct in seen:
            continue
        seen.add(struct)
        layout = language.record(struct)
        for name, kind in layout.kinds.items():
            waiting += [one for one in (kind.struct, kind.element and kind.element.struct) if one is not None]
            count = kind.count or _number(kind.bound, vars(sys.modules[struct.__module__]))
            if count and kind.element is not None:
                place = Place(struct.__name__, layout.offsets[name])
                tables.append(Table(place, kind.element.stride, count, bool(kind.count)))
    return Declared(tuple(tables), frozenset(given))


def _number(bound: str, names: dict[str, object]) -> int | None:
    """What a bound is worth if no field has a part in it."""
    known = {name: value for name, value in names.items() if isinstance(value, int)}
    try:
        return int(eval(bound, {"__builtins__": {}}, known)) if bound else None  # noqa: S307 - an annotation of ours
    except NameError:
        return None
