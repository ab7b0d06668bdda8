"""`check` over many files: verdicts that are kept, several processes, statistics, watching."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom import disk_cache
from ptxloom.checker import check, walk
from ptxloom.checker.findings.packing import packed, unpacked
from ptxloom.checker.verdicts import Question
from ptxloom.cli import judging
from ptxloom.syntax import parse

Run = Callable[..., Any]

ROOT = Path(__file__).parents[3]
HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n    .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
SOUND = HEAD + "    ret;\n}\n"
BROKEN = HEAD + "    ldmatrix.sync.m8n8.x1.b16 {%r1}, [%rd1];\n    ad.u32 %r0, %r1, %r2;\n    ret;\n}\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the texts that were judged in this process."""
    names: list[str] = []

    def counted(module: Any, *arguments: Any, **options: Any) -> Any:
        names.append(module.source.name)
        return check(module, *arguments, **options)

    monkeypatch.setattr(walk, "check", counted)
    return names


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.ptx")), ids=lambda path: path.name)
def test_findings_are_the_same_after_they_were_kept(path: Path) -> None:
    for text in (path.read_text(encoding="utf-8"), path.read_text(encoding="utf-8").replace(".b16", ".b61")):
        module = parse(text)
        found = check(module, hints=True)
        assert unpacked(packed(found), module.source) == found


def test_a_verdict_is_made_once_and_told_under_any_name(
    run: Run, tmp_path: Path, cache: Path, judged: list[str]
) -> None:
    for name in ("a.ptx", "b.ptx"):
        (tmp_path / name).write_text(BROKEN, encoding="utf-8")
    first = run("check", str(tmp_path / "a.ptx"))
    assert judged == [str(tmp_path / "a.ptx")]
    assert run("check", str(tmp_path / "a.ptx")) == first
    second = run("check", str(tmp_path / "b.ptx"))
    assert judged == [str(tmp_path / "a.ptx")]
    assert second.out == first.out.replace("a.ptx", "b.ptx")
    assert len([path for path in cache.rglob("*") if path.is_file()]) == 1


@pytest.mark.parametrize("change", [["--target", "sm_100a"], ["--ptx-version", "9.1"], ["--select", "unused-name"]])
def test_other_options_are_another_question(
    run: Run, tmp_path: Path, cache: Path, judged: list[str], change: list[str]
) -> None:
    (tmp_path / "a.ptx").write_text(BROKEN, encoding="utf-8")
    run("check", str(tmp_path / "a.ptx"))
    run("check", str(tmp_path / "a.ptx"), *change)
    run("check", str(tmp_path / "a.ptx"), "--ignore", "missing-aligned")
    assert len(judged) == 2
    assert cache.is_dir()


def test_another_text_or_another_ptxloom_is_judged_anew(
    run: Run, tmp_path: Path, cache: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.ptx").write_text(BROKEN, encoding="utf-8")
    run("check", str(tmp_path / "a.ptx"))
    (tmp_path / "a.ptx").write_text(SOUND, encoding="utf-8")
    assert run("check", str(tmp_path / "a.ptx")).code == 0
    monkeypatch.setattr(disk_cache, "package_state", lambda: "another")
    run("check", str(tmp_path / "a.ptx"))
    assert len(judged) == 3
    assert cache.is_dir()


def test_several_processes_say_what_one_says(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    for number in range(6):
        (tmp_path / f"{number}.ptx").write_text(BROKEN if number % 2 else SOUND, encoding="utf-8")
    (tmp_path / "3.ptx").write_bytes(b"\xff\xfe\0")
    one = run("check", str(tmp_path), "-j", "1")
    assert run("check", str(tmp_path), "-j", "3") == one
    assert one.code == 2


def test_a_process_that_was_ended_is_told_in_a_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        def __init__(self, jobs: int, initializer: Callable[[], None]) -> None:
            assert (jobs, callable(initializer)) == (2, True)

        def __enter__(self) -> None:
            raise judging.BrokenProcessPool

        def __exit__(self, *error: object) -> None:
            pass

    monkeypatch.setenv("PTXLOOM_CACHE", "")
    monkeypatch.setattr(judging, "ProcessPoolExecutor", Broken)
    for name in ("a.ptx", "b.ptx"):
        (tmp_path / name).write_text(BROKEN, encoding="utf-8")
    ran = run("check", str(tmp_path), "-j", "2")
    assert (ran.code, ran.err) == (2, "ptxloom: a process that judged some of the files was ended from outside\n")
    assert (
        run("check", str(tmp_path), "-j", "0").err == "ptxloom: --jobs is 0; it must be a whole number of 1 or more\n"
    )


def test_questions_differ_in_all_that_verdicts_depend_on() -> None:
    source, other = parse(SOUND).source, parse(BROKEN).source
    keys = [
        Question(source),
        Question(other),
        Question(source, "sm_90"),
        Question(source, None, "9.0"),
        Question(source, hints=True),
    ]
    assert len({one.key for one in keys}) == len(keys)


def test_statistics_count_each_rule_and_what_repairs_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(BROKEN + SOUND, encoding="utf-8")
    (tmp_path / "b.ptx").write_text(BROKEN, encoding="utf-8")
    ran = run("check", str(tmp_path), "--statistics")
    assert ran.code == 1
    head, *rows = ran.out.splitlines()
    assert head.split() == ["count", "severity", "rule", "repairs"]
    assert "    2  error     missing-aligned      2 by --fix" in rows
    assert "    2  error     unknown-instruction  2 guesses" in rows
    counted: list[dict[str, Any]] = json.loads(
        run("check", str(tmp_path), "--statistics", "--output-format", "json").out
    )
    found: list[dict[str, Any]] = json.loads(run("check", str(tmp_path), "--output-format", "json").out)
    assert {(one["rule"], one["count"]) for one in counted} == {
        (one["rule"], sum(other["rule"] == one["rule"] for other in found)) for one in found
    }
    (tmp_path / "a.ptx").write_text(SOUND, encoding="utf-8")
    assert run("check", str(tmp_path / "a.ptx"), "--statistics").out == ""


def test_what_has_no_file_to_itself_is_not_repaired(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "a.ptx").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cubin").write_bytes(b"\x7fELF" + bytes(100))
    (tmp_path / "k.ptx").write_text(BROKEN, encoding="utf-8")
    ran = run("check", "k.cubin", "--fix")
    assert "k.ptx: only PTX files are repaired; this text is inside of another file" in ran.err
    assert (tmp_path / "k.ptx").read_text(encoding="utf-8") == BROKEN
    assert ran.code == 1


def test_watching_judges_again_when_a_file_changes_and_ends_quietly(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(BROKEN, encoding="utf-8")
    command = [sys.executable, "-m", "ptxloom", "check", str(tmp_path), "--watch", "--output-format", "concise"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "2 errors in 1 file\n"
            assert process.stderr.readline() == "watching; Ctrl-C ends it\n"
            path.write_text(SOUND, encoding="utf-8")
            assert process.stderr.readline() == "no findings in 1 file\n"
            assert process.stderr.readline() == "watching; Ctrl-C ends it\n"
            (tmp_path / "ptxloom.toml").write_text("x = 1", encoding="utf-8")
            assert "means nothing" in process.stderr.readline()
            assert process.stderr.readline() == "watching; Ctrl-C ends it\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
        finally:
            process.kill()
    assert err == ""
    assert len(out.splitlines()) == 2
    assert process.returncode == 2


def test_standard_input_is_not_watched(run: Run) -> None:
    ran = run("check", "-", "--watch")
    assert (ran.code, ran.err) == (2, "ptxloom: --watch looks at files; standard input does not change\n")
