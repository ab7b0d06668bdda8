"""Dataclasses whose methods are compiled when they are first called: a process calls few of those that it imports.

`dataclasses.dataclass` writes six functions of each class as text and compiles them when the class is declared; of an
import of ptxloom that is half. Here the fields are declared by the standard library, too, so that `fields`, `replace`
and `asdict` take what they take from there; the methods say and do the same, and what is frozen is made faster.

Example:
    >>> from dataclasses import replace
    >>> @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> replace(Point(1), y=2)
    Point(x=1, y=2)
"""

from __future__ import annotations

import dataclasses
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from reprlib import recursive_repr
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from dataclasses import dataclass  # noqa: TID251 - what checkers see

_ORDERS: Final = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
_FIELDS: Final = "__dataclass_fields__"


class Options(NamedTuple):
    """What a dataclass may be told to have, as in the standard library."""

    init: bool = True
    repr: bool = True
    eq: bool = True
    order: bool = False
    frozen: bool = False
    slots: bool = False
    weakref_slot: bool = False


class _Factory:
    """What a parameter has by default whose value is made for each instance."""

    def __repr__(self) -> str:
        """As the standard library shows it in signatures."""
        return "<factory>"


_FACTORY: Final = _Factory()


class _Later:
    """A method that is compiled, and takes this place in its class, when it is first looked up."""

    __slots__ = ("compiled", "name", "owner")

    def __init__(self, owner: type, name: str, compiled: Callable[[type], Any]) -> None:
        self.owner, self.name, self.compiled = owner, name, compiled

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """The method, of an instance or of the class."""
        method = self.compiled(self.owner)
        method.__module__, method.__qualname__ = self.owner.__module__, f"{self.owner.__qualname__}.{self.name}"
        setattr(self.owner, self.name, method)
        return method if instance is None else method.__get__(instance)


def _compiled(name: str, parameters: Iterable[str], lines: Sequence[str], known: dict[str, object]) -> Any:
    """A function from its text and the names that it knows."""
    body = "\n ".join(lines)
    made: dict[str, Any] = {}
    exec(f"def {name}({', '.join(parameters)}):\n {body}", known, made)  # noqa: S102 - of fields' names alone
    return made[name]


def _initialiser(owner: type) -> Any:
    """The `__init__` of a class."""
    frozen = owner.__dataclass_params__.frozen  # type: ignore[attr-defined]
    known: dict[str, object] = {"_factory": _FACTORY, "_set": object.__setattr__}
    parameters, named, lines = ["self"], list[str](), list[str]()
    types: dict[str, object] = {}
    for one in fields(owner):
        name, value = one.name, one.name
        parameter = name
        if one.default_factory is not MISSING:
            known[f"_make_{name}"] = one.default_factory
            value = f"_make_{name}() if {name} is _factory else {name}" if one.init else f"_make_{name}()"
            parameter = f"{name}=_factory"
        elif one.default is not MISSING:
            known[f"_default_{name}"] = one.default
            value = name if one.init else f"_default_{name}"
            parameter = f"{name}=_default_{name}"
        elif not one.init:
            continue
        if one.init:
            (named if one.kw_only else parameters).append(parameter)
            types[name] = one.type
        slot = getattr(owner, name, None)
        if frozen and isinstance(slot, MemberDescriptorType):
            known[f"_set_{name}"] = slot.__set__
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(owner, "__post_init__"):
        lines.append("self.__post_init__()")
    method = _compiled("__init__", [*parameters, *(["*", *named] if named else [])], lines or ["pass"], known)
    method.__annotations__ = {**types, "return": None}
    return method


def _values(of: str, names: Iterable[str]) -> str:
    """The text of a tuple of an object's fields."""
    return f"({''.join(f'{of}.{name}, ' for name in names)})"


def _comparison(operator: str, name: str, owner: type) -> Any:
    """How a class compares its instances: field by field, with those of the same class."""
    compared = [one.name for one in fields(owner) if one.compare]
    both = f"{_values('self', compared)} {operator} {_values('other', compared)}"
    return _compiled(
        name, ("self", "other"), [f"return {both} if other.__class__ is self.__class__ else NotImplemented"], {}
    )


def _hash(owner: type) -> Any:
    """The `__hash__` of a class."""
    names = [one.name for one in fields(owner) if (one.compare if one.hash is None else one.hash)]
    return _compiled("__hash__", ("self",), [f"return hash({_values('self', names)})"], {})


@recursive_repr()
def _repr(self: Any) -> str:
    """A class and its fields, as a call that makes the instance."""
    shown = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _state(self: Any) -> list[object]:
    """What is kept of an instance that is frozen and has slots."""
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: Any, state: Iterable[object]) -> None:
    """An instance's fields from what was kept."""
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


def _freeze(owner: type, names: frozenset[str]) -> None:
    """Let no attribute of instances change."""

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807 - what it becomes
        if type(self) is owner or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(owner, self).__setattr__(name, value)  # type: ignore[misc]

    def __delattr__(self: object, name: str) -> None:  # noqa: N807 - likewise
        if type(self) is owner or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(owner, self).__delattr__(name)  # type: ignore[misc]

    owner.__setattr__, owner.__delattr__ = __setattr__, __delattr__  # type: ignore[method-assign,assignment]


def _described(declared: type) -> tuple[dict[str, Field[Any]], Any]:
    """A class's fields, those of its bases first, and its options, as the standard library keeps both."""
    types = declared.__annotations__  # its own alone, which this may make
    space = {name: value for name, value in declared.__dict__.items() if name in types}
    space |= {"__annotations__": types, "__module__": declared.__module__, "__doc__": "fields"}
    of_library = dataclasses.dataclass(init=False, repr=False, eq=False)  # noqa: TID251 - which declares the fields
    alone: Any = of_library(type(declared.__name__, (), space))
    for name, value in space.items():
        if isinstance(value, Field):
            if hasattr(alone, name):
                setattr(declared, name, getattr(alone, name))
            else:
                delattr(declared, name)
    found: dict[str, Field[Any]] = {}
    for base in reversed(declared.__mro__[1:]):
        found |= base.__dict__.get(_FIELDS, {})
    return found | alone.__dataclass_fields__, alone.__dataclass_params__


def _with_slots(declared: type, names: Sequence[str], weakly: bool) -> type:
    """A class like another, whose fields have slots."""
    space = {name: value for name, value in declared.__dict__.items() if name not in names}
    inherited = {slot for base in declared.__mro__[1:-1] for slot in getattr(base, "__slots__", ())}
    slots = [*names, *(["__weakref__"] if weakly else [])]
    space["__slots__"] = tuple(name for name in slots if name not in inherited)
    space.pop("__dict__", None)
    space.pop("__weakref__", None)
    made = type(declared)(declared.__name__, declared.__bases__, space)
    made.__qualname__ = declared.__qualname__
    return made


def _methods(options: Options, owner: type, own: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """What a class is given, where its declaration does not have its own."""
    wanted: dict[str, object] = {}
    if options.init:
        wanted["__init__"] = _Later(owner, "__init__", _initialiser)
    if options.repr:
        wanted["__repr__"] = _repr
    if options.eq:
        wanted["__eq__"] = _Later(owner, "__eq__", partial(_comparison, "==", "__eq__"))
        if own.get("__hash__") is None and ("__hash__" not in own or "__eq__" in own):
            yield "__hash__", _Later(owner, "__hash__", _hash) if options.frozen else None
    if options.order:
        wanted |= {name: _Later(owner, name, partial(_comparison, sign, name)) for name, sign in _ORDERS.items()}
    if options.frozen and options.slots:
        wanted |= {"__getstate__": _state, "__setstate__": _restore}
    yield from ((name, method) for name, method in wanted.items() if name not in own)


def declare(options: Options, declared: type) -> type:
    """The class that is made of a declaration."""
    own = {**declared.__dict__}
    described, kept = _described(declared)
    kept.init, kept.repr, kept.eq, kept.order, kept.frozen, *_ = options
    setattr(declared, _FIELDS, described)
    declared.__dataclass_params__ = kept  # type: ignore[attr-defined]
    if "__match_args__" not in own:
        declared.__match_args__ = tuple(one.name for one in fields(declared) if one.init and not one.kw_only)
    names = [one.name for one in fields(declared)]
    made = _with_slots(declared, names, options.weakref_slot) if options.slots else declared
    for name, method in _methods(options, made, own):
        setattr(made, name, method)
    if options.frozen:
        _freeze(made, frozenset(names))
    return made


if not TYPE_CHECKING:  # checkers see the standard library's

    def dataclass(**options: bool) -> Callable[[type], type]:
        """`dataclasses.dataclass`, with the options that `Options` has: a decorator of a class."""
        return partial(declare, Options(**options))


__all__ = ["Options", "dataclass", "declare"]
