"""Behind the registers of matrix instructions stands what they hold, for whoever wants it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lsp_text import KERNEL
from ptxloom.cli import main
from ptxloom.diagnostics import UsageError
from ptxloom.lsp.document import Document
from ptxloom.lsp.inlay import hints
from ptxloom.lsp.settings import Settings, above_project, read_settings
from ptxloom.settings import found

MMA = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%a, %b, %c, _}, {%d, %e}, {%f}, {%g, %h, %i, %j};"
WANTED = Settings(inlay_hints=True)


def shown(text: str, settings: Settings = WANTED) -> str:
    """A text with its hints in angle brackets."""
    document, made, last = Document(text, settings=settings), "", 0
    for one in hints(document, 0, len(text)):
        made += f"{text[last : one.offset]}‹{one.label}›"
        last = one.offset
    return made + text[last:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r3, %r4, %r5, _}, [%r1];",
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r3‹m0›, %r4‹m1›, %r5‹m2›, _}, [%r1];",
        ),
        (
            "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r1], {%r3, %r4};",
            "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r1], {%r3‹m0›, %r4‹m1›};",
        ),
        (
            MMA,
            (
                "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%a‹d[0:8, 0:8:2]›, %b‹d[0:8, 1:8:2]›, "
                "%c‹d[8:16, 0:8:2]›, _}, {%d‹a[0:8, :]›, %e‹a[8:16, :]›}, {%f‹b[:, :]›}, {%g‹c[0:8, 0:8:2]›, "
                "%h‹c[0:8, 1:8:2]›, %i‹c[8:16, 0:8:2]›, %j‹c[8:16, 1:8:2]›};"
            ),
        ),
    ],
)
def test_registers_are_followed_by_what_they_hold(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1, %r2, %r3;",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4",
        "ldmatrix.sync.aligned.m8n8.x9.shared.b16 {%r3, %r4}, [%r1];",
        "nosuch {%r3, %r4};",
        "ld.global.v2.b32 {%r1, %r2}, [%r3];",
    ],
)
def test_elsewhere_and_in_broken_text_there_are_none(text: str) -> None:
    assert shown(text) == text


def test_hints_say_what_each_lane_holds_and_keep_to_the_stretch_that_was_asked_for() -> None:
    document = Document(KERNEL, settings=WANTED)
    start = KERNEL.index("%r4, %r5")
    [one] = hints(document, start, start + 4)
    assert (KERNEL[: one.offset].endswith("%r4"), one.label) == (True, "m1")
    assert "of matrix 1" in one.about


def test_they_are_shown_to_who_asks_for_them() -> None:
    assert shown(MMA, Settings()) == MMA
    asked = read_settings({"ptxloom": {"inlayHints": True}}, Settings())
    assert asked == WANTED
    assert read_settings({}, asked).inlay_hints
    assert above_project(asked, found.Settings(target="sm_80"), Path("k.ptx")) == Settings("sm_80", inlay_hints=True)
    with pytest.raises(UsageError, match="true or false"):
        read_settings({"inlayHints": "yes"}, Settings())


PROFILED = ".visible .entry k()\n{\n@%p ld.shared.f32   %f5, [%r20]; // the tile\nld.shared.f32 %f6, [%r21];\nret;\n}\n"
COUNTS = {"conflicts": 3968, "wavefronts": 4096, "ideal_wavefronts": 128, "executions": 128}


def with_profile(folder: Path, *rows: object) -> str:
    """What is shown of a file beside which a profile lies."""
    (folder / "k.profile.json").write_text(json.dumps({"profile": {"instructions": rows}}))
    document = Document(PROFILED, str(folder / "k.ptx"), settings=WANTED)
    return " ".join(f"{PROFILED[: one.offset].count(chr(10)) + 1}: {one.label}" for one in hints(document, 0, 999))


def test_instructions_that_had_bank_conflicts_say_so(tmp_path: Path) -> None:
    rows = [
        {"line": 3, "instruction": "ld.shared.f32 %f5, [%r20];", **COUNTS},
        {"line": 4, "instruction": "ld.shared.f32 %f6, [%r21];", **COUNTS, "conflicts": 0},
    ]
    assert with_profile(tmp_path, *rows) == "3: 3,968 bank conflicts"
    document = Document(PROFILED, str(tmp_path / "k.ptx"), settings=WANTED)
    (one,) = hints(document, 0, 999)
    assert one.about == "4,096 wavefronts where 128 would do, in 128 executions by a warp"
    assert [*hints(document, 0, 20)] == []
    assert [*hints(Document(PROFILED, str(tmp_path / "k.ptx")), 0, 999)] == []


@pytest.mark.parametrize(
    "row",
    [
        {"line": 4, "instruction": "ld.shared.f32 %f5, [%r20];", **COUNTS},
        {"line": 99, "instruction": "ret;", **COUNTS},
        {"line": 0, "instruction": "ret;", **COUNTS},
        {"line": "3", "instruction": "ld.shared.f32 %f5, [%r20];", **COUNTS},
        {"line": 3, "instruction": None, **COUNTS},
        {"line": 3, "instruction": "ld.shared.f32 %f5, [%r20];"},
        [],
        7,
    ],
)
def test_what_is_stale_or_no_profile_says_nothing(tmp_path: Path, row: object) -> None:
    assert with_profile(tmp_path, row) == ""


@pytest.mark.parametrize(
    "text", ["", "[", "[]", '{"profile": []}', '{"profile": {"instructions": 3}}', "[" * 100_000, "\x00"]
)
def test_a_file_that_is_no_profile_is_left_alone(tmp_path: Path, text: str) -> None:
    (tmp_path / "k.profile.json").write_text(text)
    assert [*hints(Document(PROFILED, str(tmp_path / "k.ptx"), settings=WANTED), 0, 999)] == []


def test_what_run_writes_is_what_is_read(tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    examples = Path(__file__).parents[3] / "examples"
    text = (examples / "transpose.ptx").read_text(encoding="utf-8")
    target = tmp_path / "transpose.profile.json"
    words = ["run", str(examples / "transpose.toml"), "--profile", "--output-format", "json", "-o", str(target)]
    assert main(words) == 0
    found = [*hints(Document(text, str(tmp_path / "transpose.ptx"), settings=WANTED), 0, len(text))]
    assert [one.label for one in found] == ["3,968 bank conflicts"] * 4
    assert {text[: one.offset].splitlines()[-1].strip().split()[0] for one in found} == {"ld.shared.f32"}


@pytest.mark.parametrize("name", ["", "/", "\x00", "untitled:Untitled-1", "x" * 5000])
def test_a_text_that_is_no_file_has_no_profile(name: str) -> None:
    assert [*hints(Document(PROFILED, name, settings=WANTED), 0, 999)] == []
