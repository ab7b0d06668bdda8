"""`check --fix`: files change as a whole, guesses need a word, and the exit code tells what is left."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from ptxloom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

BROKEN = """.version 9.0
.target sm_90
.address_size 64
.entry k()
{
    .reg .b32 %r<4>;
    ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [%r1];
    ldmatrix.sync.aligned.m8n8.x1.transposed.shared.b16 {%r0}, [%r1];
    ret;
}
"""
SAFE = BROKEN.replace("ldmatrix.sync.m8n8", "ldmatrix.sync.aligned.m8n8")
WHOLE = SAFE.replace(".transposed", ".trans")


def written(path: Path, text: str = BROKEN) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_safe_repairs_are_made_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    assert main(["check", written(path), "--fix"]) == 1
    out, talk = capsys.readouterr()
    assert path.read_text(encoding="utf-8") == SAFE
    assert "takes no `.transposed`" in out
    assert "missing-aligned" not in out
    assert talk == "1 fix in 1 file made (1 more with --unsafe-fixes); 1 error in 1 file\n"


def test_guesses_are_made_if_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    assert main(["check", written(path), "--fix", "--unsafe-fixes"]) == 0
    assert path.read_text(encoding="utf-8") == WHOLE
    assert capsys.readouterr() == ("", "2 fixes in 1 file made; no findings in 1 file\n")


def test_a_diff_shows_what_would_change_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    assert main(["check", written(path), "--diff"]) == 1
    out, talk = capsys.readouterr()
    assert path.read_text(encoding="utf-8") == BROKEN
    assert "-    ldmatrix.sync.m8n8" in out
    assert "+    ldmatrix.sync.aligned.m8n8" in out
    assert talk.startswith("1 fix in 1 file would be made")
    assert main(["check", written(path, WHOLE), "--diff"]) == 0


def test_standard_input_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
    assert main(["check", "-", "--fix"]) == 1
    assert capsys.readouterr().out == SAFE


def test_rules_that_are_not_asked_for_are_not_repaired(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    assert main(["check", written(path), "--fix", "--ignore", "missing-aligned"]) == 1
    assert path.read_text(encoding="utf-8") == BROKEN


def test_a_file_that_cannot_be_read_keeps_no_other_from_its_repair(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    assert main(["check", str(tmp_path / "none.ptx"), written(path), "--fix"]) == 2
    assert path.read_text(encoding="utf-8") == SAFE
