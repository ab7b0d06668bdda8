"""Whatever a file is, a command says so in a sentence and exits 2, or with its findings and 1; never a traceback."""

import os
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.cli import main, mistakes
from ptxloom.cli.results import output
from ptxloom.cli.verbs.reading import check
from ptxloom.cli.verbs.tooling import doctor
from ptxloom.diagnostics import PtxloomError

Run = Callable[..., Any]

FORMATS = ("full", "concise", "json", "sarif", "github")
READERS = [
    *(["check", "--output-format", f] for f in FORMATS),
    *(["inspect", "--output-format", f] for f in ("full", "json")),
    *(["parse"], ["parse", "--tree"], ["parse", "--output-format", "json"]),
    *(["fmt"], ["fmt", "--check"]),
]
GOOD = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry f()\n{\n\tret;\n}\n"

UNREADABLE = {
    "binary.ptx": (b"abc\0\1\2def", "binary file"),
    "cubin.ptx": (b"\x7fELF\2\1\1\0", "cubin"),
    "empty.ptx": (b"", "the file is empty"),
    "blank.ptx": (b" \n\t\n", "the file is empty"),
    "utf16.ptx": (".version 9.0\n".encode("utf-16"), "UTF-16"),
    "latin.ptx": (b".version 9.0 // caf\xe9\n", "not UTF-8"),
}
MALFORMED = {
    "truncated.ptx": GOOD[:-8],
    "braces.ptx": "{" * 10_000,
    "closing.ptx": "}" * 500,
    "brackets.ptx": GOOD.replace("ret;", "ld.b32 %r1, " + "[" * 10_000 + ";"),
    "vectors.ptx": GOOD.replace("ret;", "mov.b32 %r1, " + "{" * 5_000 + "}" * 5_000 + ";"),
    "line.ptx": GOOD.replace("ret;", "x" * 1_000_000),
    "prose.ptx": "This is not PTX at all. It is prose, and it goes on, and on.\n" * 20,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bad")
    for name, (data, _) in UNREADABLE.items():
        (path / name).write_bytes(data)
    for name, text in MALFORMED.items():
        (path / name).write_text(text, encoding="utf-8")
    (path / "good.ptx").write_text(GOOD, encoding="utf-8")
    (path / "nothing").mkdir()
    return path


@pytest.mark.parametrize("verb", READERS, ids=" ".join)
@pytest.mark.parametrize("name", [*UNREADABLE, "missing.ptx", "nothing"])
def test_what_cannot_be_read_is_one_sentence_and_exit_2(run: Run, folder: Path, verb: list[str], name: str) -> None:
    ran = run(*verb, str(folder / name))
    assert ran.code == 2
    (line,) = [line for line in ran.err.splitlines() if line.startswith("ptxloom: ")]
    assert name in line
    missing = {"missing.ptx": "there is no such file", "nothing": "director"}
    assert (UNREADABLE[name][1] if name in UNREADABLE else missing[name]) in line


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("verb", READERS, ids=" ".join)
@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_findings_and_exit_1(run: Run, folder: Path, verb: list[str], name: str) -> None:
    ran = run(*verb, str(folder / name))
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_one_unreadable_file_does_not_hide_the_others(run: Run, folder: Path) -> None:
    ran = run("fmt", str(folder / "missing.ptx"), str(folder / "good.ptx"))
    assert ran.code == 2
    assert "ret;" in ran.out
    assert "missing.ptx" in ran.err


def test_a_file_that_may_not_be_read(run: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret.ptx"
    secret.write_text(GOOD, encoding="utf-8")
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("this user may read everything")
    assert "ermission denied" in run("parse", str(secret)).err


def test_output_that_cannot_be_written(run: Run, folder: Path) -> None:
    for target in (folder / "no" / "such" / "out.txt", folder / "nothing"):
        ran = run("parse", str(folder / "good.ptx"), "-o", str(target))
        assert ran.code == 2
        assert ran.err.startswith("ptxloom: cannot write ")
    assert not list((folder / "nothing").iterdir())


def test_output_to_a_file_is_whole_and_plain(run: Run, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old", encoding="utf-8")
    out.chmod(0o640)
    assert run("map", "ldmatrix.m8n8.x1.b16", "-o", str(out)).out == ""
    assert out.read_text(encoding="utf-8") == run("map", "ldmatrix.m8n8.x1.b16").out
    assert out.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["out.txt"]  # noqa: PTH208 - names are what matters


def test_a_reader_that_has_seen_enough(folder: Path) -> None:
    command = f"{sys.executable} -m ptxloom parse --tree {folder / 'line.ptx'} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "cannot write" not in done.stderr
    assert done.stdout.count("\n") == 1


def test_a_closed_output(folder: Path) -> None:
    command = f"{sys.executable} -m ptxloom parse {folder / 'good.ptx'} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_a_full_disk(folder: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    for command in (f"parse {folder / 'good.ptx'} > /dev/full", f"parse {folder / 'good.ptx'} -o /dev/full"):
        whole = f"{sys.executable} -m ptxloom {command}"
        done = subprocess.run(["bash", "-c", whole], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "no space left" in done.stderr
        assert "Traceback" not in done.stderr


def test_standard_input(folder: Path) -> None:
    command = [sys.executable, "-m", "ptxloom", "parse", "-"]
    done = subprocess.run(command, input=GOOD.encode(), capture_output=True, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith(b"<stdin>: PTX 9.0, target sm_90")
    done = subprocess.run(command, input=b"\0\1", capture_output=True, check=False)
    assert done.returncode == 2
    assert b"<stdin>: this is a binary file" in done.stderr


def test_no_colour_where_it_is_not_wanted(folder: Path) -> None:
    command = [sys.executable, "-m", "ptxloom", "map", "ldmatrix.m8n8.x1.b16"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"})
    assert "\x1b" not in done.stdout


def test_what_filled_the_memory_is_gone_when_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence takes memory itself: told while the tree of a large text is held, it ends in a traceback."""

    class Tree:
        pass

    held: list[weakref.ref[Tree]] = []
    told: list[tuple[str, bool]] = []

    def run(_options: object) -> None:
        tree = Tree()
        held.append(weakref.ref(tree))
        raise MemoryError

    def talk(text: str) -> None:
        told.append((text, held[0]() is None))

    monkeypatch.setattr(check, "run", run)
    monkeypatch.setattr(output, "talk", talk)
    assert main(["check", "a.ptx"]) == 2
    assert told == [("ptxloom: there is not enough memory for this; give it more, or a smaller input", True)]


def test_what_a_process_may_not_have_is_a_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory, also where it ends while something else is being said, and threads; other errors are ours."""

    def raising(error: BaseException) -> Callable[..., None]:
        def raise_(*_: object) -> None:
            raise error

        return raise_

    for error, said in (
        (MemoryError(), "not enough memory"),
        (RuntimeError("can't start new thread"), "may not start as many threads"),
    ):
        monkeypatch.setattr(doctor, "run", raising(error))
        ran = run("doctor")
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert said in ran.err
    monkeypatch.setattr(doctor, "run", raising(PtxloomError("something")))
    monkeypatch.setattr(mistakes, "in_words_of_options", raising(MemoryError()))
    ran = run("doctor")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "not enough memory" in ran.err
    monkeypatch.setattr(doctor, "run", raising(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        run("doctor")
