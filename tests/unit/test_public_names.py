"""The package's face: lazy names that type checkers, `dir` and the interpreter agree on."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ptxloom as pl

FACE = Path(pl.__file__)


def names_for_type_checkers() -> dict[str, str]:
    """Public name -> module, as the `if TYPE_CHECKING` block says."""
    for node in ast.parse(FACE.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If):
            imports = [n for n in node.body if isinstance(n, ast.ImportFrom)]
            return {a.name: (n.module or "").removeprefix("ptxloom.") for n in imports for a in n.names}
    raise AssertionError("no TYPE_CHECKING block")


def test_type_checkers_see_what_the_interpreter_finds() -> None:
    assert names_for_type_checkers() == pl._EXPORTS


@pytest.mark.parametrize("name", sorted(pl._EXPORTS))
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(pl, name) is getattr(pl, name)
    assert name in dir(pl)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'ldmatricks'"):
        _ = pl.ldmatricks  # type: ignore[attr-defined]


def test_importing_the_package_imports_nothing_else_of_it() -> None:
    code = "import sys, ptxloom; print([m for m in sys.modules if m.startswith('ptxloom.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
