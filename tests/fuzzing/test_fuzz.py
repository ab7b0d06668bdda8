"""Random programs: legal, the same for a number, and the same whoever runs them; what differs is shrunk and named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.cli import main
from ptxloom.fuzzing import IDIOMS, OWN, Jury, Shape, Task, done
from ptxloom.fuzzing.banks import BANKS, named_in
from ptxloom.fuzzing.findings import found, suspected
from ptxloom.fuzzing.nodes import Fork, Invoke, Program, Repeat, Step, Switch, every
from ptxloom.fuzzing.opinions import MACHINE, Refused, frames_of
from ptxloom.fuzzing.shrink import shrunk
from ptxloom.fuzzing.work import result_of
from sweeps import part_and_whole

if TYPE_CHECKING:
    from ptxloom.fuzzing.frames import Frames

KERNELS = 24
PART = 12


def task(cases: range, least: int = 3, most: int = 8, opinions: tuple[str, ...] = ("order",)) -> Task:
    return Task(5, cases, Shape(least, most), Jury("sm_90a", "9.0", opinions))


def errors(text: str) -> list[str]:
    return [found.message for found in pl.check(pl.parse(text)) if found.severity == "error"]


@pytest.mark.parametrize("every_", part_and_whole(PART, 1))
def test_programs_are_legal(every_: int) -> None:
    for start in range(0, 32 * KERNELS, 32 * every_):
        asked = task(range(start, start + 32), 4, 40)
        assert not errors(asked.jury.text(asked.programs()))


def test_programs_have_everything() -> None:
    programs = [one for start in range(0, 1536, 32) for one in task(range(start, start + 8), 10, 40).programs()]
    kinds = {type(node) for one in programs for node in every(one.body)}
    assert kinds == {Step, Fork, Repeat, Switch, Invoke}
    text = "".join(node.text for one in programs for node in every(one.body) if isinstance(node, Step))
    words = ("ldmatrix", "stmatrix", "mma.sync", "wmma.", "wgmma", "mbarrier", "cp.async.ca", "cp.async.bulk", "mapa")
    words += ("shfl", "vote", "redux", "match", "atom.", "red.", "bar.red", "lop3", "vadd4", "f16x2", "bf16", "addc")
    assert [word for word in words if word not in text] == []
    assert named_in(text) >= {*BANKS, "ag", "as", "al"}
    assert any(one.clustered for one in programs)


def test_a_program_is_a_function_of_its_number() -> None:
    whole = task(range(64, 96)).programs()
    assert task(range(70, 73)).programs() == whole[6:9]
    assert task(range(64, 96)).given().tobytes() == task(range(64, 96)).given().tobytes()
    assert len({one.body for one in whole}) == len(whole)


def test_any_part_of_a_program_is_a_program() -> None:
    """A shrinker takes away what it likes: what is left is legal, and the machine runs it without a hazard."""
    chance = Random(3)
    program = task(range(1, 2), 30, 40).programs()[0]
    given, jury = task(range(32)).given(), Jury("sm_90a", "9.0")
    left: list[Program] = []

    def kept(candidate: Program) -> bool:
        if chance.random() < 0.5:
            left.append(candidate)
            return True
        return False

    shrunk(program, kept, tries=24)
    assert len(left) >= 4
    assert not isinstance(frames_of(MACHINE, jury, left, given), Refused)


@pytest.mark.parametrize("opinion", ["threads", "order", "cache", "alone", "hot", "tools"])
def test_every_way_to_run_them_here_leaves_the_same(opinion: str) -> None:
    result = done(task(range(128, 132), 3, 5, (opinion,)))
    assert (result.programs, result.comparisons, result.differ, result.refused) == (4, 4, 0, ())
    assert result.words >= 4 * 128


def test_the_interpreter_leaves_the_same() -> None:
    only = ("add.*", "mul.*", "cvt.*", "setp.*", "selp.*", "fma.*", "lop3.*", "shl.*", "vadd*", "min.*", "prmt.*")
    asked = Task(9, range(32, 56), Shape(3, 9, 0.3, 0.0), Jury("sm_90a", "9.0", ("interpreter",)), only=only)
    result = done(asked)
    assert (result.differ, result.refused) == (0, ())
    assert result.comparisons >= 8
    assert result.comparisons + result.unread == 24


def test_a_difference_is_shrunk_and_the_suspect_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that is wrong wherever a `popc` is: one statement is left, and the judge is alone with what it says."""
    asked = task(range(256), 8, 12)
    programs = asked.programs()
    at = next(at for at, one in enumerate(programs) if "popc.b32" in asked.jury.text([one]))
    kernel = programs[at - at % 8 : at - at % 8 + 8]
    real = frames_of

    def judged(opinion: str, jury: Jury, candidates: list[Program], given: Frames) -> Frames:
        left = real(MACHINE, jury, candidates, given)
        assert not isinstance(left, Refused)
        wrong = opinion in {"gpu:2", "gpu:3"} and "popc.b32" in jury.text(candidates)
        return left ^ np.uint8(1) if wrong else left

    monkeypatch.setattr("ptxloom.fuzzing.findings.frames_of", judged)
    said = found(kernel, at % 8, "gpu:3", jury=asked.jury, given=asked.given(), tries=60)
    assert said.verified
    assert said.suspect == "gpu:2, gpu:3"
    assert said.steps[1] <= 3 < said.steps[0]
    assert said.ptx.count("popc.b32") == 1
    assert not errors(said.ptx)
    assert json.loads(json.dumps(said.record()))["case"] == said.case


@pytest.mark.parametrize(
    ("said", "suspect"),
    [
        ({"machine": "a", "gpu:0": "a", "gpu:3": "b"}, "gpu:3"),
        ({"machine": "a", "gpu:0": "b", "gpu:3": "a"}, "gpu:0"),
        ({"machine": "a", "gpu:0": "b", "gpu:3": "b"}, "ptxloom"),
        ({"machine": "a", "gpu:0": "b", "gpu:3": "c"}, "open"),
        ({"machine": "a", "threads": "b"}, "ptxloom"),
        ({"machine": "a", "gpu:0": "a", "order": "b"}, "ptxloom"),
    ],
)
def test_of_three_opinions_two_agree(said: dict[str, str], suspect: str) -> None:
    assert suspected(said) == suspect


def test_the_verb_runs_keeps_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, report = tmp_path / "campaign", tmp_path / "report.json"
    words = ["fuzz", "--programs", "2", "--size", "2:3", "--against", "order", "--jobs", "1", "--campaign", str(folder)]
    assert main([*words, "--report", str(report)]) == 0
    first = capsys.readouterr().out
    assert first.startswith("2 programs of ")
    assert first.endswith("words compared with order: none differ\n")
    shard = next(folder.glob("*.jsonl"))
    kept = shard.read_bytes()
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert shard.read_bytes() == kept
    assert json.loads(report.read_text())["programs"] == 2
    row = json.loads(kept.decode().partition(" ")[2])[1]
    assert result_of(row).record() == result_of(row | {}).record()
    assert main([*words, "--size", "2:4"]) == 2
    assert "another campaign" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "gpu:9"], "gpu:0 to gpu:3"),
        (["--against", "nobody"], "threads"),
        (["--size", "0"], "from 1 to 1000"),
        (["--size", "9:3"], "from 1 to 1000"),
        (["--with", "magic"], "contraction"),
        (["no-such-instruction"], "fits no-such-instruction"),
        (["--target", "sm_1"], "sm_1"),
    ],
)
def test_wrong_words_are_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--case", "1", *words]) == 2
    assert said in capsys.readouterr().err


def test_without_a_gpu_the_verb_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxloom.conformance.gpu._NAMES", ("libno-such-driver.so",))
    assert main(["fuzz", "--against", "gpu:0,gpu:3"]) == 2
    assert "no NVIDIA driver was found" in capsys.readouterr().err


def test_the_program_of_a_number_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--case", "7", "--size", "5"]) == 0
    text = capsys.readouterr().out
    assert not errors(text)
    assert main(["fuzz", "--case", "7", "--size", "5"]) == 0
    assert capsys.readouterr().out == text


def test_the_judge_asks_a_driver_as_it_is(tmp_path: Path) -> None:
    """By ptxloom's own driver: modules, memory and launches are the driver's."""
    report = tmp_path / "report.json"
    words = ["fuzz", "--programs", "3", "--size", "3:4", "--against", "gpu:3", "--jobs", "1", "--report", str(report)]
    command = [sys.executable, "-m", "ptxloom", "exec", "--device", "sm_90", "--", sys.executable, "-m", "ptxloom"]
    run = subprocess.run([*command, *words], capture_output=True, text=True, check=False, env=os.environ)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(report.read_text())["comparisons"] == 3


def test_the_page_tells_every_judge_and_idiom() -> None:
    page = (Path(__file__).parents[2] / "docs" / "fuzz.md").read_text(encoding="utf-8")
    assert [one for one in (*OWN, *IDIOMS) if f"`{one}`" not in page] == []
