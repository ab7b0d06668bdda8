"""`map`, `where` and `descriptor` for tensor memory: both directions, and sentences for what makes no sense."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ptxloom.cli import main
from ptxloom.descriptors import InstructionDescriptor

if TYPE_CHECKING:
    from pathlib import Path

SAID = {
    "map tcgen05.mma": "select one with `--operand d|a`",
    "map tcgen05.mma --operand b": "B is in shared memory",
    "map tcgen05.mma --operand d --idesc 0x0": "M is 0",
    "where tcgen05.mma.m64n8 --operand d --lane 16": "one that the operand reaches",
    "where tcgen05.mma.m64n8 --operand d --lane 128": "from 0 to 127",
    "descriptor --kind f16": "give the bits to read, with `--kind`, or an instruction",
    "descriptor tcgen05.mma --kind f16": "the instruction implies its kind",
    "descriptor 0x08100010 --kind f16 --with transpose_a": "`--with` is for a descriptor that is made",
    "descriptor 0x1ffffffff --kind f16": "32 bits",
    "descriptor tcgen05.mma.m3": "is not a legal product",
    "descriptor tcgen05.ld": "has no instruction descriptor",
}


@pytest.mark.parametrize("words", SAID)
def test_what_makes_no_sense_is_said_in_a_sentence(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert SAID[words] in capsys.readouterr().err


def test_an_instruction_descriptor_is_made_and_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    made = "descriptor tcgen05.mma.cta_group::2.m256n96.bf16 --with transpose_b,negate_a --output-format json"
    assert main(made.split()) == 0
    record = json.loads(capsys.readouterr().out)
    told = InstructionDescriptor("f16", 256, 96, "bf16", "bf16", transpose_b=True, negate_a=True)
    assert (record["bits"], record["remarks"]) == (str(told), [])
    assert main(["descriptor", record["bits"], "--kind", "f16", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == record


@pytest.mark.parametrize(
    ("bits", "kind", "name"),
    [
        ("0x08100050", "f16", "stray-bits"),
        ("0x00100010", "f16", "no-such-shape"),
        ("0x08100480", "f16", "result-type"),
        ("0x08202020", "i8", "negated"),
        ("0x08a18480", "mxf4", "transposed"),
        ("0x08100018", "f16", "saturate"),
    ],
)
def test_descriptors_that_cannot_be_meant_are_findings(
    bits: str, kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["descriptor", bits, "--kind", kind, "--output-format", "json"])
    names = [remark["name"] for remark in json.loads(capsys.readouterr().out)["remarks"]]
    assert (code, {*names}) == (1, {name})


def test_a_picture_shows_both_ctas_of_a_pair(tmp_path: Path) -> None:
    at = tmp_path / "d.svg"
    assert main(["map", "tcgen05.mma.cta_group::2.m256n64", "--operand", "d", "-o", str(at)]) == 0
    drawn = at.read_text()
    for text in ("tensor memory of CTA 0 of the pair", "tensor memory of CTA 1 of the pair", "warp 3", "m 224–255"):
        assert text in drawn
