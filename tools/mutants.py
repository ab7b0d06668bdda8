"""Do the tests see? A sample of small mistakes, planted one at a time, each tried with the tests that reach it.

`python tools/mutants.py --count 300 --seed 1` plants 300; one whose tests all pass lived, and wants a test or a word
why it changes nothing. Those words are in `mutants.toml`; a mistake that has one is not tried. The tree is left alone:
mistakes are planted in copies of `src`, one for each job.

Which tests reach a line is measured by running the suite once under coverage (`--reach FILE` keeps that, or reads it).
A mistake is first tried with the tests that reach its line, the quickest first, then with those that reach its file:
tests of one process share what is computed once, so the line alone misses some.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import queue
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

ROOT: Final = Path(__file__).parents[1]
WORDS: Final = Path(__file__).with_suffix(".toml")
AREAS: Final = (
    "machine/semantics", "machine/runtime", "machine/codegen", "machine/tensor",
    "fragments", "checker", "diagnosis", "comparison",
)  # fmt: skip
"""Folders of the package that mistakes are planted in."""

_TURNED: Final[dict[type, Any]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


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
    """An expression with a mistake; None if no mistake of its kind is planted."""
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


def sample(count: int, seed: int, areas: tuple[str, ...] = AREAS) -> list[tuple[str, Mutant]]:
    """`count` mistakes, spread evenly over areas: the same ones for a seed, as long as the sources are the same."""
    chance = random.Random(seed)
    drawn: list[tuple[str, Mutant]] = []
    for number, area in enumerate(areas):
        known = mutants_in(area)
        share = count // len(areas) + (number < count % len(areas))
        drawn += [(area, one) for one in chance.sample(known, min(share, len(known)))]
    return drawn


@dataclass(frozen=True, slots=True)
class Reach:
    """Which tests reach what.

    Args:
        seconds: Every test that passes, by its node id, and how long it takes.
        lines: By file below the package and line, the tests that run it; lines that imports alone run have no tests.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]

    def tests_for(self, mutant: Mutant, patience: float) -> list[str]:
        """The tests to try a mistake with, `patience` seconds of them at most: its line's before its file's."""
        lines = self.lines.get(mutant.path, {})
        near = {test for test in lines.get(mutant.line, ()) if test in self.seconds}
        far = {test for tests in lines.values() for test in tests if test in self.seconds} - near
        ordered = [test for tests in (near, far or self.seconds.keys() - near) for test in self._quick_first(tests)]
        chosen: list[str] = []
        left = patience
        for test in ordered:
            left -= self.seconds[test]
            if left < 0:
                break
            chosen.append(test)
        return chosen

    def _quick_first(self, tests: AbstractSet[str]) -> list[str]:
        return sorted(tests, key=lambda test: (self.seconds[test], test))


def measured(copy: Path, processes: int, tests: list[str], spend: float) -> Reach:
    """Run tests once under coverage, with a copy that has no mistake.

    Of a test file, tests are run as long as `spend` seconds of a processor pay for them. Tests that fail are left out:
    they would kill every mistake.
    """
    report, data = copy / "report.xml", copy / "coverage"
    command = _pytest(copy, "-n", str(processes), "--dist", "worksteal", "-m", "not sweep", f"--junitxml={report}")
    command += [
        f"--cov={copy / 'src' / 'ptxloom'}",
        "--cov-context=test",
        "--cov-report=",
        f"--spend={spend}",
        *tests,
    ]
    subprocess.run(command, cwd=ROOT, env=_environment(copy) | {"COVERAGE_FILE": str(data)}, check=False)
    seconds: dict[str, float] = {}
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - pytest has just written it
        if not any(child.tag in {"failure", "error", "skipped"} for child in case):
            file = case.get("classname", "").replace(".", "/")
            seconds[f"{file}.py::{case.get('name')}"] = float(case.get("time", 0))
    import coverage  # noqa: PLC0415 - all other uses of this file do without

    covered = coverage.CoverageData(str(data))
    covered.read()
    lines: dict[str, dict[int, list[str]]] = {}
    for file in covered.measured_files():
        by_line = covered.contexts_by_lineno(file)
        lines[str(Path(file).relative_to(copy / "src" / "ptxloom"))] = {
            line: sorted({one.partition("|")[0] for one in contexts if one}) for line, contexts in by_line.items()
        }
    return Reach(seconds, lines)


def kept(reach: Reach, file: Path) -> None:
    """Write what was measured as JSON, with tests by number."""
    numbers: dict[str, int] = defaultdict(lambda: len(numbers))
    lines = {
        path: {line: [numbers[one] for one in tests] for line, tests in by.items()} for path, by in reach.lines.items()
    }
    file.write_text(json.dumps({"seconds": reach.seconds, "lines": lines, "tests": list(numbers)}), encoding="utf-8")


def read(file: Path) -> Reach:
    """What `kept` wrote."""
    told = json.loads(file.read_text(encoding="utf-8"))
    names = told["tests"]
    lines = {
        path: {int(line): [names[one] for one in tests] for line, tests in by.items()}
        for path, by in told["lines"].items()
    }
    return Reach(told["seconds"], lines)


def _environment(copy: Path) -> dict[str, str]:
    path = os.pathsep.join([str(copy / "src"), str(ROOT / "tests")])
    return dict(os.environ) | {
        "PYTHONPATH": path,
        "PTXLOOM_CACHE": str(copy / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _pytest(copy: Path, *arguments: str) -> list[str]:
    plugins = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:benchmark"]
    return [sys.executable, "-m", "pytest", "-q", *plugins, "-o", f"pythonpath={copy / 'src'} tests", *arguments]


def outcome(mutant: Mutant, copy: Path, reach: Reach, patience: float) -> Outcome:
    """Try a mistake in a copy, which is left as it was."""
    tests = reach.tests_for(mutant, patience)
    file = copy / "src" / "ptxloom" / mutant.path
    right = file.read_bytes()
    arguments = copy / "tests.txt"
    arguments.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
    bound = 60 + int(3 * sum(reach.seconds[test] for test in tests))

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (bound, bound))

    file.write_bytes(mutant.planted(right))
    try:
        done = subprocess.run(
            _pytest(copy, "-x", "-n", "0", f"@{arguments}"),
            cwd=ROOT,
            env=_environment(copy),
            capture_output=True,
            text=True,
            timeout=4 * bound,  # a mistake can make tests wait for ever
            check=False,
            preexec_fn=bounded,
        )
    except subprocess.TimeoutExpired:
        return Outcome("endless")
    finally:
        file.write_bytes(right)
    if done.returncode < 0:
        return Outcome("endless")
    killer = re.search(r"^(?:FAILED|ERROR) (tests/\S+?\.py::.*?)(?: - |$)", done.stdout, re.MULTILINE)
    return Outcome("killed" if done.returncode else "lived", killer.group(1) if killer else "")


class Outcome(NamedTuple):
    """What became of a mistake.

    Args:
        word: `killed`, `lived`, `endless` if the tests ran until their time was up, or `nothing` if a word says that
            it changes nothing.
        killer: The test that failed; empty if no test did, or if its modules could not even be imported.
    """

    word: str
    killer: str = ""


def main(arguments: list[str] | None = None) -> int:
    """The command: 1 if more than a tenth of those that were tried lived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=AREAS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mistakes tried side by side")
    parser.add_argument("--reach", type=Path, help="where which tests reach what is kept; read if it is there")
    parser.add_argument("--patience", type=float, default=240, help="seconds of tests that a mistake is tried with")
    parser.add_argument("--spend", type=float, default=4, help="seconds of a processor to spend on each test file")
    parser.add_argument("--tests", nargs="+", default=["tests"], help="the tests to try them with")
    options = parser.parse_args(arguments)
    nothing = words()
    with tempfile.TemporaryDirectory() as folder:
        copies: queue.Queue[Path] = queue.Queue()
        for job in range(options.jobs):
            shutil.copytree(ROOT / "src", Path(folder) / str(job) / "src")
            copies.put(Path(folder) / str(job))
        if options.reach and options.reach.exists():
            reach = read(options.reach)
        else:
            reach = measured(Path(folder) / "0", options.jobs, options.tests, options.spend)
            if options.reach:
                kept(reach, options.reach)

        def tried(mutant: Mutant) -> Outcome:
            told = mutant.told((ROOT / "src" / "ptxloom" / mutant.path).read_bytes())
            if told in nothing:
                return Outcome("nothing")
            copy = copies.get()
            try:
                return outcome(mutant, copy, reach, options.patience)
            finally:
                copies.put(copy)

        counts: Counter[str] = Counter()
        drawn = [mutant for _, mutant in sample(options.count, options.seed, tuple(options.area or AREAS))]
        with ThreadPoolExecutor(options.jobs) as pool:
            for mutant, found in zip(drawn, pool.map(tried, drawn), strict=True):
                counts[found.word] += 1
                place = f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}"
                print(f"{found.word:8} {place}  {found.killer}".rstrip(), flush=True)
    print(", ".join(f"{count} {found}" for found, count in sorted(counts.items())))
    return int(counts["lived"] * 10 > counts.total() - counts["nothing"])


if __name__ == "__main__":
    sys.exit(main())
