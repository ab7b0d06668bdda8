"""`docs/environment.md` names every environment variable that is read, and no other."""

from __future__ import annotations

import ast
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"[A-Z][A-Z0-9_]+")


def documented(*heads: str) -> set[str]:
    """The variables in the tables of the sections with these heads; of all sections if none is named."""
    text = (ROOT / "docs/environment.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"(?m)^## (.+)\n((?:(?!## ).*\n)*)", text))
    rows = [row for head in heads or sections for row in re.findall(r"(?m)^\| (`[^|]*) \|", sections[head])]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def trees(folder: str) -> Iterator[ast.Module]:
    """The modules below a folder that know of the environment."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "environ" in text or "getenv" in text:
            yield ast.parse(text)


def read(folder: str) -> set[str]:
    """The variables that code reads by their names."""
    found = set[str]()
    for node in (node for tree in trees(folder) for node in ast.walk(tree)):
        match node:
            case ast.Call(func=ast.Attribute(value=place, attr="get"), args=[ast.Constant(value=str(name)), *_]):
                pass
            case ast.Subscript(value=place, slice=ast.Constant(value=str(name)), ctx=ast.Load()):
                pass
            case ast.Compare(left=ast.Constant(value=str(name)), comparators=[place]):
                pass
            case _:
                continue
        if ast.unparse(place) == "os.environ":
            found.add(name)
    return found


def refused(node: ast.AST) -> str:
    """The argument of the command line that a `UsageError` is about; else empty."""
    match node:
        case ast.Call(func=ast.Name(id="UsageError"), args=[ast.Constant(value=str(name)), *_]):
            return name
        case _:
            return ""


def test_no_variable_of_the_program_is_left_out() -> None:
    nodes = [node for tree in trees("src") for node in ast.walk(tree)]
    constants = (node.value for node in nodes if isinstance(node, ast.Constant))
    named = {text for text in constants if isinstance(text, str) and NAME.fullmatch(text)}
    known = read("src")
    named -= set(signal.Signals.__members__) | (set(map(refused, nodes)) - known)
    assert known <= named
    assert documented("The program") == named | {"PATH"}  # which Python reads for us


def test_no_variable_of_the_tests_and_tools_is_left_out() -> None:
    elsewhere = documented() - documented("The tests")
    assert documented("The tests") == read("tests") - {"PATH"} - elsewhere
    assert documented("The tools") <= read("tools")
    assert read("tools") | read("bench") <= documented()
