"""`ptxloom why`: the cause, the line and the repair of a kernel that a launch file runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptxloom.cli import main
from ptxloom.diagnosis import CAUSES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"


def _broken(folder: Path) -> str:
    """The hgemm of the examples with `.trans` left out, and its launch file."""
    text = (EXAMPLES / "hgemm.ptx").read_text()
    (folder / "hgemm.ptx").write_text(text.replace("m8n8.x4.trans", "m8n8.x4"))
    launch = folder / "hgemm.toml"
    launch.write_text((EXAMPLES / "hgemm.toml").read_text())
    return str(launch)


def test_a_right_kernel_breaks_no_law(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(EXAMPLES / "hgemm.toml")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("no law is broken")
    assert "judged: 1,152 matrix products and 24,576 stored elements" in said


def test_the_cause_the_line_and_what_became_of_the_repair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", _broken(tmp_path), "--try"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("trans-missing: operand b, from B: ")
    assert "line 388: ldmatrix" in said
    assert "as it is | as it should be" in said
    assert said.rstrip().endswith("tried: with the repair no law is broken, and the result is right")


def test_the_same_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", _broken(tmp_path), "--try", "--output-format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    (one,) = found["diagnoses"]
    assert (one["cause"], one["array"], one["certain"], one["line"]) == ("trans-missing", "B", True, 388)
    assert all(".trans." in edit["new"] for edit in one["repair"])
    assert (found["verdict"], found["compared"], found["wrong"], found["unjudged"]) == ("broken", True, ["C"], [])
    assert found["judged"] == {"products": 1152, "elements": 24576}
    tried = found["tried"]
    assert (tried["verdict"], tried["compared"]) == ("clean", True)
    assert (tried["downgraded"], tried["diagnoses"], tried["wrong"]) == ([], [], [])


SGEMM = (
    str(EXAMPLES / "sgemm.ptx"),
    "--grid=2,2",
    "--block=16,16",
    *(f"--arg={name}=integers:f32:32x32" for name in "AB"),
    "--arg=C=zeros:f32:32x32",
    *("--arg=32",) * 3,
)


@pytest.mark.parametrize(("expected", "code"), [("C = A @ B", 2), ("C = A @ B.T", 1)])
def test_what_could_not_be_judged_is_told_apart_by_exit_code_and_in_json(
    expected: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["why", *SGEMM, "--expect", expected, "--output-format", "json"]) == code
    found = json.loads(capsys.readouterr().out)
    assert (found["verdict"], found["compared"], found["wrong"]) == ("unjudged", True, ["C"] * (code == 1))
    assert found["judged"] == {"products": 0, "elements": 0}
    assert sum(one["count"] for one in found["unjudged"]) == 1024
    assert main(["why", *SGEMM, "--expect", expected]) == code
    said = capsys.readouterr().out
    assert said.startswith("C is wrong, and no law that could be asked" if code == 1 else "could not judge")
    assert "judged: nothing\nnot judged:\n  line " in said


def test_sums_that_are_coarser_than_the_result_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    ptx = ROOT / "tests" / "diagnosis" / "ptx" / "judging.ptx"
    launch = ["--kernel=downgraded", "--grid=4,1", "--block=32", "--arg=A=normal:f16:16x64", "--arg=B=normal:f16:32x64"]
    words = ["why", str(ptx), *launch, "--arg=C=zeros:f32:16x32", "--arg=32", "--arg=64", "--expect", "C = A @ B.T"]
    assert main(words) == 1
    said = capsys.readouterr().out
    assert said.startswith("C is wrong, and no law is broken\ndowngrade of C: its sums are in f16, not in f32")
    assert main([*words, "--accumulate", "f16"]) == 0


def test_the_document_lists_every_cause() -> None:
    page = (ROOT / "docs" / "why.md").read_text()
    assert [cause for cause in CAUSES if f"| `{cause}` | {CAUSES[cause].about} |" not in page] == []
