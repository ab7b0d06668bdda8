"""Code kept on disk is what was compiled, for what is compiled, or it is made again: no damage is ever run."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from machine.small_kernels import HEAD, REGISTERS, entry
from ptxloom import disk_cache
from ptxloom.source import Source
from ptxloom.syntax import parse, tree
from ptxloom.syntax.module import Module

if TYPE_CHECKING:
    from collections.abc import Callable

CONTENT = bytes(range(40))
SOURCES = Path(pl.__file__).parents[1]
START = "mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [out]; mad.wide.u32 %rd0, %r0, 4, %rd1;"
RUN = """
import numpy as np, ptxloom as pl
text = '''{text}'''
out = np.zeros(64, np.uint32)
pl.kernel(pl.parse(text), "k").launch(1, 64, [out], threads=1)
print(out.tolist())
"""


def kernel_text(body: str) -> str:
    return f"{HEAD}.visible .entry k(.param .u64 out) {{ {REGISTERS} {START} {body} ret; }}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def asked(key: str = "key", content: bytes = CONTENT) -> tuple[bytes, bool]:
    """What the cache gives for a key, and whether it had to be made."""
    made: list[bytes] = []

    def make() -> bytes:
        made.append(content)
        return content

    return disk_cache.cached(key, make), bool(made)


def test_an_entry_is_made_once(folder: Path) -> None:
    assert [asked(), asked(), asked("other")] == [(CONTENT, True), (CONTENT, False), (CONTENT, True)]
    assert len(entries(folder)) == 2


def top(path: Path) -> str:
    """The package, or the module, in which a file lies."""
    return path.relative_to(SOURCES / "ptxloom").parts[0].removesuffix(".py")


def test_every_source_that_anything_kept_is_made_from_belongs_to_the_key() -> None:
    root = SOURCES / "ptxloom"
    sources = {path for path in root.rglob("*") if path.suffix in {".py", ".toml"}}
    named = {path for path in sources if top(path) not in disk_cache._NO_PART}
    assert {Path(entry.path) for entry in disk_cache._sources()} == named
    assert {root / "__init__.py", root / "isa/resolution/forms.py", root / "isa/data/add.toml"} < named


def test_what_is_left_out_of_the_key_stands_above_all_that_keep_something() -> None:
    """So nothing that is kept is made by it: who keeps anything imports only what stands below."""
    layers = tomllib.loads((SOURCES.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = (one["layers"] for one in layers["contracts"] if one["id"] == "layers")
    above = {name for row in layers[: layers.index("machine")] for name in row.split(" | ")}
    assert disk_cache._NO_PART - {"__pycache__"} < above
    keeps = re.compile(
        r"import .*\b(disk_cache|jit)\b|from ptxloom\.(disk_cache|machine\.native\.jit) import (?!cache_folder( |$))",
        re.MULTILINE,
    )
    keepers = {
        top(path) for path in (SOURCES / "ptxloom").rglob("*.py") if keeps.search(path.read_text(encoding="utf-8"))
    }
    assert {"machine", "checker"} <= keepers
    assert not keepers & disk_cache._NO_PART


@pytest.mark.parametrize("changed", ["machine/semantics/atomics.py", "isa/data/add.toml", "checker/walk.py"])
def test_code_of_a_changed_source_is_made_again(tmp_path: Path, changed: str) -> None:
    """As where an editor writes into a file of an installed package: its size may stay."""
    package = tmp_path / "ptxloom"
    shutil.copytree(SOURCES / "ptxloom", package, ignore=shutil.ignore_patterns("__pycache__", "web", "cuda_driver"))
    program = "from ptxloom import disk_cache; print(disk_cache._name('key'))"

    def name() -> str:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    before = name()
    assert name() == before
    with (package / changed).open("r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(first)
    assert name() != before


def test_no_flipped_bit_and_no_cut_is_believed(folder: Path) -> None:
    asked()
    (path,) = entries(folder)
    whole = path.read_bytes()
    damaged = [whole[:size] for size in range(len(whole))] + [whole + b"\0", whole + whole]
    damaged += [
        whole[: bit // 8] + bytes([whole[bit // 8] ^ 1 << bit % 8]) + whole[bit // 8 + 1 :]
        for bit in range(8 * len(whole))
    ]
    for bad in damaged:
        path.write_bytes(bad)
        assert asked() == (CONTENT, True)
        assert path.read_bytes() == whole


def test_the_entry_of_another_key_is_not_believed(folder: Path) -> None:
    asked("one", b"first")
    (path,) = entries(folder)
    asked("two", b"second")
    (other,) = (found for found in entries(folder) if found != path)
    other.write_bytes(path.read_bytes())
    assert asked("two", b"second") == (b"second", True)


@pytest.mark.parametrize("limit", [0, 1, 60, 100])
def test_a_full_disk_leaves_nothing_behind(folder: Path, limit: int) -> None:
    asked("before")
    before = entries(folder)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        found = asked("after", CONTENT * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert found == (CONTENT * 100, True)
    assert entries(folder) == before


def a_file(path: Path) -> None:
    path.write_text("")


def a_folder_of_files(path: Path) -> None:
    path.mkdir()
    for first in range(256):
        (path / f"{first:02x}").write_text("")


@pytest.mark.parametrize("make", [a_file, a_folder_of_files])
def test_where_nothing_can_be_written_all_is_made(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder)
    before = entries(folder)
    assert [asked(), asked()] == [(CONTENT, True)] * 2
    assert entries(folder) == before


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXLOOM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "~nobody-is-called-so/cache")
    assert disk_cache.cache_folder() is None
    assert [asked(), asked()] == [(CONTENT, True)] * 2


def test_writers_and_readers_at_once_see_whole_entries(folder: Path) -> None:
    program = """
import random, sys
from ptxloom import disk_cache
rng = random.Random(int(sys.argv[1]))
for _ in range(150):
    n = rng.randrange(4)
    content = bytes([n]) * 50_000
    assert disk_cache.cached(str(n), lambda: content) == content
    if rng.random() < 0.2:
        for path in disk_cache.cache_folder().rglob("*"):
            if path.is_file():
                path.unlink(missing_ok=True)
"""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(n)], env=environment, stderr=subprocess.PIPE, text=True)
        for n in range(3)
    ]
    said = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0] * 3, said
    assert len(entries(folder)) <= 4


def test_a_damaged_cache_runs_as_a_fresh_one(folder: Path) -> None:
    """Every entry that a launch uses is damaged: executed, they would end the process or change what it computes."""

    def run() -> list[int]:
        environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
        command = [sys.executable, "-c", RUN.format(text=kernel_text("st.global.u32 [%rd0], %r0;"))]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return [int(number) for number in done.stdout.strip("[]\n").split(", ")]

    assert run() == list(range(64))
    rng = random.Random(0)
    before = {path: path.read_bytes() for path in entries(folder)}
    for number, (path, whole) in enumerate(before.items()):
        at = rng.randrange(len(whole))
        flipped = whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]
        path.write_bytes((flipped, whole[:at], b"")[number % 3])
    assert run() == list(range(64))
    after = {path: path.read_bytes() for path in entries(folder)}
    assert after.keys() == before.keys()
    assert all(len(after[path]) == len(before[path]) for path in before)


def first(module: Module) -> int:
    out = np.zeros(64, np.uint32)
    pl.kernel(module, "k").launch(1, 64, [out])
    return int(out[0])


@pytest.mark.parametrize("keep_source", [True, False])
def test_a_changed_tree_runs_what_it_prints(keep_source: bool) -> None:
    old = parse(kernel_text("mov.u32 %r1, 7; st.global.u32 [%rd0], %r1;"))
    assert first(old) == 7
    for value in (42, 43):
        functions = [
            one.replace(body=one.body.replace(statements=tuple(_with(value, s) for s in one.body.statements)))
            if isinstance(one, tree.Function) and one.body is not None
            else one
            for one in old.statements
        ]
        new = Module(old.source if keep_source else Source("", "<built>"), tuple(functions))
        assert f"mov.u32 %r1, {value};" in str(new)
        assert first(new) == first(parse(str(new))) == value


def _with(value: int, statement: tree.Statement) -> tree.Statement:
    match statement:
        case tree.Instruction(opcode="mov", operands=(target, tree.Integer(value=7))):
            return statement.replace(operands=(target, tree.Integer(value)))
        case _:
            return statement


def test_what_surrounds_a_kernel_belongs_to_its_code() -> None:
    body = "ld.global.u32 %r1, [second]; call (%r2), f, (%r1); st.global.u32 [%rd0], %r2;"
    one = ".global .u32 {0} = 1; .global .u32 {1} = 2;"
    called = ".func (.reg .b32 y) f(.reg .b32 x) {{ add.u32 y, x, {0}; ret; }}\n"

    def result(names: tuple[str, str], added: int) -> int:
        before = one.format(*names) + called.format(added)
        out = np.zeros(64, np.uint32)
        text = str(entry(body, before=before).program.module)
        head, _, rest = text.partition(".visible")
        built = Module(Source("", "<built>"), parse(f"{head}.visible{rest}").statements)
        pl.kernel(built, "k").launch(1, 64, [out])
        return int(out[0])

    names = ("first", "second")
    assert [result(names, 10), result(names, 20), result(("second", "first"), 10)] == [12, 22, 11]


def test_a_built_module_has_the_grid_barrier_that_its_text_would_have() -> None:
    text = kernel_text("mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; or.b32 %r1, %r1, %r2; st.global.u32 [%rd0], %r1;")
    built = Module(Source("", "<built>"), parse(text).statements)
    assert first(built) != 0
