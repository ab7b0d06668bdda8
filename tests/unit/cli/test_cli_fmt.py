"""`fmt` is idempotent, keeps every comment, and never destroys a file."""

import io
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.cli.verbs.reading.fmt import canonical
from ptxloom.source import Source
from ptxloom.syntax import parse
from ptxloom.views.modules.formatted import formatted

Run = Callable[..., Any]

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.ptx"))

COMMENTED = """\
// a header
/* and
   a block */
.version 9.0 // beside
.target sm_90
# 12 "kernel.cu"
.address_size 64


.visible .entry f( // the kernel
  .param .u64 a, /* first */
  .param .u32 b) {
  .reg .b32 %r<3>;   // registers
     // alone
  { mov.b32 %r1, // inside
      5; }


L:  ret; /* done */ // really
  // last in the body
}
// last of all
.section .debug_str { // data
  .b8 1, 2 // two
}
"""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_formatting_twice_is_formatting_once(path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"))
    once = formatted(module)
    assert once is not None
    assert parse(once) == module
    assert formatted(parse(once)) == once


def test_lines_end_as_they_did() -> None:
    plain = canonical(Source(COMMENTED, "k.ptx"))
    text = canonical(Source(COMMENTED.replace("\n", "\r\n"), "k.ptx"))
    assert text == plain.replace("\n", "\r\n")
    assert canonical(Source(text, "k.ptx")) == text


def test_comments_stay_beside_what_they_stood_beside() -> None:
    text = formatted(parse(COMMENTED))
    assert text == (
        "// a header\n"
        "/* and\n"
        "   a block */\n"
        ".version 9.0\t// beside\n"
        ".target sm_90\n"
        '# 12 "kernel.cu"\n'
        ".address_size 64\n"
        "\n"
        ".visible .entry f(\n"
        "\t.param .u64 a,\n"
        "\t.param .u32 b\n"
        ")\t// the kernel\n"
        "/* first */\n"
        "{\n"
        "\t.reg .b32 %r<3>;\t// registers\n"
        "\t// alone\n"
        "\t{\n"
        "\t\tmov.b32 %r1, 5;\t// inside\n"
        "\t}\n"
        "\n"
        "L:\n"
        "\tret;\t/* done */\t// really\n"
        "\t// last in the body\n"
        "}\n"
        "// last of all\n"
        ".section .debug_str\n"
        "{\t// data\n"
        "\t.b8 1, 2\t// two\n"
        "}\n"
    )
    assert formatted(parse(text)) == text


def test_check_diff_and_write(run: Run, tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    kernel.write_text(COMMENTED, encoding="utf-8")
    assert run("fmt", "--check", str(kernel)).code == 1
    diff = run("fmt", "--diff", str(kernel))
    assert diff.code == 1
    assert "+.version 9.0\t// beside\n" in diff.out
    assert kernel.read_text(encoding="utf-8") == COMMENTED
    printed = run("fmt", str(kernel))
    assert printed.code == 0
    assert run("fmt", "-w", str(kernel)).code == 0
    assert kernel.read_text(encoding="utf-8") == printed.out
    assert run("fmt", "--check", str(tmp_path)).code == 0


def test_a_file_that_is_in_form_is_not_touched(run: Run, tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    kernel.write_text(COMMENTED, encoding="utf-8")
    run("fmt", "-w", str(kernel))
    before = kernel.stat()
    ran = run("fmt", "-w", str(kernel))
    assert (ran.code, ran.err) == (0, "0 of 1 files rewritten\n")
    assert (kernel.stat().st_ino, kernel.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_standard_input_cannot_be_rewritten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(COMMENTED.encode())))
    ran = run("fmt", "-w", "-")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot write standard input back" in ran.err


def test_a_file_with_errors_is_left_alone(run: Run, tmp_path: Path) -> None:
    kernel = tmp_path / "k.ptx"
    broken = COMMENTED.replace("ret;", "ret [;")
    kernel.write_text(broken, encoding="utf-8")
    ran = run("fmt", "-w", str(kernel))
    assert ran.code == 1
    assert "is left as it is" in ran.err
    assert kernel.read_text(encoding="utf-8") == broken


def test_a_file_in_a_folder_that_may_not_be_written(run: Run, tmp_path: Path) -> None:
    shutil.copy(EXAMPLES[0], tmp_path / "k.ptx")
    before = (tmp_path / "k.ptx").read_bytes()
    (tmp_path / "k.ptx").chmod(0o444)
    ran = run("fmt", "-w", str(tmp_path / "k.ptx"))
    if ran.code == 0:
        pytest.skip("this user may write everything")
    assert ran.code == 2
    assert "permission denied" in ran.err
    assert (tmp_path / "k.ptx").read_bytes() == before
