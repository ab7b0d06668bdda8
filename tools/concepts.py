"""What of the source is a concept to learn, counted: lines, files, classes, opcode tables, loops of dataflow, names.

    python tools/concepts.py 53935c31

prints the table of ARCHITECTURE.md: of some commits, and of the working tree.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from ptxloom import tellings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT: Final = Path(__file__).parents[1]
SOURCE: Final = Path("src/ptxloom")
TAKES: Final = frozenset({"pop", "popleft", "popitem", "heappop"})
FILLS: Final = frozenset({"append", "appendleft", "extend", "add", "update", "setdefault", "insert", "heappush"})

# ------------------------------------------------------------------------------------------------- loops of dataflow


def _name(node: ast.AST) -> str:
    """The collection that an expression is, or looks into: `self._left[block]` is `self._left`."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    return ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""


def _calls(loop: ast.AST, names: set[str]) -> Iterator[str]:
    """What methods, or functions with a collection as their first argument, of some names are called of."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in names:
                yield _name(node.func.value)
            elif isinstance(node.func, ast.Name) and node.func.id in names and node.args:
                yield _name(node.args[0])


def _filled(loop: ast.AST) -> set[str]:
    found = set(_calls(loop, FILLS))
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign) and not isinstance(node.value, ast.Constant):
            found.add(_name(node.target))
        elif isinstance(node, ast.Assign):
            found |= {_name(target) for target in node.targets if isinstance(target, ast.Subscript)}
    return found - {""}


def _looked_into(loop: ast.AST) -> set[str]:
    found = set(_calls(loop, {"get", "setdefault"}))
    for node in ast.walk(loop):
        if isinstance(node, ast.Compare) and any(isinstance(one, (ast.In, ast.NotIn)) for one in node.ops):
            found |= {_name(one) for one in node.comparators}
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            found.add(_name(node.right))  # what is new: `following - seen`
    return found - {""}


def _is_worklist(loop: ast.While | ast.For) -> bool:
    """Whether a loop takes from what it fills and remembers where it was."""
    filled = _filled(loop)
    if isinstance(loop, ast.While):
        tested = {_name(node) for node in ast.walk(loop.test)}
        taken = set(_calls(loop, TAKES))
        if isinstance(loop.test, ast.Constant):  # `while True`, left from inside
            tested = taken
        waiting = tested & taken
    else:
        waiting = {_name(loop.iter)}
    return bool(waiting & filled) and bool(_looked_into(loop) & filled)


def _goes_by_a_flag(loop: ast.While | ast.For) -> bool:
    """Whether a loop runs as long as a flag that it clears at its start is set again."""
    if not isinstance(loop, ast.While):
        return False
    flags = {_name(node) for node in ast.walk(loop.test)}
    cleared = {
        _name(target)
        for node in loop.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is False
        for target in node.targets
    }
    rounds = any(isinstance(node, (ast.For, ast.comprehension)) for node in ast.walk(loop))
    return bool(flags & cleared) and rounds


def _until_equal(loop: ast.While | ast.For) -> bool:
    """Whether a loop runs over a collection's copies until one equals the one before."""
    if not isinstance(loop, ast.While):
        return False
    unequal = [
        node for node in ast.walk(loop.test) if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotEq)
    ]
    sides = [{_name(one.left), *map(_name, one.comparators)} - {""} for one in unequal]
    assigned = {
        _name(target): _name(node.value)
        for node in ast.walk(loop)
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    rounds = any(isinstance(node, (ast.For, ast.comprehension)) for node in ast.walk(loop))
    return rounds and any(len(side) == 2 and any(assigned.get(one) in side for one in side) for side in sides)


def by_hand(tree: ast.AST, name: str = "") -> Iterator[str]:
    """The functions that hold such a loop, each as often as it does."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            yield from by_hand(node, f"{name}.{node.name}")
            continue
        if isinstance(node, (ast.While, ast.For)) and (
            _is_worklist(node) or _goes_by_a_flag(node) or _until_equal(node)
        ):
            yield name.removeprefix(".")
        yield from by_hand(node, name)


def loops(source: Path) -> list[str]:
    """Such loops of a tree of modules, by module and function: `flow/control.Control._part`."""
    return [
        f"{path.relative_to(source).with_suffix('').as_posix()}.{function}"
        for path in sorted(source.rglob("*.py"))
        for function in by_hand(ast.parse(path.read_text(encoding="utf-8")))
    ]


# ------------------------------------------------------------------------------------------------------------- names


def classes(source: Path) -> Counter[str]:
    """How many modules have a class of a name that others may import."""
    return Counter(
        node.name
        for path in source.rglob("*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )


def files(source: Path) -> Counter[str]:
    """How many files have a name."""
    return Counter(path.name for path in source.rglob("*.py") if path.name != "__init__.py")


def shared(names: Counter[str]) -> list[str]:
    """Those that several have."""
    return sorted(name for name, count in names.items() if count > 1)


# ---------------------------------------------------------------------------------------------------------- the table


def counted(source: Path) -> Mapping[str, int]:
    """The rows of the table."""
    texts = [path.read_text(encoding="utf-8") for path in source.rglob("*.py")]
    tellings._PACKAGE = source  # noqa: SLF001 - what it reads by itself is the package that is imported
    tables = [one for one in tellings.tellings.__wrapped__() if one.table]
    every = classes(source)
    return {
        "files of Python": len(texts),
        "lines": sum(text.count("\n") for text in texts),
        "public classes": every.total(),
        "their names that several modules use": len(shared(every)),
        "names of files that occur twice": len(shared(files(source))),
        "modules that name an opcode": len({one.module for one in tellings.tellings.__wrapped__()}),
        "tables of opcodes": len(tables),
        "loops that are, or look like, dataflow by hand": len(loops(source)),
    }


def main(revisions: list[str]) -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        columns: dict[str, Mapping[str, int]] = {}
        for revision in revisions:
            packed = subprocess.run(
                ["git", "archive", revision, str(SOURCE)], cwd=ROOT, capture_output=True, check=True
            )
            with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
                archive.extractall(Path(folder) / revision, filter="data")
            columns[revision] = counted(Path(folder) / revision / SOURCE)
        columns["now"] = counted(ROOT / SOURCE)
    print(f"| | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for row in columns["now"]:
        print(f"| {row} | {' | '.join(f'{column[row]:,}' for column in columns.values())} |")


if __name__ == "__main__":
    main(sys.argv[1:])
