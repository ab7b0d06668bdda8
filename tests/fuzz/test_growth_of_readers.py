"""What every reader does grows with its input: four times as much takes at most five times the calls."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import ptxloom as pl
from fuzz.counted import HEAD, assert_linear, body, numbered
from ptxloom.checker import check
from ptxloom.difference.comparing import compare
from ptxloom.files.errors import UnreadableFile
from ptxloom.files.fatbins import ptx_in
from ptxloom.files.packed import lz4, zstandard
from ptxloom.files.packed.damage import DamagedError
from ptxloom.files.reading import texts, texts_of
from ptxloom.layout import parse as parse_layout
from ptxloom.lsp import edits, outline, tokens
from ptxloom.lsp.document import Document
from ptxloom.machine.launch.printing import Printed
from ptxloom.settings import found, git
from ptxloom.settings.patterns import Patterns
from ptxloom.syntax import instructions, parse
from ptxloom.views.core.line_diffs import unified
from unit.files.fatbin_writer import cubin, entry, fatbin

if TYPE_CHECKING:
    from collections.abc import Callable

INSIDE: Final[dict[str, Callable[[int], str]]] = {
    "instructions": numbered("add.s32 %r1, %r1, #;\n"),
    "labels": numbered("L#:\n"),
    "branches": numbered("L#:\n@%p1 bra L#;\n"),
    "branches to the end": lambda n: numbered("@%p1 bra END;\n")(n) + "END:\n",
    "barriers behind branches to the end": lambda n: (
        "mov.u32 %r1, %ctaid.x;\n" + numbered("setp.lt.s32 %p1, %r1, #;\n@%p1 bra END;\nbar.sync 0;\n")(n) + "END:\n"
    ),
    "branches that part lanes": lambda n: (
        "mov.u32 %r1, %tid.x;\nsetp.lt.s32 %p1, %r1, 3;\n" + numbered("@%p1 bra END;\nbar.sync 0;\n")(n) + "END:\n"
    ),
    "branches that part lanes inside each other": lambda n: (
        "mov.u32 %r1, %tid.x;\nsetp.lt.s32 %p1, %r1, 3;\n"
        + numbered("@%p1 bra M#;\n")(n)
        + "bar.sync 0;\n"
        + "".join(f"M{k}:\nadd.s32 %r2, %r2, 1;\n" for k in reversed(range(n)))
    ),
    "undeclared registers": numbered("mov.b32 %x#, %r1;\n"),
    "unknown opcodes": numbered("foo# %r1;\n"),
    "wrong qualifiers": numbered("add.s3# %r1, %r1, 1;\n"),
    "wrong types": numbered("add.s32 %d1, %d1, #;\n"),
    "declarations": numbered(".reg .b32 %s#;\n"),
    "declarations again": numbered(".reg .b32 %s;\n"),
    "locals": numbered(".local .b32 l#;\n"),
    "shared": numbered(".shared .b32 s#;\n"),
    "comments that silence": numbered("add.s32 %d1, %d1, #; // ptxloom: ignore[operand-type]\n"),
    "comments that silence nothing": numbered("// ptxloom: ignore[no-such-rule]\n"),
    "comments that stand alone": numbered("// ptxloom: ignore\n"),
    "lines": numbered(".loc 1 # 1\n"),
    "scopes beside each other": numbered("{ .reg .b32 %t; mov.b32 %t, #; }\n"),
    "calls": numbered("call nowhere#, ();\n"),
    "barriers": numbered("bar.sync #;\n"),
    "waits": numbered("cp.async.commit_group;\ncp.async.wait_group #;\n"),
    "loads": numbered("ld.param.u64 %d1, [p+#];\n"),
    "loops": numbered("L#:\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, #;\n@%p1 bra L#;\n"),
    "tables": lambda n: "T: .branchtargets " + ", ".join(f"L{k}" for k in range(n)) + ";\n" + numbered("L#:\n")(n),
    "pragmas": numbered('.pragma "nounroll";\n'),
}
OUTSIDE: Final[dict[str, Callable[[int], str]]] = {
    "variables": numbered(".global .b32 g#;\n"),
    "variables again": numbered(".global .b32 g;\n"),
    "functions": numbered(".func f#() { ret; }\n"),
    "functions that call the next": lambda n: (
        numbered(".func f#();\n")(n) + "".join(f".func f{k}() {{ call f{k + 1}, (); ret; }}\n" for k in range(n - 1))
    ),
    "calls by one list": lambda n: (
        numbered(".func f#(.param .b32 a) { ret; }\n")(n)
        + ".entry e() {\n.reg .b64 %f;\n.reg .b32 %r;\nmov.b32 %r, 0;\nmov.u64 %f, f0;\n"
        + f"T: .calltargets {', '.join(f'f{k}' for k in range(n))};\n"
        + numbered("call %f, (%r), T;\n")(n)
        + "ret;\n}\n"
    ),
    "kernels": numbered(".entry e#() { ret; }\n"),
    "files": numbered('.file # "a#.cu"\n'),
    "aliases": numbered(".func f#() { ret; }\n.alias a#, f#;\n"),
    "parameters": lambda n: ".entry e(" + ", ".join(f".param .b32 q{k}" for k in range(n)) + ") { ret; }\n",
    "initial values": lambda n: ".global .b32 g[] = {" + ", ".join(map(str, range(n))) + "};\n",
    "names in initial values": lambda n: ".global .b32 a;\n.global .u64 g[] = {" + ", ".join(["a"] * n) + "};\n",
}


def module(text: str) -> pl.Module:
    return parse(text, "k.ptx")


def checked(make: Callable[[int], str], around: Callable[[str], str], count: int) -> Callable[[], object]:
    text = around(make(count))
    return lambda: check(module(text))


def unpacked(data: bytes) -> None:
    with contextlib.suppress(DamagedError):
        lz4.decompress(data, 1 << 20)


def raw_blocks(count: int) -> bytes:
    """A frame of Zstandard whose blocks hold a byte each, as it is."""
    blocks = [(1 << 3 | (number == count - 1)).to_bytes(3, "little") + b"x" for number in range(count)]
    return b"\x28\xb5\x2f\xfd\x00\x38" + b"".join(blocks)


def archive(member: bytes, count: int) -> bytes:
    """What `ar` writes: each member behind 60 characters that say its name and size."""
    head = f"{'k.o/':16}{0:<12}{0:<6}{0:<6}{644:<8}{len(member):<10}`\n".encode()
    return b"!<arch>\n" + (head + member + b"\n" * (len(member) % 2)) * count


def nothing_in(data: bytes) -> None:
    with pytest.raises(UnreadableFile):
        texts_of(data, "k.a")


def compared(make: Callable[[int], str], count: int) -> Callable[[], object]:
    one, other = module(body(make(count))), module(body(make(count).replace("1, ", "2, ").replace("add", "sub")))
    return lambda: compare(one, other)


def edited(make: Callable[[int], str], count: int) -> Callable[[], object]:
    """What an editor asks of a text that it opens."""

    def ask() -> None:
        document = Document(body(make(count)))
        assert outline.outline(document)
        tokens.encode(document, tokens.tokens(document))
        for some in (outline.folds(document), edits.actions(document, 0, 100), edits.layout(document)):
            list(some)

    return ask


EDITED: Final = ("instructions", "labels", "declarations", "locals", "calls", "scopes beside each other")
READERS: Final[dict[str, Callable[[int], Callable[[], object]]]] = {
    **{f"check {name}": partial(checked, make, body) for name, make in INSIDE.items()},
    **{f"check {name}": partial(checked, make, HEAD.__add__) for name, make in OUTSIDE.items()},
    "query": lambda n: lambda: list(instructions(module(body(INSIDE["instructions"](n))), "add.*")),
    "layout": lambda n: lambda: parse_layout(f"({','.join(['2'] * (n // 20))}):({','.join(['1'] * (n // 20))})"),
    "lz4": lambda n: lambda: unpacked(b"\x1fa\x01\x00" * n),
    "zstandard": lambda n: lambda: zstandard.decompress(raw_blocks(n), n),
    **{f"diff {name}": partial(compared, INSIDE[name]) for name in EDITED},
    **{f"editor {name}": partial(edited, INSIDE[name]) for name in EDITED},
    "printf": lambda n: lambda: Printed(1 << 16).call(b"%d " * n, bytes, lambda _at, _most: b""),
    "patterns": lambda n: lambda: Patterns.of(["*a"] * n).says("b"),
    "lines that are told apart": lambda n: lambda: unified("a\n" * n, "a\nb\n" * n, "one", "other"),
    "lines of which many are equal": lambda n: (
        lambda: unified(numbered("x#\nsame\n")(n), numbered("y#\nsame\n")(n), "one", "other")
    ),
    "fatbins": lambda n: lambda: ptx_in(fatbin(*[entry(b".target sm_80\n")] * n), "k.fatbin"),
    "fatbins beside each other": lambda n: lambda: ptx_in(fatbin(entry(b".target sm_80\n")) * n, "k.a"),
    "archives": lambda n: lambda: texts_of(archive(fatbin(entry(b".target sm_80\n")), n), "k.a"),
    "archives of machine code": lambda n: (
        lambda: texts_of(archive(fatbin(entry(cubin(b".version 8.0\0.target sm_80\0"), kind=2)), n), "k.a")
    ),
    "archives without members": lambda n: lambda: nothing_in(archive(b"", n)),
    "what looks like fatbins": lambda n: lambda: ptx_in(fatbin()[:4] * n, "k.a"),
    "cubins": lambda n: lambda: ptx_in(fatbin(*[entry(cubin(b".version 8.0\0.target sm_80\0"), kind=2)] * n), "k"),
    "a path that patterns cover": lambda n: lambda: Patterns.of(["b"]).cover("a/" * n),
}


@pytest.mark.sample(every=3)
@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
@pytest.mark.parametrize("name", READERS)
def test_calls_grow_with_what_is_read(name: str) -> None:
    assert_linear(READERS[name])


@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
def test_a_folder_costs_as_much_as_its_files(tmp_path: Path) -> None:
    """Such as one of Triton's cache."""

    def make(count: int) -> Callable[[], object]:
        folder = tmp_path / str(count)
        folder.mkdir()
        for number in range(count):
            (folder / f"k{number}.ptx").write_text(HEAD)
        return lambda: texts(folder)

    assert_linear(make)


@pytest.mark.parametrize("repository", ["", "d/.git"])
def test_each_folder_above_others_is_looked_into_once(
    tmp_path: Path, repository: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What settings and patterns of git say of each folder of a search."""
    asked: Counter[Path] = Counter()

    def stat(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        asked[path] += 1
        return usual(path, follow_symlinks=follow_symlinks)

    if repository:
        (tmp_path / repository).mkdir(parents=True)
    folders = [tmp_path.joinpath(*["d"] * depth) for depth in range(200)]
    folders[-1].mkdir(parents=True, exist_ok=True)
    usual = Path.stat
    monkeypatch.setattr(Path, "stat", stat)
    found.forget()
    git.forget()
    for folder in folders:
        found.settings_for(folder)
        git.ignored_by(folder / "k.ptx", folder=False)
    assert asked[tmp_path / "d" / ".git"] >= 1
    assert max(asked[folder / name] for folder in folders for name in (".git", "ptxloom.toml", ".gitignore")) <= 3


PATTERNS: Final = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from ptxloom.machine.launch.printing import Printed
from ptxloom.settings.patterns import Patterns
zeros = b"%0" + b"0" * 200_000
odd = b"%" * 400_001, b"%." * 200_000, b"% +-#0" * 60_000
for template in (zeros + b"." + zeros[1:] + b"?", zeros + b"?", zeros * 20, *odd):
    Printed(1 << 10).call(template, bytes, lambda at, most: b"")
for line, path in (
    ("*a" * 100 + "b", "a" * 255),
    ("**/a*" * 100 + "b", "/".join(["a" * 255] * 16)),
    ("**/*a*/" * 100 + "b", "a/" * 2047 + "a"),
    ("*?" * 100 + "b", "a" * 255),
    ("a" + " " * 400_000 + "b", "a"),
    ("[" + "[:" * 200_000, "a"),
    ("[" + "a-" * 200_000, "a"),
    ("*" * 400_000, "a"),
):
    Patterns.of([line]).cover(path)
"""


def test_no_pattern_gives_back_what_it_took_again_and_again() -> None:
    """Work that is hidden in regular expressions: hours, if it grows with the square."""
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    assert subprocess.run([sys.executable, "-c", PATTERNS], env=environment, check=False).returncode == 0
