"""Do the tests see? A sample of small mistakes, planted one at a time, each tried with the tests that reach it.

`python tools/mutants.py --count 300 --seed 1` plants 300; one whose tests all pass lived, and wants a test or a word
why it changes nothing. Those words are in `mutants.toml`; a mistake that has one is not tried. The tree is left alone:
mistakes are planted in copies of `src`, one for each job. What was found is kept in `--folder`: an interrupted run goes
on, and a larger one adds to it; `--again` tries those that lived once more, with the tests that there are now.

Which tests reach a line is measured once for the tests of an area (`TESTS`), under coverage; of native functions, which
Python does not run, by what tests have loaded (`native_reach.py`). Delete `reach-*.json` to measure again. A mistake is
tried with a few tests that reach its line; then with more of them, and those that reach its file, as many as
`--patience` seconds pay for; then with more cases of the files of the former, for as long. Tests of one process share
what is computed once, so the line alone misses some. What sees a mistake is asked once more without it, and counts only
if it passes then. All seconds are a processor's, but those of `--begin-for`: after that many, no mistake is begun.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import contextlib
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import count, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from collections.abc import Set as AbstractSet

ROOT: Final = Path(__file__).parents[1]
WORDS: Final = Path(__file__).with_suffix(".toml")
AREAS: Final = (
    "machine/semantics", "machine/runtime", "machine/codegen", "machine/tensor",
    "fragments", "checker", "diagnosis", "comparison",
)  # fmt: skip
"""Folders of the package that mistakes are planted in."""
_MACHINE: Final = (
    "tests/machine", "tests/unit/machine", "tests/unit/machine_tensor", "tests/kernels", "tests/spec",
    "tests/recorded/opcodes/test_opcodes.py", "tests/recorded/mma", "tests/recorded/wgmma", "tests/recorded/matrix",
    "tests/recorded/tensor_maps", "tests/recorded/textures", "tests/recorded/profile", "tests/recorded/clusters",
    "tests/attack/test_bounds.py", "tests/attack/test_loops.py", "tests/property/test_race_law.py",
    "tests/property/test_grid_race_law.py", "tests/property/test_flag_race_law.py",
    "tests/property/test_provenance_law.py", "tests/property/test_profile_laws.py",
    "tests/property/test_memory_model_law.py", "tests/property/test_poison_law.py",
    "tests/property/test_interpreter_law.py",
)  # fmt: skip
TESTS: Final = {
    "machine/semantics": _MACHINE, "machine/runtime": _MACHINE, "machine/codegen": _MACHINE, "machine/tensor": _MACHINE,
    "fragments": ("tests/unit/fragments", "tests/property/test_fragment_laws.py",
                  "tests/property/test_fragment_execution.py", "tests/recorded/matrix", "tests/recorded/mma",
                  "tests/recorded/wgmma", "tests/unit/machine_tensor"),
    "checker": ("tests/unit/checker", "tests/property/test_corpus.py", "tests/property/test_isa_corpus.py",
                "tests/property/test_isa_opcode_cases.py", "tests/recorded/ptxas", "tests/spec"),
    "diagnosis": ("tests/diagnosis",),
    "comparison": ("tests/unit/comparison", "tests/property/test_difference_patterns.py",
                   "tests/diagnosis/test_diagnose.py"),
}  # fmt: skip
"""Of each area, the tests that its mistakes are tried with."""

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


def sample(size: int, seed: int, areas: tuple[str, ...] = AREAS) -> list[tuple[str, Mutant]]:
    """`size` mistakes, spread evenly over areas: the same ones for a seed, as long as the sources are the same.

    Areas take turns, and a larger count adds to those of a smaller one: whatever is tried first is a sample.
    """
    drawn: list[list[tuple[str, Mutant]]] = []
    for number, area in enumerate(areas):
        known = mutants_in(area)
        share = size // len(areas) + (number < size % len(areas))
        order = random.Random(f"{seed} {area}").sample(known, len(known))
        drawn.append([(area, one) for one in order[:share]])
    return [one for each in zip_longest(*drawn) for one in each if one is not None]


@dataclass(frozen=True)
class Reach:
    """Which tests reach what.

    Args:
        seconds: Every test that passes, by its node id, and how long it takes.
        lines: By file below the package and line, the tests that run it; lines that imports alone run have no tests.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]

    def tests_for(self, mutant: Mutant, patience: float) -> list[str]:
        """The tests to try a mistake with, `patience` seconds of them at most: its line's before its file's.

        Of those, first cheap ones and ones from files of which many tests reach it.
        """
        lines = self.lines.get(mutant.path, {})
        near = {test for test in lines.get(mutant.line, ()) if test in self.seconds}
        far = {test for tests in lines.values() for test in tests if test in self.seconds} - near
        chosen: list[str] = []
        opened: set[str] = set()
        left = patience
        for test in [*self._best_first(near), *self._best_first(far or self.seconds.keys() - near)]:
            left -= self.seconds[test] + (0 if _file_of(test) in opened else _OPENED)
            if left < 0:
                break
            opened.add(_file_of(test))
            chosen.append(test)
        return chosen

    def files_for(self, mutant: Mutant) -> list[str]:
        """Test files of which some test reaches a mistake's line; if there are none, its file."""
        lines = self.lines.get(mutant.path, {})
        near = {_file_of(test) for test in lines.get(mutant.line, ()) if test in self.seconds}
        return sorted(near or {_file_of(test) for tests in lines.values() for test in tests if test in self.seconds})

    def _best_first(self, tests: AbstractSet[str]) -> list[str]:
        reaching = Counter(map(_file_of, tests))

        def price(test: str) -> tuple[float, str]:
            file = _file_of(test)
            return (self.seconds[test] + _LEAST) * self._sizes[file] / reaching[file], test

        return sorted(tests, key=price)

    @cached_property
    def _sizes(self) -> Counter[str]:
        return Counter(map(_file_of, self.seconds))


_OPENED: Final = 0.2  # seconds that it takes to import a test file
_LEAST: Final = 0.02  # seconds that even a quick test takes


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def group(area: str) -> str:
    """The areas that are tried with the same tests, as one word."""
    return "machine" if TESTS[area] is _MACHINE else area


_OBJECTS: Final = """

_compile_here = compile_here


def compile_here(ir: str, level: int) -> bytes:
    import hashlib, os, pathlib
    name = hashlib.sha256(f"{{host()}} {{level}} {{ir}}".encode()).hexdigest()
    file = pathlib.Path({folder!r}) / name
    if not file.exists():
        new = file.with_suffix(f".{{os.getpid()}}")
        new.write_bytes(_compile_here(ir, level))
        new.replace(file)
    return file.read_bytes()
"""
_NATIVES: Final = """

_linked, _link, _asked = linked, link, set()


def _tell(names):
    import os, pathlib
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    new = {{(test, name) for name in names}} - _asked
    if test and new:
        _asked.update(new)
        with (pathlib.Path({folder!r}) / str(os.getpid())).open("a", encoding="utf-8") as file:
            file.writelines(f"{{one}}\\t{{name}}\\n" for one, name in new)


def linked(name, *more, **named):
    _tell([name])
    return _linked(name, *more, **named)


def link(parts, **named):
    _tell(parts)
    return _link(parts, **named)
"""


def copied(folder: Path, objects: Path, natives: Path | None = None) -> Path:
    """A copy of `src` to plant mistakes in.

    Args:
        folder: Where to; what is there goes.
        objects: Where LLVM's objects are kept by their IR: of one mistake, few differ from those of another.
        natives: Where tests tell which native functions they have loaded; None if they do not.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)  # which some tests read beside the sources
    native = folder / "src" / "ptxloom" / "machine" / "native"
    for name, text, kept_in in (("llvm", _OBJECTS, objects), ("jit", _NATIVES, natives)):
        if kept_in is not None:
            kept_in.mkdir(exist_ok=True, parents=True)
            with (native / f"{name}.py").open("a", encoding="utf-8") as file:
                file.write(text.format(folder=str(kept_in.absolute())))
    compileall.compile_dir(folder / "src", quiet=2)
    return folder


def measured(folder: Path, processes: int, area: str, spend: float) -> Reach:
    """Run an area's tests once under coverage, with a copy that has no mistake.

    Of a test file, tests are run as long as `spend` seconds of a processor pay for them. Tests that fail are left out:
    they would kill every mistake.
    """
    copy = folder / f"measured-{group(area)}"
    natives = copy / "natives"
    copied(copy, folder / "objects", natives)
    report, data = copy / "report.xml", copy / "coverage"
    command = _pytest(copy, "-n", str(processes), "--dist", "worksteal", "-m", "not sweep", f"--junitxml={report}")
    command += [f"--cov={copy / 'src' / 'ptxloom' / one}" for one in AREAS if TESTS[one] == TESTS[area]]
    command += ["--cov-context=test", "--cov-report=", f"--spend={spend}", *TESTS[area]]
    subprocess.run(command, cwd=ROOT, env=_environment(copy) | {"COVERAGE_FILE": str(data)}, check=False)
    seconds: dict[str, float] = {}
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314 - pytest has just written it
        if not any(child.tag in {"failure", "error", "skipped"} for child in case):
            file = case.get("classname", "").replace(".", "/")
            costs = [float(one.get("value", 0)) for one in case.iter("property") if one.get("name") == "cost"]
            seconds[f"{file}.py::{case.get('name')}"] = sum(costs)
    import coverage  # noqa: PLC0415 - all other uses of this file do without

    covered = coverage.CoverageData(str(data))
    covered.read()
    lines: dict[str, dict[int, list[str]]] = {}
    for file in covered.measured_files():
        by_line = covered.contexts_by_lineno(file)
        lines[str(Path(file).relative_to(copy / "src" / "ptxloom"))] = {
            line: sorted({one.partition("|")[0] for one in contexts if one}) for line, contexts in by_line.items()
        }
    command = [sys.executable, str(ROOT / "tools" / "native_reach.py"), str(natives)]
    told = subprocess.run(command, env=_environment(copy), check=True, capture_output=True).stdout
    for path, functions in json.loads(told).items():
        for first, end, tests in functions:
            for line in range(first, end):
                lines.setdefault(path, {})[line] = tests
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
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPATH": path,
        "PTXLOOM_CACHE": "",  # what is kept of a package with another mistake is of no use
    }


def _pytest(copy: Path, *arguments: str) -> list[str]:
    plugins = ["-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:benchmark"]
    return [sys.executable, "-m", "pytest", "-q", *plugins, "-o", f"pythonpath={copy / 'src'} tests", *arguments]


class Outcome(NamedTuple):
    """What became of a mistake.

    Args:
        word: `killed` by a test that failed; `crashed` if the process of the tests died; `endless` if they took many
            times the processor's time that they take without a mistake, and `stuck` if they waited and took none;
            `lived` if all passed; `unclear` if pytest could not run, or if its process ends without a mistake, too;
            `nothing` if a word says that it changes nothing; `untried` if there was no time left.
        killer: The test that failed; empty if no test did, or if its modules could not even be imported.
        seconds: Of a processor, that it took to try.
    """

    word: str
    killer: str = ""
    seconds: float = 0.0


_GLANCE: Final = 6.0  # seconds of tests that see most mistakes; the others are tried with all that patience allows
_TOO_LONG: Final = 30.0  # seconds of a processor besides three times what the tests take: their imports, LLVM's work
_MOMENTS: Final = count(1)  # when mistakes are planted, as Python sees it: it keeps what it compiles by that, and size
_STILL: Final = 300.0  # seconds without a tenth of a second of work, after which nothing more is expected
_MOST_FAULTY: Final = 5  # tests that fail without a mistake, after which no more are left out


def outcome(mutant: Mutant, copy: Path, reach: Reach, patience: float) -> Outcome:
    """Try a mistake in a copy, which is left as it was.

    First with a few tests; then with all that patience allows; then with what `measured` left of their files, too.
    """
    glance = reach.tests_for(mutant, min(_GLANCE, patience))
    others = [test for test in reach.tests_for(mutant, patience) if test not in set(glance)]
    whole = _cases_of(reach.files_for(mutant), patience)
    spent = 0.0
    for tests, cost in ((glance, _GLANCE), (others, patience), (whole, patience)):
        if tests:
            found = _tried(mutant, copy, tests, cost)
            spent += found.seconds
            if found.word != "lived":
                return found._replace(seconds=spent)
    return Outcome("lived", seconds=spent)


def _tried(mutant: Mutant, copy: Path, tests: list[str], cost: float) -> Outcome:
    """What tests that cost some seconds say of a mistake, without those that fail where there is none, too."""
    bound = _TOO_LONG + 3 * cost
    spent = 0.0
    for _ in range(_MOST_FAULTY):
        with _mistake(mutant, copy):
            found = asked(copy, tests, bound)
            if found.word == "unclear":  # as some cases have other names, or are not there
                tests = _cases_of(sorted(set(map(_file_of, tests))), cost)
                found = asked(copy, tests, bound)
        spent += found.seconds
        if found.word == "lived":
            return found._replace(seconds=spent)
        plain = _without(copy, tests, found, bound)
        spent += plain.seconds
        if plain.word == "lived":  # pytest cannot even start where no module can be imported
            word, killer = ("killed", "") if found.word == "unclear" else (found.word, found.killer)
            return Outcome(word, killer, spent)
        if found.word == "unclear":
            break
        if not found.killer:
            break
        listed = found.killer in tests
        tests = [test for test in tests if test != found.killer] if listed else [f"--deselect={found.killer}", *tests]
        if not tests:
            return Outcome("lived", seconds=spent)
    return Outcome("unclear", "fails without a mistake, too", spent)


def _without(copy: Path, tests: list[str], found: Outcome, bound: float) -> Outcome:
    """What tests that see a mistake say of a copy that has none: all up to the one that failed, where it is known."""
    if found.word == "killed" and found.killer in tests:
        return asked(copy, tests[: tests.index(found.killer) + 1], bound)
    known = found.word == "killed" and "::" in found.killer
    plain = asked(copy, [found.killer], bound) if known else Outcome("unclear")
    return asked(copy, tests, bound) if plain.word == "unclear" else plain


@contextlib.contextmanager
def _mistake(mutant: Mutant, copy: Path) -> Generator[None]:
    """A mistake, planted in a copy that is left as it was."""
    file = copy / "src" / "ptxloom" / mutant.path
    right, before = file.read_bytes(), file.stat().st_mtime_ns
    file.write_bytes(mutant.planted(right))
    os.utime(file, (moment := next(_MOMENTS), moment))
    try:
        yield
    finally:
        file.write_bytes(right)
        os.utime(file, ns=(before, before))


def _cases_of(files: list[str], seconds: float) -> list[str]:
    """What to ask pytest for: cases of test files, as many as some seconds pay for."""
    return [f"--spend={seconds / len(files)}", "-m", "not sweep", *files] if files else []


def asked(copy: Path, tests: list[str], bound: float) -> Outcome:
    """What tests say of a copy, until the first fails, with `bound` seconds of a processor."""
    arguments, said = copy / "tests.txt", copy / "said.txt"
    arguments.write_text("".join(f"{test}\n" for test in tests), encoding="utf-8")
    with said.open("wb") as output:
        process = subprocess.Popen(
            _pytest(copy, "-x", "-n", "0", f"@{arguments}"),
            cwd=ROOT, env=_environment(copy), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        word, spent = _watched(process, bound)
    if word:
        return Outcome(word, seconds=spent)
    if process.returncode < 0:
        return Outcome("crashed", seconds=spent)
    text = said.read_text(encoding="utf-8", errors="replace")
    killer = re.search(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - |$)", text, re.MULTILINE)
    if killer is None and process.returncode:
        return Outcome("unclear", text[-400:], spent)
    return Outcome("killed" if killer else "lived", killer.group(1) if killer else "", spent)


def _watched(process: subprocess.Popen[bytes], bound: float) -> tuple[str, float]:
    """Wait for a process and its children: what is wrong with how long they take, and seconds of a processor.

    The clock says nothing here: other work makes a machine slow.
    """
    spent, worked = 0.0, time.monotonic()
    word = ""
    while not word:
        now = _processor_seconds(process.pid)
        if now > spent + 0.1:
            spent, worked = now, time.monotonic()
        if process.poll() is not None:
            break
        word = "endless" if spent > bound else "stuck" if time.monotonic() - worked > _STILL else ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return word, spent


def _processor_seconds(session: int) -> float:
    """What the processes of a session have taken, those that have ended included (Linux)."""
    ticks = 0
    for each in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = each.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Results:
    """What became of mistakes, in a file, one a line: who is interrupted goes on from there."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._found: dict[Told, Outcome] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                told, found = json.loads(line)
                self._found[Told(*told)] = Outcome(*found)

    def find(self, told: Told, make: Callable[[], Outcome], *, again: bool) -> Outcome:
        """What became of a mistake: what is known, or what is found now; `again`, if it lived."""
        known = self._found.get(told)
        if known is not None and not (again and known.word in {"lived", "unclear"}):
            return known
        found = make()
        if found.word == "untried":
            return found
        with self._lock, self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps([told, found]) + "\n")
            self._found[told] = found
        return found


def main(arguments: list[str] | None = None) -> int:
    """The command: 1 if more than a tenth of those that were tried lived."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--area", action="append", choices=AREAS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="mistakes tried side by side")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build" / "mutants", help="where all that is found is kept"
    )
    parser.add_argument("--patience", type=float, default=40, help="seconds of tests that a mistake is tried with")
    parser.add_argument("--spend", type=float, default=0.3, help="seconds of a processor for each test file")
    parser.add_argument("--begin-for", type=float, default=float("inf"), help="seconds, after which none is begun")
    parser.add_argument("--again", action="store_true", help="try those again that lived")
    options = parser.parse_args(arguments)
    end = time.monotonic() + options.begin_for
    nothing = words()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    areas = tuple(options.area or AREAS)
    results = Results(folder / "results.jsonl")
    reaches = _reaches(folder, options.jobs, areas, options.spend)

    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    drawn = sample(options.count, options.seed, areas)
    copies: queue.Queue[Path] = queue.Queue()

    def tried(drawn: tuple[str, Mutant]) -> Outcome:
        area, mutant = drawn
        told = mutant.told((ROOT / "src" / "ptxloom" / mutant.path).read_bytes())
        if told in nothing:
            return Outcome("nothing")
        copy = copies.get()
        try:
            return results.find(
                told,
                lambda: _in_time(end) or outcome(mutant, copy, reaches[area], options.patience),
                again=options.again,
            )
        finally:
            copies.put(copy)

    with tempfile.TemporaryDirectory(dir=folder) as at, ThreadPoolExecutor(options.jobs) as pool:
        for job in range(options.jobs):
            copies.put(copied(Path(at) / str(job), folder / "objects"))
        for (area, mutant), found in zip(drawn, pool.map(tried, drawn), strict=True):
            counts[area][found.word] += 1
            place = f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}"
            print(f"{found.word:8} {place}  {found.killer}".rstrip(), flush=True)
    total = sum(counts.values(), Counter[str]())
    for area in areas:
        print(f"{area:18} {_said(counts[area])}")
    print(_said(total))
    return int(total["lived"] * 10 > total.total() - total["nothing"] - total["untried"])


def _in_time(end: float) -> Outcome | None:
    return Outcome("untried") if time.monotonic() > end else None


def _said(counts: Counter[str]) -> str:
    return ", ".join(f"{times} {word}" for word, times in sorted(counts.items()))


def _reaches(folder: Path, jobs: int, areas: tuple[str, ...], spend: float) -> dict[str, Reach]:
    """What reaches each area: as it is kept in a folder, or measured and kept there.

    The tests of several areas run side by side, in twice as many processes as there are jobs, by the number of areas.
    """
    files = {area: folder / f"reach-{group(area)}.json" for area in areas}
    alike = Counter(map(group, areas))
    wanted = {group(area): area for area in areas if not files[area].exists()}

    def measure(area: str) -> None:
        processes = max(1, 2 * jobs * alike[group(area)] // len(areas))
        kept(measured(folder, min(jobs, processes), area, spend), files[area])

    with ThreadPoolExecutor(len(AREAS)) as pool:
        list(pool.map(measure, wanted.values()))
    known = {file: read(file) for file in set(files.values())}
    return {area: known[files[area]] for area in areas}


if __name__ == "__main__":
    sys.exit(main())
