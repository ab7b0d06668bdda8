"""What the packages above the machine take of it: public names from `ptxloom.machine`, few others; fewer only."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import ptxloom

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE: Final = Path(ptxloom.__file__).parent
INSIDE: Final = "ptxloom.machine."
PORT: Final = "ptxloom.machine.port"
MOST: Final = {
    "cli": 15,
    "conformance": 4,
    "cuda_driver": 0,
    "fuzzing": 5,
    "judge": 2,
    "lsp": 0,
    "pytest_plugin.py": 2,
    "snapshots.py": 0,
    "tool_server": 0,
    "triton": 0,
    "views": 14,
    "web": 0,
}
"""How many names of modules inside the machine each of them takes, at most. Lower these."""


def taken(neighbour: str) -> Iterator[tuple[str, str]]:
    """Modules inside the machine, and the names that are imported from these."""
    place = PACKAGE / neighbour
    for path in [place] if place.suffix else sorted(place.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or f"{node.module}".startswith(PORT):
                continue
            if f"{node.module}.".startswith(INSIDE) and node.module != INSIDE[:-1]:
                yield from ((str(node.module), one.name) for one in node.names)


def published() -> set[tuple[str, str]]:
    """The public names of the machine, with the modules that define them."""
    tree = ast.parse((PACKAGE / "machine/__init__.py").read_text(encoding="utf-8"))
    froms = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {(str(node.module), one.name) for node in froms for one in node.names}


@pytest.mark.parametrize("neighbour", MOST)
def test_no_more_names_of_inner_modules_are_taken(neighbour: str) -> None:
    found = sorted(set(taken(neighbour)))
    assert len(found) <= MOST[neighbour], "make the name public:\n" + "\n".join(map(str, found))


@pytest.mark.parametrize("neighbour", MOST)
def test_public_names_are_taken_from_where_they_are_public(neighbour: str) -> None:
    assert set(taken(neighbour)) & published() == set()
