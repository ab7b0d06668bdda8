"""Every form that the data enumerates leaves on the machine what it left on hardware; reports say when it does not."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.cli import main
from ptxloom.conformance import Unreadable, left_out, paths, read
from ptxloom.conformance.expected import input_words, run_here, threads_of
from ptxloom.conformance.verdicts import compared, digest
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion
from recorded.conformance.conformance_cases import FOLDER, known, recorded
from sweeps import part_and_whole

if TYPE_CHECKING:
    from pathlib import Path

    from ptxloom.conformance import Path as Question

PART = 64
TARGET, VERSION = Target.parse("sm_90a"), PtxVersion.parse("9.0")

# Forms that were wrong once: extremes of wide intermediate values, and sums by generic addresses in shared memory.
MENDED = (
    *(
        "vabsdiff.s32.s32.s32.min",
        "vmax.u32.u32.s32.sat.min",
        "vshl.u32.u32.u32.wrap.min",
        "vshr.u32.u32.u32.clamp.max",
    ),
    *("vadd.u32.u32.s32.max", "vsub.s32.u32.u32.min", "vshl.u32.s32.u32.sat.clamp.max", "vmin.u32.s32.u32.max"),
    *("atom.add.f32@shared", "atom.add.f64@shared", "red.add.f32@shared", "red.add.f64@shared"),
    *("atom.add.f32@global", "atom.add.f64@global"),
)


def left(path: Question, cases: int) -> np.ndarray:
    return run_here(path, TARGET, VERSION, cases)


@pytest.mark.parametrize("every", part_and_whole(PART, 1))
def test_every_form_leaves_what_an_h200_left(every: int) -> None:
    report = recorded()
    rows = [one for one in report.verdicts if one.path in MENDED] + list(report.verdicts[::every])
    wrong = [one.path for one in rows if digest(left(known()[one.path], report.cases)) != one.digest]
    assert not wrong, f"{len(wrong)} of {len(rows)}: {wrong[:40]}"


def test_the_report_has_every_path_and_no_difference() -> None:
    report = recorded()
    assert [one.path for one in report.verdicts] == sorted(known())
    assert not report.differing
    assert not report.refused


def test_names_are_names() -> None:
    for target in ("sm_75", "sm_90a", "sm_100a", "sm_120a"):
        names = [path.name for path in paths(Target.parse(target), PtxVersion.parse("9.0"))]
        assert len(names) == len(set(names))
        assert not set(known()) - set(names) or target != "sm_90a"


def test_what_is_left_out_has_a_reason() -> None:
    reasons = left_out(TARGET, VERSION)
    assert reasons["mbarrier: its operand is an object in memory"]
    assert all(":" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add.f32", "50caa6b29da9c61e"),
        ("mma.m16n8k16.row.col.f32.f16.f16.f32", "2c7e4af6e2a90b7f"),
        ("mma.sp::ordered_metadata.m16n8k32.row.col.f32.f16.f16.f32", "8bf16c35e092e5c7"),
        ("ldmatrix.m8n8.x4.trans.shared.b16", "679bcec7d3232c93"),
        ("addc.cc.u32", "9463470e877dd7ed"),
    ],
)
def test_inputs_are_those_of_the_suite(name: str, expected: str) -> None:
    """Their digests change with the version of the suite alone: reports would be of other inputs."""
    path = known()[name]
    assert digest(input_words(path, threads_of(path, 64))) == expected


def test_a_difference_is_told_with_its_inputs() -> None:
    path = known()["add.u32"]
    ours = left(path, 128)
    theirs = ours.copy()
    theirs[[3, 77]] ^= np.uint64(1)
    found = compared(path, 128, theirs, ours)
    assert (found.differ, found.cases, [one.case for one in found.first]) == (2, 128, [3, 77])
    one = found.first[0]
    a, b = (int(word, 16) for word in one.inputs)
    assert int(one.expected[0], 16) == (a + b) % (1 << 32) == int(one.given[0], 16) ^ 1
    assert found.digest == digest(theirs) != digest(ours)


def some(tmp_path: Path, **changed: object) -> Path:
    """The report on four paths, each with what is changed."""
    rows = [one for one in recorded().verdicts if one.path in MENDED[:4]]
    file = tmp_path / "gpu.json"
    file.write_text(replace(recorded(), verdicts=tuple(replace(one, **changed) for one in rows)).text())
    return file


def test_a_report_is_verified_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conform", "--verify", str(some(tmp_path)), "--jobs", "1"]) == 0
    assert "results of 4 paths computed here, none differ" in capsys.readouterr().out
    assert main(["conform", "--verify", str(some(tmp_path, digest="0" * 16)), "--jobs", "1"]) == 1
    assert "4 differ\n  vabsdiff" in capsys.readouterr().out


def test_what_is_no_report_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = some(tmp_path)
    text = file.read_text()
    broken = {
        "is damaged": text.replace('"digest":"', '"digest":"0', 1),
        "is not a report": text.replace('"cases":1024', '"cases":-1'),
        "this is suite": text.replace('"suite": 1', '"suite": 2'),
        "the file is not a report": "[]",
    }
    for said, content in broken.items():
        with pytest.raises(Unreadable, match=said):
            read(content)
        file.write_text(content)
        assert main(["conform", "--verify", str(file)]) == 2
        assert said in capsys.readouterr().err
    assert main(["conform", "--verify", str(tmp_path / "gone.json")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_without_a_gpu_the_verb_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxloom.conformance.gpu._NAMES", ("libno-such-driver.so",))
    assert main(["conform", "add.u32"]) == 2
    assert "no NVIDIA driver was found" in capsys.readouterr().err


def test_a_campaign_goes_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["conform", "abs.s*", "--judge", "here", "--cases", "32", "--jobs", "1", "--campaign", str(tmp_path)]
    assert main(words) == 0
    first = capsys.readouterr().out
    shards = list(tmp_path.glob("*.jsonl"))
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert list(tmp_path.glob("*.jsonl")) == shards
    assert main([*words, "--cases", "64"]) == 2
    assert "another campaign" in capsys.readouterr().err


def test_the_judge_asks_a_driver_as_it_is(tmp_path: Path) -> None:
    """By ptxloom's own driver: the library is loaded, modules, memory and launches are the driver's."""
    report = tmp_path / "report.json"
    asked = ["conform", "movmatrix*", "addc.u*", "red.add.u32@*", "--full", "--cases", "64", "--jobs", "1"]
    command = [sys.executable, "-m", "ptxloom", "exec", "--device", "sm_90", "--", sys.executable, "-m", "ptxloom"]
    run = subprocess.run(
        [*command, *asked, "--report", str(report)], capture_output=True, text=True, check=False, env=os.environ
    )
    assert run.returncode == 0, run.stderr
    assert "none differ" in run.stdout
    said = json.loads(report.read_text())
    assert {row["path"] for row in said["paths"]} == {
        *("addc.u32", "addc.u64", "movmatrix.m8n8.trans.b16", "red.add.u32@global", "red.add.u32@shared")
    }


def test_the_recording_is_read_back() -> None:
    text = lzma.decompress((FOLDER / "h200.json.xz").read_bytes()).decode()
    assert read(text).text() == text
