"""Notebooks run from their first cell to their last, as a reader runs them, and show what is stored in them.

Stored is text alone, which is small and can be read in a diff; pictures come when a notebook is run.
`pytest tests/docs --update` rewrites what is stored; a human reads the diff.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest

ROOT: Final = Path(__file__).parents[2]
NOTEBOOKS: Final = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").rglob("*.ipynb"))
MOST_BYTES: Final = 60_000


def shown(value: Any) -> dict[str, str]:
    """What a notebook draws of a value: as IPython asks for it."""
    if hasattr(value, "_repr_mimebundle_"):
        return value._repr_mimebundle_()
    if hasattr(value, "_repr_svg_"):
        return {"image/svg+xml": value._repr_svg_()}
    return {"text/plain": repr(value)}


def run(source: str, where: str, names: dict[str, Any]) -> dict[str, str]:
    """A cell, and what its last expression shows; nothing if it ends otherwise."""
    body = ast.parse(source, where).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), where, "exec"), names)  # noqa: S102 - it is ours
    if not isinstance(last, ast.Expr):
        return {}
    return shown(eval(compile(ast.Expression(last.value), where, "eval"), names))  # noqa: S307 - likewise


def outputs(bundle: dict[str, str]) -> list[dict[str, object]]:
    """What is stored of what a cell shows."""
    text = bundle.get("text/plain", "")
    if not text:
        return []
    data = {"text/plain": text.splitlines(keepends=True)}
    return [{"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_shows_what_it_says(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    path = ROOT / name
    notebook = json.loads(path.read_text(encoding="utf-8"))
    monkeypatch.chdir(path.parent)
    names: dict[str, Any] = {"__name__": "__main__"}
    pictures = 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        bundle = run("".join(cell["source"]), f"{name}, cell {number}", names)
        if "image/svg+xml" in bundle:
            pictures += 1
            assert ET.fromstring(bundle["image/svg+xml"]).tag.endswith("svg")  # noqa: S314 - it is ours
        if request.config.getoption("--update"):
            cell["outputs"] = outputs(bundle)
        assert cell["outputs"] == outputs(bundle), f"{name}, cell {number}"
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    if request.config.getoption("--update"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
    assert len(text) <= MOST_BYTES
    assert pictures > 3


def test_there_is_one() -> None:
    assert NOTEBOOKS == ["examples/tutorial/tile.ipynb"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_cells_have_names_of_their_own(name: str) -> None:
    cells = json.loads((ROOT / name).read_text(encoding="utf-8"))["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
