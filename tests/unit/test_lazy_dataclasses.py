"""Dataclasses of `ptxloom.dataclass` are those of the standard library, with methods that are compiled when called."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Final

import pytest

import ptxloom
from ptxloom.dataclass import Options, declare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

OPTIONS: Final[tuple[dict[str, bool], ...]] = (
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "order": True},
    {"slots": True, "eq": False, "repr": False},
    {"frozen": True, "slots": True, "init": False, "repr": False},
    {"frozen": True, "slots": True, "weakref_slot": True},
)


def both(declaration: type, options: dict[str, bool]) -> tuple[Any, Any]:
    """One declaration as the standard library makes it, and as we do."""
    space = {name: value for name, value in vars(declaration).items() if name not in {"__dict__", "__weakref__"}}
    copies = [type(declaration.__name__, declaration.__bases__, {**space}) for _ in range(2)]
    return dataclasses.dataclass(**options)(copies[0]), declare(Options(**options), copies[1])


class Plain:
    """Every kind of a field."""

    kinds: ClassVar[int] = 3
    a: int
    b: str = "b"
    c: list[int] = dataclasses.field(default_factory=lambda: [1])
    d: int = dataclasses.field(default=4, init=False)
    e: dict[str, int] = dataclasses.field(default_factory=dict[str, int], init=False)
    f: int = dataclasses.field(default=6, compare=False)
    g: int = dataclasses.field(default=7, repr=False)
    h: int = dataclasses.field(default=8, kw_only=True)


class Own:  # noqa: PLW1641 - what a hash it gets is in question
    """What writes its own methods, and changes what it is given."""

    a: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", self.a + 1)

    def __eq__(self, other: object) -> bool:
        return other is self

    def __repr__(self) -> str:
        return "own"


class Hashed:
    """What has a hash of its own."""

    a: int

    def __hash__(self) -> int:
        return 5


class Few:
    """Nothing but what can be hashed."""

    a: int
    b: tuple[int, ...] = ()


def asked(made: Any) -> Iterator[Callable[[], object]]:
    """Questions about a class and its instances."""
    yield lambda: repr(made(1))
    yield lambda: made.__match_args__
    yield lambda: [(one.name, one.type, one.default, one.init) for one in dataclasses.fields(made)]
    yield lambda: made(1) == made(1)
    yield lambda: made(1) == made(2)
    yield lambda: made(1) == 1
    yield lambda: made(1) < made(2)
    yield lambda: made(1) >= made(2)
    yield lambda: hash(made(1)) if made.__hash__ is not object.__hash__ else None
    yield lambda: dataclasses.astuple(made(1))
    yield lambda: repr(dataclasses.replace(made(1), a=5))
    yield lambda: dataclasses.astuple(copy.copy(made(1)))
    yield lambda: dataclasses.astuple(copy.deepcopy(made(1)))
    yield lambda: setattr(made(1), "a", 2)
    yield lambda: delattr(made(1), "a")
    yield lambda: hasattr(made(1), "__dict__")
    yield made
    yield lambda: made.kinds
    yield lambda: made(1).c is made(1).c
    yield lambda: made.__init__.__qualname__
    yield lambda: [one for one in ("__getstate__", "__setstate__", "__weakref__") if one in vars(made)]
    yield lambda: [getattr(made.__dataclass_params__, one) for one in ("init", "repr", "eq", "order", "frozen")]


def outcome(action: Callable[[], object]) -> object:
    """A value, or what was raised."""
    try:
        return action()
    except Exception as error:  # noqa: BLE001 - whichever of the two ways raises it
        return type(error), str(error)


@pytest.mark.parametrize("declaration", [Plain, Own, Hashed, Few])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_they_do_what_those_of_the_standard_library_do(declaration: type, options: dict[str, bool]) -> None:
    theirs, ours = both(declaration, options)
    if options.get("init", True):
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    for number, pair in enumerate(zip(asked(theirs), asked(ours), strict=True)):
        expected, got = (repr(outcome(one)).split(" object at")[0] for one in pair)
        assert got == expected, number


def test_what_is_frozen_takes_no_new_attribute() -> None:
    ours = both(Few, {"frozen": True, "slots": True})[1]
    for name in ("a", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign"):
            setattr(ours(1), name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete"):
            delattr(ours(1), name)


def test_what_is_derived_has_the_fields_of_its_base_first() -> None:
    made: list[Any] = []
    options = {"frozen": True, "slots": True}
    for number in range(2):
        base = both(type("Base", (), {"__annotations__": {"x": "int"}, "__module__": __name__}), options)[number]
        space: Any = {"__annotations__": {"y": "int"}, "y": 2, "__module__": __name__}
        made.append(both(type("Derived", (base,), space), options)[number])
    assert len({repr(one(1)) for one in made}) == len({str(inspect.signature(one)) for one in made}) == 1
    assert [one.__slots__ for one in made] == [("y",), ("y",)]
    assert made[1](1) == made[1](1, 2) != made[1](1, 3)


def test_values_are_pickled() -> None:
    module = ptxloom.parse(".version 9.0 .target sm_90 .entry k() { ret; }")
    assert pickle.loads(pickle.dumps(module.statements)) == module.statements  # noqa: S301 - our own


def test_a_method_is_compiled_when_it_is_first_called() -> None:
    ours: type[Any] = both(Few, {"frozen": True, "slots": True})[1]

    def compiled() -> list[str]:
        methods: dict[str, object] = {**vars(ours)}
        return [name for name in ("__init__", "__eq__", "__hash__") if inspect.isfunction(methods[name])]

    assert compiled() == []
    one = ours(1)
    assert compiled() == ["__init__"]
    assert one == ours(1)
    assert compiled() == ["__init__", "__eq__"]


def declared() -> list[type]:
    """All dataclasses of ptxloom, of the modules that can be imported here."""
    for found in pkgutil.walk_packages(ptxloom.__path__, "ptxloom.", onerror=lambda _: None):
        if not found.name.endswith("__main__"):
            try:
                importlib.import_module(found.name)
            except ImportError:
                continue
    mine = [module for name, module in sys.modules.copy().items() if name.startswith("ptxloom.")]
    classes = {one for module in mine for one in vars(module).values() if isinstance(one, type)}
    return [one for one in classes if "__dataclass_fields__" in vars(one) and one.__module__.startswith("ptxloom.")]


def test_all_of_ptxloom_have_the_signatures_of_the_standard_library() -> None:
    checked = 0
    for one in declared():
        options: Any = vars(one)["__dataclass_params__"]
        own = [found for found in dataclasses.fields(one) if found.name in inspect.get_annotations(one)]
        if not options.init or len(own) != len(dataclasses.fields(one)):
            continue
        fields: list[Any] = []
        for field in own:
            defaults = {name: getattr(field, name) for name in ("default", "default_factory")}
            kept = {name: value for name, value in defaults.items() if value is not dataclasses.MISSING}
            fields.append(
                (field.name, field.type, dataclasses.field(**kept, init=field.init, kw_only=bool(field.kw_only)))
            )
        other = dataclasses.make_dataclass(one.__name__, fields)
        assert str(inspect.signature(one)) == str(inspect.signature(other)), one
        checked += 1
    assert checked > 250


def test_an_import_compiles_few() -> None:
    """Of what `inspect` imports: the standard library would compile six methods of each class."""
    counts = (
        "import ptxloom.dataclass as ours, builtins\n"
        "compiled, declared = [], []\n"
        "one, two = ours._compiled, ours.declare\n"
        "ours._compiled = lambda *all: compiled.append(1) or one(*all)\n"
        "ours.declare = lambda *all: declared.append(1) or two(*all)\n"
        "import ptxloom.inspection\nprint(len(compiled), len(declared))"
    )
    out = subprocess.run([sys.executable, "-c", counts], capture_output=True, check=True, text=True).stdout
    compiled, classes = map(int, out.split())
    assert classes > 80
    assert compiled < classes
