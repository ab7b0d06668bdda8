"""`check` over many files through the code of campaigns: what a folder keeps is not judged again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.cli import main

if TYPE_CHECKING:
    from pathlib import Path

RIGHT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k{number}() {{ .reg .b32 r; mov.u32 r, {number}; ret; }}
"""
WRONG = RIGHT.replace("mov.u32 r", "mov.u99 r")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "kernels"
    root.mkdir()
    for number in range(12):
        text = (WRONG if number == 7 else RIGHT).format(number=number)
        (root / f"{number}.ptx").write_text(text, encoding="utf-8")
    return root


def test_a_campaign_of_files_goes_on_where_it_was(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["check", str(folder), "--jobs", "2", "--campaign", str(tmp_path / "kept")]
    assert main(words) == 1
    first = capsys.readouterr().out
    assert "7.ptx" in first
    assert main(["check", str(folder), "--jobs", "1"]) == 1
    assert capsys.readouterr().out == first
    monkeypatch.setattr("ptxloom.cli.judging.verdict", None)
    monkeypatch.setattr("ptxloom.cli.spreading.workers_of", None)
    assert main(words) == 1
    assert capsys.readouterr().out == first


def test_a_file_that_is_new_is_judged_alone(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["check", str(folder), "--jobs", "1", "--campaign", str(tmp_path / "kept")]
    assert main(words) == 1
    lines = [len(file.read_text().splitlines()) for file in (tmp_path / "kept").glob("*.jsonl")]
    (folder / "12.ptx").write_text(RIGHT.format(number=12), encoding="utf-8")
    assert main(words) == 1
    after = [len(file.read_text().splitlines()) for file in (tmp_path / "kept").glob("*.jsonl")]
    assert (sum(lines), sum(after)) == (12, 13)
    assert "7.ptx" in capsys.readouterr().out


def test_a_cluster_judges_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    assert main(["check", str(folder), "--cluster", "local"]) == 1
    assert "7.ptx" in capsys.readouterr().out
