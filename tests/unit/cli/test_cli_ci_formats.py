"""`check` for continuous integration: GitLab's code quality report, JUnit's XML, and colours on demand."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from ptxloom.cli import main

if TYPE_CHECKING:
    from pathlib import Path


HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n    .reg .b32 %r<4>;\n"
TWICE = HEAD + "    ad.u32 %r0, %r1, %r2;\n" * 2 + "    ret;\n}\n"


def printed(capsys: pytest.CaptureFixture[str], path: Path, text: str, style: str) -> str:
    path.write_text(text, encoding="utf-8")
    main(["check", str(path), "--output-format", style])
    return capsys.readouterr().out


def test_gitlab_tells_equal_findings_apart_and_knows_them_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.ptx"
    first: list[dict[str, Any]] = json.loads(printed(capsys, path, TWICE, "gitlab"))
    moved: list[dict[str, Any]] = json.loads(printed(capsys, path, "\n\n" + TWICE, "gitlab"))
    assert [one["location"]["lines"]["begin"] for one in first] == [7, 8]
    assert [one["location"]["lines"]["begin"] for one in moved] == [9, 10]
    assert len({one["fingerprint"] for one in first}) == 2
    assert [one["fingerprint"] for one in moved] == [one["fingerprint"] for one in first]
    assert {(one["severity"], one["check_name"], one["location"]["path"]) for one in first} == {
        ("major", "unknown-instruction", str(path))
    }


@pytest.mark.parametrize("style", ["full", "concise", "json", "sarif", "github", "gitlab", "junit"])
def test_a_name_that_is_no_utf_8_stands_in_every_format(
    style: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / os.fsdecode(b"odd\x85.ptx")
    out = printed(capsys, path, TWICE, style)
    assert "unknown-instruction" in out
    assert ("odd%85.ptx" in out) is (style == "sarif")
    main(["check", str(path), "--output-format", style, "-o", str(tmp_path / "report")])
    assert (tmp_path / "report").stat().st_size > 0


def test_junit_has_a_suite_a_file_and_a_case_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    root = ET.fromstring(printed(capsys, path, TWICE, "junit").encode())  # noqa: S314 - our own
    assert (root.attrib["tests"], root.attrib["failures"]) == ("2", "2")
    (suite,) = root
    assert [case.attrib["line"] for case in suite] == ["7", "8"]
    assert all("help: write `add`" in (failure.text or "") for case in suite for failure in case)


def test_no_character_of_a_file_breaks_the_xml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = HEAD + "    ad\x1b<&.u32 %r0, \u202e%r1;\n}\n"
    for style in ("junit", "gitlab"):
        out = printed(capsys, tmp_path / "k.ptx", text, style)
        assert "\x1b" not in out
        if style == "junit":
            assert len(ET.fromstring(out.encode())) == 1  # noqa: S314 - our own


def test_nothing_found_is_an_empty_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound = HEAD + "    ret;\n}\n"
    assert json.loads(printed(capsys, tmp_path / "k.ptx", sound, "gitlab")) == []
    assert len(ET.fromstring(printed(capsys, tmp_path / "k.ptx", sound, "junit").encode())) == 0  # noqa: S314


def test_colour_can_be_forced_and_forbidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in printed(capsys, tmp_path / "k.ptx", TWICE, "full")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in printed(capsys, tmp_path / "k.ptx", TWICE, "full")
