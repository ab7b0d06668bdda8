"""How many source files the family of tensor memory takes, beside data and tests: fewer only."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import ptxloom

FAMILY: Final = "tcgen05"
NAMING: Final = 21
"""At most: Python and JavaScript whose code names it: a string that is the opcode or a spelling, or PTX. Lower it."""
TOUCHED: Final = 77
"""At most: those and every module with a name of tensor memory in it: an import, a class, an attribute. Lower it."""
WANTED: Final = 25
"""What was aimed at."""


_PACKAGE: Final = Path(ptxloom.__file__).parent
_SPELLED: Final = re.compile(rf"{FAMILY}[\w.:]*")
_STATEMENT: Final = re.compile(rf"(?:\A|[;\n}}])\s*(?:@!?[%\w]+\s+)?{FAMILY}\.[^;`]*(?:;|\Z)")
_NAMES: Final = re.compile(
    rf"{FAMILY}|tensor_?memory|tensor_?cores|tensor_?mma|tensor_?product|tensor_?instruction", re.IGNORECASE
)


def named(tree: ast.Module) -> bool:
    """Whether the code, not its prose, has the opcode in a string: alone, in a spelling, in statements of PTX."""
    said = prose(tree)
    constants = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in said]
    return any(isinstance(node.value, str) and spells(node.value) for node in constants)


def prose(tree: ast.Module) -> set[int]:
    """Strings that stand as statements: docstrings, and comments on constants."""
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def spells(text: str) -> bool:
    """Whether a string is a spelling, or PTX; a sentence that mentions one is not."""
    return _SPELLED.fullmatch(text.strip()) is not None or _STATEMENT.search(text) is not None


def touched(tree: ast.Module) -> bool:
    """Whether an identifier of the code is about tensor memory."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                found = name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found = name
            case ast.ImportFrom(module=str() as name):
                found = name
            case _:
                continue
        if _NAMES.search(found):
            return True
    return False


@cache
def trees() -> dict[str, ast.Module]:
    """The modules that could count: those that have such a word at all."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(_PACKAGE.rglob("*.py"))}
    return {
        path.relative_to(_PACKAGE).as_posix(): ast.parse(text) for path, text in texts.items() if _NAMES.search(text)
    }


def scripts() -> set[str]:
    """JavaScript that names it outside of comments."""
    paths = _PACKAGE.rglob("*.js")
    held = {
        path: re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL) for path in paths
    }
    return {path.relative_to(_PACKAGE).as_posix() for path, text in held.items() if FAMILY in text}


def test_no_more_files_name_it() -> None:
    found = sorted({module for module, tree in trees().items() if named(tree)} | scripts())
    assert len(found) <= NAMING, "ask data, rows or effects instead:\n" + "\n".join(found)
    assert len(found) <= WANTED


def test_no_more_files_are_touched() -> None:
    found = sorted({module for module, tree in trees().items() if named(tree) or touched(tree)} | scripts())
    assert len(found) <= TOUCHED, "ask data, rows or effects instead:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("code", "counts"),
    [
        ('if op.opcode == "tcgen05": pass', True),
        ('TEXT = "@%p tcgen05.mma.cta_group::1 [d], a, b, i, p;"', True),
        ('"""tcgen05 in a docstring"""', False),
        ("x = 1  # tcgen05 in a comment", False),
        ('raise ValueError("a tcgen05.mma has one")', False),
    ],
)
def test_what_counts_as_code(code: str, counts: bool) -> None:
    assert named(ast.parse(code)) is counts
