"""Repairs: safe ones change nothing of what a module says, guesses are made only if asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.checker import check
from ptxloom.checker.findings.repairs import fixes_of, repaired
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ptxloom.diagnostics import Diagnostic

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n .reg .b32 %r<8>; .reg .f32 %f<4>;\n"
MOVE = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];"


def judge(text: str) -> Sequence[Diagnostic]:
    return check(parse(text))


def body(*lines: str) -> str:
    return HEAD + "".join(f" {line}\n" for line in lines) + " ret;\n}\n"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [%r4];", MOVE),
        (
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, %r4;",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];",
        ),
        (
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r0, [%r4];",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r4];",
        ),
        ("ld.shared.u32 %r0, %r4;", "ld.shared.u32 %r0, [%r4];"),
        ("add.f32 %f0, %f1, 2;", "add.f32 %f0, %f1, 2.0;"),
    ],
)
def test_a_safe_repair_writes_what_alone_can_be_meant(written: str, meant: str) -> None:
    done = repaired(body(written), judge)
    assert (done.text, done.fixes, [*done.left]) == (body(meant), 1, [])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("transposed", "trans"),
        ("transpose", "trans"),
        ("T", "trans"),
        ("t", "trans"),
        ("trnas", "trans"),
    ],
)
def test_words_for_a_transposition_never_lose_it(written: str, meant: str) -> None:
    text = body(f"ldmatrix.sync.aligned.m8n8.x1.{written}.shared.b16 {{%r0}}, [%r4];")
    (found,) = judge(text)
    assert found.fix is not None
    assert (found.fix.replacement, found.fix.is_safe) == (f".{meant}", False)
    assert repaired(text, judge).text == text
    assert repaired(text, judge, unsafe=True).text == text.replace(f".{written}.", f".{meant}.")


@pytest.mark.parametrize(
    ("written", "meant"), [("add.float32", "f32"), ("add.int32", "s32"), ("add.float", "f32"), ("add.uint32", "u32")]
)
def test_types_by_other_names_are_known(written: str, meant: str) -> None:
    register = "%f" if meant == "f32" else "%r"
    (found,) = judge(body(f"{written} {register}0, {register}1, {register}2;"))
    assert found.fix is not None
    assert found.fix.replacement == f".{meant}"


def test_what_takes_something_away_is_no_safe_repair() -> None:
    text = body("ldmatrix.sync.aligned.m8n8.x1.wibble.shared.b16 {%r0}, [%r4];")
    assert repaired(text, judge).text == text
    assert ".wibble" not in repaired(text, judge, unsafe=True).text


def test_repairs_that_touch_are_made_one_after_the_other() -> None:
    text = body("ldmatrix.sync.aligned.m8n8.x1.T.shared.b16 %r0, %r4;")
    assert len(fixes_of(judge(text), unsafe=True)) == 1
    done = repaired(text, judge, unsafe=True)
    assert done.text == body("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%r4];")
    assert done.fixes == 3


def test_line_ends_stay_what_they_are() -> None:
    text = body("ld.shared.u32 %r0, %r4;").replace(" ret;\n", "").replace("\n", "\r\n")
    done = repaired(text, judge).text
    assert done.count("\n") == done.count("\r\n")
    assert "[%r4]" in done


@pytest.mark.parametrize("unsafe", [False, True])
def test_repairing_twice_is_repairing_once(unsafe: bool) -> None:
    text = body("ldmatrix.sync.m8n8.x1.T.shared.b16 %r0, %r4;", "ad.u32 %r0, %r1, %r9;", "add.f32 %f0, %f1, 2;")
    once = repaired(text, judge, unsafe=unsafe)
    again = repaired(once.text, judge, unsafe=unsafe)
    assert (again.text, again.fixes) == (once.text, 0)
    assert len(once.left) < len(judge(text))


def test_sound_kernels_stay_as_they_are(pytestconfig: pytest.Config) -> None:
    folder: Path = pytestconfig.rootpath / "examples"
    for path in sorted(folder.glob("*.ptx")):
        text = path.read_text(encoding="utf-8")
        assert repaired(text, judge, unsafe=True).text == text
