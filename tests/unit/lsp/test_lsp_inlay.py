"""Behind the registers of matrix instructions stands what they hold, for whoever wants it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lsp_text import KERNEL
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
