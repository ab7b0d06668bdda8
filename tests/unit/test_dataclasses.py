"""Every dataclass is frozen and has slots, or is listed here; those with arrays are compared by identity.

Two arrays are equal element by element, so that the `==` and the hash that a dataclass is given would raise: a class
with arrays among its fields is compared by identity (`eq=False`).
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import ptxloom

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = Path(ptxloom.__file__).parent
CHANGING: Final = frozenset(
    {
        *("checker.control_flow.lints._Braces", "cuda_driver.virtual._Mapping", "files.fatbins._Unpacker"),
        *("diagnosis.suspects.search_outcome.Found", "diagnosis.suspects.trials.Trials"),
        *("files.packed.zstandard._Frame", "flow.blocks.OpenBlock", "flow.blocks._Table", "fuzzing.campaign.Summary"),
        *("fuzzing.generate._Writer", "isa.pages.syntax_page._Group", "machine.analysis.register_allocation._Interval"),
        *("machine.contraction.products.Product", "machine.contraction.products.Sum", "machine.hot.code.Block"),
        *(
            "machine.memory.arguments.Memory",
            "machine.program.model.FunctionPlan",
            "machine.program.symbols.BranchTable",
        ),
        *(
            "pytest_plugin.Watched",
            "pytest_plugin._Session",
            "readings.interpreter.Cell",
            "syntax.declarations.Specifiers",
        ),
        *("syntax.lexer.Cursor", "syntax.scopes.Header", "syntax.scopes._Scope", "views.flow.graph_layout._Cell"),
    }
)
"""What is written piece by piece: work in progress, none of it a result."""


class Declared(NamedTuple):
    """A dataclass as its source declares it."""

    name: str
    flags: dict[str, bool]
    caches: bool
    holds_arrays: bool


@cache
def _modules() -> dict[str, ast.Module]:
    """The modules that may declare a dataclass or define a type of arrays; the others are not worth reading."""
    texts = {path: path.read_text("utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): ast.parse(text)
        for path, text in texts.items()
        if "dataclass(" in text or "NDArray[" in text
    }


@cache
def _defined(where: str) -> frozenset[str]:
    """What a module of the package itself calls arrays."""
    found = set[str]()
    for node in ast.walk(_modules()[where]):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Subscript):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if ast.unparse(node.value.value) == "NDArray":
                found |= {one.id for one in targets if isinstance(one, ast.Name)}
    return frozenset(found)


def _arrays(where: str) -> set[str]:
    """What is called an array in a module: its own names, and those that it has from others of the package."""
    names = {"NDArray", *_defined(where)}
    for node in ast.walk(_modules()[where]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ptxloom."):
            there = (node.module or "").removeprefix("ptxloom.")
            known = _defined(there) if there in _modules() else frozenset[str]()
            names |= {one.asname or one.name for one in node.names if one.name in known}
    return names


def _declared(where: str) -> Iterator[Declared]:
    arrays = _arrays(where)
    for node in ast.walk(_modules()[where]):
        if not isinstance(node, ast.ClassDef):
            continue
        for made in node.decorator_list:
            if isinstance(made, ast.Call) and ast.unparse(made.func) == "dataclass":
                fields = [one.annotation for one in node.body if isinstance(one, ast.AnnAssign)]
                named = {one.id for field in fields for one in ast.walk(field) if isinstance(one, ast.Name)}
                flags = {one.arg or "": bool(ast.literal_eval(one.value)) for one in made.keywords}
                methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
                caches = any("cached_property" in map(ast.unparse, one.decorator_list) for one in methods)
                yield Declared(f"{where}.{node.name}", flags, caches, not named.isdisjoint(arrays))


@cache
def dataclasses() -> tuple[Declared, ...]:
    return tuple(one for where in _modules() for one in _declared(where))


def test_what_is_not_frozen_is_work_in_progress() -> None:
    assert {one.name for one in dataclasses() if not one.flags.get("frozen", False)} == CHANGING


def test_what_has_no_slots_keeps_something_that_it_worked_out() -> None:
    """Or asks its base by `super()`, as kinds of scenes do: a class that is given slots is another one."""
    without = [one for one in dataclasses() if not one.flags.get("slots", False)]
    assert without
    assert [one.name for one in without if not one.caches and not one.name.startswith("conformance.scenes.")] == []
    assert [one.name for one in dataclasses() if one.caches and one.flags.get("slots", False)] == []


def test_what_holds_arrays_is_compared_by_identity() -> None:
    holding = [one for one in dataclasses() if one.holds_arrays]
    assert len(holding) > 20
    assert [one.name for one in holding if one.flags.get("eq", True)] == []
