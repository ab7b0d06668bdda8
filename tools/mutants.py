"""Do the tests see? A sample of small mistakes, planted one at a time, each tried with the tests of its area.

`python tools/mutants.py --count 300 --seed 1` plants 300; one whose tests all pass lived, and wants a test or a word
why it changes nothing. Those words stand in `mutants.toml`; what has one is not tried. The tree is left alone: mistakes
are planted in a copy of `src`.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[1]
WORDS: Final = Path(__file__).with_suffix(".toml")
AREAS: Final = {
    "machine/semantics": (
        "tests/machine/semantics",
        "tests/machine/plan",
        "tests/machine/compile/test_every_form.py",
        "tests/recorded/opcodes",
        "tests/recorded/textures",
    ),
    "machine/runtime": (
        "tests/machine",
        "tests/unit/machine",
        "tests/recorded/clusters",
        "tests/recorded/tensor_maps",
        "tests/recorded/textures",
        "tests/attack/test_loops.py",
        "tests/property/test_race_law.py",
    ),
    "machine/codegen": (
        "tests/machine/semantics",
        "tests/machine/plan",
        "tests/machine/compile",
        "tests/machine/instruments",
        "tests/attack/test_loops.py",
    ),
    "machine/tensor": (
        "tests/machine/semantics",
        "tests/unit/machine_tensor",
        "tests/recorded/mma",
        "tests/recorded/matrix",
    ),
    "fragments": ("tests/unit/fragments", "tests/property/test_fragment_laws.py", "tests/spec/test_matrix_pages.py"),
    "checker": ("tests/unit/checker", "tests/property/test_corpus.py", "tests/recorded/ptxas"),
    "diagnosis": ("tests/diagnosis", "tests/unit/cli/test_cli_why.py", "tests/unit/test_dataclasses.py"),
    "comparison": (
        "tests/unit/comparison",
        "tests/property/test_difference_patterns.py",
        "tests/unit/test_dataclasses.py",
        "tests/judge",
        "tests/kernels/test_default_tolerance.py",
    ),
}
"""By folder of the package, where its tests lie."""
_TURNED: Final[dict[type, Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_PATIENCE: Final = 1200  # seconds of CPU of one process of tests


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake: an expression of a file, from one byte to another, and what stands there instead.

    Args:
        path: The file, below the package.
        name: The qualified name of the function or class around it; empty at module level.
    """

    path: str
    name: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def planted(self, text: bytes) -> bytes:
        """The file with the mistake."""
        return text[: self.start] + self.after.encode() + text[self.end :]

    def told(self, text: bytes) -> Told:
        """The mistake by what stands around it: it is the same one when lines above it come and go."""
        first, last = text.rfind(b"\n", 0, self.start) + 1, text.find(b"\n", self.end)
        head, tail = text[first : self.start], text[self.end : last if last >= 0 else len(text)]
        line = head + text[self.start : self.end] + tail
        return Told(self.path, self.name, line.decode().strip(), (head + self.after.encode() + tail).decode().strip())


class Told(NamedTuple):
    """A mistake by its file, the qualified name of what it stands in, its line as it is and as it is planted."""

    file: str
    name: str
    line: str
    planted: str


def words() -> dict[Told, str]:
    """Mistakes that change nothing, and why."""
    kept = tomllib.loads(WORDS.read_text(encoding="utf-8"))["nothing"]
    return {Told(one["file"], one["name"], one["line"].strip(), one["planted"].strip()): one["why"] for one in kept}


def _changed(node: ast.expr) -> ast.expr | None:
    """An expression with a mistake; None if it is none that is planted."""
    changed: ast.expr | None = None
    match node:
        case ast.Compare(ops=[one, *more]) if type(one) in _TURNED:
            changed = ast.Compare(node.left, [_TURNED[type(one)](), *more], node.comparators)
        case ast.BoolOp(op=one):
            changed = ast.BoolOp(_TURNED[type(one)](), node.values)
        case ast.BinOp(op=one) if type(one) in _TURNED and not _is_text(node.left) and not _is_text(node.right):
            changed = ast.BinOp(node.left, _TURNED[type(one)](), node.right)
        case ast.UnaryOp(op=ast.Not()):
            changed = node.operand
        case ast.Constant(value=bool() as value):
            changed = ast.Constant(not value)
        case ast.Constant(value=int() as value):
            changed = ast.Constant(value + 1)
        case _:
            pass
    return changed


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _expressions(node: ast.AST, name: str = "") -> Iterator[tuple[str, ast.expr]]:
    """What runs, with the qualified name of what it stands in.

    No annotation, no text with values, no assertion, nothing for type checkers alone, and not whether a dataclass is
    frozen or has slots: no result depends on it.
    """
    if isinstance(node, ast.JoinedStr | ast.Assert):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return
    if isinstance(node, ast.keyword) and node.arg in {"frozen", "slots"}:
        return
    if isinstance(node, ast.expr):
        yield name, node
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        name = f"{name}.{node.name}".lstrip(".")
    annotations = [getattr(node, each, None) for each in ("annotation", "returns")]
    for child in ast.iter_child_nodes(node):
        if child not in annotations:
            yield from _expressions(child, name)


def mutants_of(path: str, text: bytes) -> list[Mutant]:
    """Every mistake that can be planted in a file."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Mutant] = []
    for name, node in _expressions(ast.parse(text)):
        changed = _changed(node)
        if changed is not None and node.end_lineno is not None and node.end_col_offset is not None:
            start, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
            after = f"({ast.unparse(ast.fix_missing_locations(changed))})"
            found.append(Mutant(path, name, node.lineno, start, end, ast.unparse(node), after))
    return found


@cache
def mutants_in(area: str) -> tuple[Mutant, ...]:
    """Every mistake that can be planted in an area."""
    package = ROOT / "src" / "ptxloom"
    files = sorted((package / area).rglob("*.py"))
    return tuple(one for file in files for one in mutants_of(str(file.relative_to(package)), file.read_bytes()))


def sample(count: int, seed: int, areas: tuple[str, ...] = tuple(AREAS)) -> list[tuple[str, Mutant]]:
    """So many mistakes, spread evenly over areas: the same ones for a seed, as long as the sources are the same."""
    chance = random.Random(seed)
    drawn: list[tuple[str, Mutant]] = []
    for number, area in enumerate(areas):
        known = mutants_in(area)
        share = count // len(areas) + (number < count % len(areas))
        drawn += [(area, one) for one in chance.sample(known, min(share, len(known)))]
    return drawn


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_PATIENCE, _PATIENCE))


def outcome(area: str, mutant: Mutant, copy: Path, processes: int) -> str:
    """Try a mistake: `killed`, `lived`, or `endless` if the tests ran until their time was up."""
    file = copy / "src" / "ptxloom" / mutant.path
    right = file.read_bytes()
    file.write_bytes(mutant.planted(right))
    path = os.pathsep.join([str(copy / "src"), str(ROOT / "tests")])
    environment = dict(os.environ)
    environment |= {"PYTHONPATH": path, "PTXLOOM_CACHE": str(copy / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", str(processes),
        "--dist", "worksteal", "-o", f"pythonpath={copy / 'src'} tests", "-m", "not sweep", *AREAS[area],
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=_bounded,
        )
    finally:
        file.write_bytes(right)
    if done.returncode < 0:
        return "endless"
    return "killed" if done.returncode else "lived"


def main(arguments: list[str] | None = None) -> int:
    """The command: 1 if more than a tenth of those that were tried lived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=tuple(AREAS))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    nothing = words()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        for area, mutant in sample(options.count, options.seed, tuple(options.area or AREAS)):
            told = mutant.told((ROOT / "src" / "ptxloom" / mutant.path).read_bytes())
            found = "nothing" if told in nothing else outcome(area, mutant, Path(folder), options.processes)
            counts[found] += 1
            print(f"{found:8} {mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
    print(", ".join(f"{count} {found}" for found, count in sorted(counts.items())))
    return int(counts["lived"] * 10 > counts.total() - counts["nothing"])


if __name__ == "__main__":
    sys.exit(main())
