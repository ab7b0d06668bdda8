"""What the packages above the machine take of it: `ptxloom.machine` and its port, which stay small.

That they take nothing else is a contract of import-linter (`port-of-the-machine`); that it covers all of the machine,
and that the port holds nothing that no neighbour takes, is tested here.
"""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import ptxloom

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = Path(ptxloom.__file__).parent
MACHINE: Final = "ptxloom.machine"
MOST: Final = {"image": 7, "launch": 2, "prepare": 7, "region": 7, "stages": 5}
"""The names that each part of the port has, at most. Lower these."""
INNER: Final = 28
"""Imports of the machine that `diagnosis` makes, which reads the machine's plans: by module and name, at most."""


def contract() -> dict[str, Any]:
    text = (PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    every = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return next(one for one in every if one["id"] == "port-of-the-machine")


def taken(path: Path) -> Iterator[tuple[str, str]]:
    """Modules of the machine, and the names that a file or the files of a folder take from these."""
    for file in [path] if path.suffix else sorted(path.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith(f"{MACHINE}."):
                yield from ((str(node.module), one.name) for one in node.names)


def neighbours() -> list[Path]:
    found = [one for one in PACKAGE.iterdir() if one.name not in {"machine", "__init__.py"}]
    return [one for one in found if one.is_dir() or one.suffix == ".py"]


def test_all_of_the_machine_but_its_port_is_protected() -> None:
    inside = {f"{MACHINE}.{one.stem}" for one in (PACKAGE / "machine").iterdir() if not one.name.startswith("__")}
    assert {*contract()["protected_modules"]} == inside - {f"{MACHINE}.port", f"{MACHINE}.kernel"}
    assert contract()["allowed_importers"] == [MACHINE, "ptxloom.diagnosis"]


def test_the_class_of_kernels_is_taken_by_its_public_name() -> None:
    """import-linter takes `from ptxloom.machine import kernel`, the function, for an import of the module."""
    froms = {path.name for path in neighbours() if f"{MACHINE}.kernel" in {module for module, _ in taken(path)}}
    assert froms <= {"diagnosis"}


@pytest.mark.parametrize("part", MOST)
def test_the_port_stays_small_and_documented_and_holds_what_neighbours_take(part: str) -> None:
    module = import_module(f"{MACHINE}.port.{part}")
    names: list[str] = module.__all__
    assert len(names) <= MOST[part]
    whole = {(f"{MACHINE}.port", part)}
    used = {one for path in neighbours() for one in taken(path)}
    if not whole & used:  # else a neighbour takes the module, and names in it
        assert {name for name in names if (module.__name__, name) not in used} == set()
    for name in names:
        value = getattr(module, name)
        assert not callable(value) or value.__doc__, name


def test_the_port_has_the_parts_that_are_capped() -> None:
    assert {one.stem for one in (PACKAGE / "machine/port").glob("*.py")} - {"__init__"} == {*MOST}


def test_what_reads_plans_takes_no_more_of_the_machine() -> None:
    inner = {one for one in taken(PACKAGE / "diagnosis") if one[0] != MACHINE and ".port" not in one[0]}
    assert len(inner) <= INNER
