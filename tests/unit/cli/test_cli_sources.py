"""`--source`: the text that was compiled, looked for where it may be and nowhere else."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.cli.sources.source_texts import SourceTexts
from ptxloom.syntax.origins import SourceLine

Run = Callable[..., Any]

EXAMPLES = Path(__file__).parents[3] / "examples"
TRACE = ("--trace", "372", "--trace-warps", "0", "--trace-limit", "1", "--source")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """PTX and a launch file, and the source elsewhere."""
    for name in ("hgemm.ptx", "hgemm.toml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    (tmp_path / "src" / "deep").mkdir(parents=True)
    return tmp_path


def test_the_line_stands_above_what_a_trace_saw(run: Run) -> None:
    ran = run("run", str(EXAMPLES / "hgemm.toml"), *TRACE)
    lines = ran.out.splitlines()
    at = next(n for n, line in enumerate(lines) if "(PTX line 372" in line or ", PTX line 372" in line)
    source = (EXAMPLES / "hgemm.cu").read_text(encoding="utf-8").splitlines()
    assert lines[at + 1].endswith(f"hgemm.cu:33 | {source[32].strip()}")
    assert lines[at + 2].endswith(f"hgemm.cu:90 | {source[89].strip()}")


def test_a_source_that_is_missing_is_said_once(run: Run, folder: Path) -> None:
    ran = run("run", str(folder / "hgemm.toml"), *TRACE)
    assert ran.code == 0
    assert "hgemm.cu:33 |" not in ran.out
    assert ran.err.count("the source hgemm.cu is not found beside the PTX or below `--source-root`") == 1
    shutil.copy(EXAMPLES / "hgemm.cu", folder / "src" / "hgemm.cu")
    ran = run("run", str(folder / "hgemm.toml"), *TRACE, "--source-root", str(folder / "src"))
    assert "hgemm.cu:33 |" in ran.out
    assert "is not found" not in ran.err


def test_a_profile_shows_it_too(run: Run) -> None:
    ran = run("inspect", str(EXAMPLES / "hgemm.ptx"), "--profile", str(EXAMPLES / "hgemm.toml"), "--source")
    lines = ran.out.splitlines()
    at = next(n for n, line in enumerate(lines) if " 372 | " in line)
    assert "hgemm.cu:33 | asm volatile" in "\n".join(lines[at - 3 : at])


def test_a_difference_shows_it_too(run: Run, folder: Path) -> None:
    shutil.copy(EXAMPLES / "hgemm.cu", folder / "hgemm.cu")
    text = (folder / "hgemm.ptx").read_text(encoding="utf-8")
    (folder / "edited.ptx").write_text(text.replace("x4.trans.", "x4.", 1), encoding="utf-8")
    ran = run("diff", str(folder / "hgemm.ptx"), str(folder / "edited.ptx"), "--source")
    assert ran.code == 1
    assert ran.out.count("hgemm.cu:40 | asm volatile") == 1  # both lines come from there
    assert ran.out.index("hgemm.cu:40") < ran.out.index("hgemm.cu:92") < ran.out.index("   388        - ldmatrix")
    assert "hgemm.cu:" not in run("diff", str(folder / "hgemm.ptx"), str(folder / "edited.ptx")).out


def test_options_that_make_no_sense(run: Run, folder: Path) -> None:
    ran = run("run", str(folder / "hgemm.toml"), "--source")
    assert (ran.code, "`--source` goes with `--trace`" in ran.err) == (2, True)
    for root in ("nowhere", str(folder / "hgemm.ptx"), "\0"):
        ran = run("run", str(folder / "hgemm.toml"), *TRACE, "--source-root", root)
        assert (ran.code, "--source-root" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("k.cu", True),
        ("deep/k.cu", True),
        ("/home/somebody/src/deep/k.cu", True),
        ("C:\\work\\deep\\k.cu", True),
        ("other.cu", False),
        ("../secret.cu", False),
        ("deep/../../secret.cu", False),
        ("link.cu", False),  # leads out of the folder
        ("pipe.cu", False),
        ("", False),
        ("deep", False),
        ("\0", False),
        ("x" * 5000, False),
        ("a/" * 2000 + "k.cu", True),
    ],
)
def test_files_are_found_below_the_folder_only(folder: Path, name: str, found: bool) -> None:
    secret = folder / "secret.cu"
    secret.write_text("secret\n", encoding="utf-8")
    root = folder / "src"
    (root / "deep" / "k.cu").write_text("one\n  two\x1b[31m\n", encoding="utf-8")
    (root / "k.cu").write_text("one\n  two\x1b[31m\n", encoding="utf-8")
    (root / "link.cu").symlink_to(secret)
    texts = SourceTexts([root])
    assert texts.line(SourceLine(name, 2)) == ("two\x1b[31m" if found else None)
    assert texts.line(SourceLine(name, 99)) is None
    assert texts.line(SourceLine(name, 0)) is None
    assert texts.missing == (() if found else (name,))


def test_absolute_names_of_files_that_are_there_lead_nowhere(folder: Path) -> None:
    (folder / "secret.cu").write_text("secret\n", encoding="utf-8")
    assert SourceTexts([folder / "src"]).line(SourceLine(str(folder / "secret.cu"), 1)) is None


def test_no_text_of_a_source_steers_a_terminal(run: Run, folder: Path) -> None:
    (folder / "hgemm.cu").write_text("\x1b[31m\u202e\x07\n" * 200, encoding="utf-8")
    ran = run("run", str(folder / "hgemm.toml"), *TRACE)
    assert "hgemm.cu:33 |" in ran.out
    assert not {"\x1b", "\u202e", "\x07"} & {*ran.out}
