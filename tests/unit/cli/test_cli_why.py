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
    assert capsys.readouterr().out.startswith("no law is broken")


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
    assert found["tried"] == {"diagnoses": [], "wrong": [], "compared": True}


def test_the_document_lists_every_cause() -> None:
    page = (ROOT / "docs" / "why.md").read_text()
    assert [cause for cause in CAUSES if f"| `{cause}` | {CAUSES[cause].about} |" not in page] == []
