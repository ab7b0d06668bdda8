"""What ptxloom opens by itself may be a pipe, a device or without end: it is asked first, and read up to a size."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import ptxloom as pl
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_SETTINGS, content, content_of, named

if TYPE_CHECKING:
    from collections.abc import Callable

PTX: Final = ".version 8.0\n.target sm_80\n.address_size 64\n"
LIMITED: Final = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 31, 1 << 31))
signal.alarm(100)
from ptxloom.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""A command that may have two gigabytes, and is ended if it waits for a pipe."""


def ran(*words: str | Path, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    command = [sys.executable, "-c", LIMITED, *map(str, words)]
    return subprocess.run(command, input=given, capture_output=True, env=environment, check=False)


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


ODD: Final = pytest.mark.parametrize("make", [os.mkfifo, zeros, huge], ids=["a pipe", "a device", "a terabyte"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git" / "info").mkdir(parents=True)
    (tmp_path / "k.ptx").write_text(PTX, encoding="utf-8")
    return tmp_path


@ODD
@pytest.mark.parametrize("name", [".gitignore", ".git/info/exclude", "ptxloom.toml", "pyproject.toml"])
def test_what_a_search_comes_by(project: Path, make: Callable[[Path], None], name: str) -> None:
    make(project / name)
    done = ran("check", project)
    assert done.stderr.count(b"\n") <= 1, done.stderr.decode()
    if make is huge:
        assert done.returncode == 2
        assert f"{name}: " in done.stderr.decode()
        assert "more than 1,048,576 bytes" in done.stderr.decode()
    else:
        assert done.returncode == 0


@ODD
def test_what_lies_in_a_folder_or_beside_a_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF")
    make(tmp_path / "k.ptx")
    for named_ in (tmp_path / "k.cubin", tmp_path):
        done = ran("parse", named_)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr.decode()


@ODD
def test_a_profile_beside_a_document(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "k.profile.json")
    asked = "import sys; from ptxloom.lsp import conflicts; print(conflicts._rows(sys.argv[1]))"
    command = [sys.executable, "-c", f"import signal; signal.alarm(100); {asked}", str(tmp_path / "k.ptx")]
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    assert subprocess.check_output(command, env=environment) == b"[]\n"


@pytest.mark.parametrize("words", [("check",), ("parse",), ("check", "--config", "/dev/zero"), ("run",)])
def test_what_has_no_end_is_one_sentence(project: Path, words: tuple[str, ...]) -> None:
    named_ = "k.ptx" if "--config" in words else "/dev/zero"
    done = ran(*words, project / named_)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1), done.stderr.decode()
    assert b"/dev/zero: " in done.stderr


def test_a_pipe_that_was_named_is_read(project: Path) -> None:
    done = ran("check", "/dev/stdin", given=PTX.encode())
    assert (done.returncode, done.stderr) == (0, b"no findings in 1 file\n")
    assert named(project / "k.ptx", 1 << 20) == PTX.encode()


def test_the_most_is_read_and_no_more(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"a" * MOST_SETTINGS)
    assert content(path, MOST_SETTINGS) == b"a" * MOST_SETTINGS
    with pytest.raises(OutOfReach, match="1,048,575 bytes"):
        content(path, MOST_SETTINGS - 1)
    with pytest.raises(OutOfReach, match="not a file"):
        content(tmp_path, 1)
    assert content_of(io.BytesIO(b"abc"), 3) == b"abc"
    with pytest.raises(OutOfReach):
        content_of(io.BytesIO(b"abcd"), 3)


def test_folders_as_deep_as_a_path_may_name_them(tmp_path: Path) -> None:
    deep = "a/" * 1100
    made = "import os, sys\nos.chdir(sys.argv[1])\nfor _ in range(1100):\n os.mkdir('a')\n os.chdir('a')\n"
    subprocess.run([sys.executable, "-c", f"{made}open('k.ptx', 'w').write({PTX!r})", tmp_path], check=True)
    start = "import os, sys\nos.chdir(sys.argv.pop(1))\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    codes: list[int] = []
    for name in (deep, f"{deep}k.ptx"):
        command = [sys.executable, "-c", start + LIMITED, tmp_path, "check", name]
        codes.append(subprocess.run(command, env=environment, capture_output=True, check=False).returncode)
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)  # Python takes no folders away that are as deep
    assert codes == [0, 0]
