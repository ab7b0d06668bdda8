"""`ptxloom diff`: exit codes as of diff, no difference hidden, nothing that cannot be read called the same."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
ONE = HEAD + (
    ".visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n\t.shared .align 4 .b8 s[128];\n"
    "\tld.param.u64 %rd1, [p];\n\tld.global.u32 %r1, [%rd1];\n\tadd.s32 %r2, %r1, 1;\n\tst.global.u32 [%rd1], %r2;\n"
    "\tret;\n}\n"
)


@pytest.fixture
def ask(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Compare the kernel with an edited one."""
    monkeypatch.chdir(tmp_path)

    def asked(*edits: tuple[str, str], options: tuple[str, ...] = ()) -> Any:
        other = ONE
        for old, new in edits:
            assert old in other
            other = other.replace(old, new)
        (tmp_path / "a.ptx").write_text(ONE, encoding="utf-8")
        (tmp_path / "b.ptx").write_text(other, encoding="utf-8")
        return run("diff", "a.ptx", "b.ptx", *options)

    return asked


@pytest.mark.parametrize(
    "edits",
    [
        (),
        ((".version 9.0", ".version 9.1 // newer"),),
        (("%r", "%v"), ("%vd", "%wide")),
        (("k(.param .u64 p)", "k(.param .u64 q)"), ("[p]", "[q]")),
        ((" s[128]", " tile[128]"),),
        (("ld.global.u32", "ld.global.b32"), ("add.s32", "add.u32"), (", 1;", ", 0x1;")),
        (("%r<4>", "%r<99>"),),
        (("\tadd", "\t.loc 1 2 3\nunused:\n  add"),),
    ],
)
def test_what_says_the_same_is_the_same(ask: Callable[..., Any], edits: tuple[tuple[str, str], ...]) -> None:
    ran = ask(*edits)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("the same in both: k\n")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ((", 1;", ", 2;"), "1 with other operands"),
        (("add.s32 %r2, %r1", "add.s32 %r2, %r2"), "1 with other operands"),
        (("add.s32", "add.sat.s32"), "1 removed, 1 added"),
        (("ld.global.u32", "ld.global.s8"), "1 removed, 1 added"),
        (("ld.global.u32 %r1, [%rd1]", "ld.global.u32 %r1, [%rd1+4]"), "1 with other operands"),
        ((" s[128]", " s[256]"), "shared bytes  128  256"),
        (("sm_90", "sm_90a"), "target: sm_90 -> sm_90a"),
        (("{", ".maxntid 128\n{"), "directives: none -> .maxntid 128"),
        (("entry k", "entry other"), "kernel k (in b other)"),
        ((".param .u64 p", ".param .u32 p"), "parameters: .u64 -> .u32"),
        (("\tret;", "\tbar.sync 0;\n\tret;"), "bar.sync"),
    ],
)
def test_what_differs_is_said(ask: Callable[..., Any], edit: tuple[str, str], said: str) -> None:
    ran = ask(edit)
    assert ran.code == (1 if edit[0] != "entry k" else 0)
    assert said in ran.out or edit[0] == "entry k"
    as_json = ask(edit, options=("--output-format", "json"))
    assert json.loads(as_json.out)["same"] is (as_json.code == 0)


def test_memory_stands_before_sums(ask: Callable[..., Any]) -> None:
    ran = ask(
        ("add.s32 %r2, %r1, 1;", "add.s32 %r2, %r1, 2;"),
        ("st.global.u32", "st.global.v2.u32"),
        ("], %r2", "], {%r2, %r2}"),
    )
    assert ran.out.index("global stores") < ran.out.index("st.global.v2.b32 ") < ran.out.index("add.s32")


def test_what_cannot_be_read_is_not_compared(ask: Callable[..., Any]) -> None:
    ran = ask(("add.s32 %r2,", "add.s32 [%r2,"))
    assert (ran.code, ran.out) == (2, "")
    assert "b.ptx cannot be compared, because it has syntax errors" in ran.err


def test_standard_input_is_one_of_them(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(ONE, encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ONE.encode())))
    assert run("diff", str(tmp_path / "a.ptx"), "-").code == 0
    ran = run("diff", "-", "-")
    assert (ran.code, "not both" in ran.err) == (2, True)


def test_no_text_of_a_file_steers_a_terminal(ask: Callable[..., Any]) -> None:
    ran = ask(("\tret;", '\t.pragma "\x1b[31m\u202e";\n\tret;'))
    assert ran.code == 1
    assert "\x1b" not in ran.out + ran.err
    assert "\u202e" not in ran.out + ran.err
