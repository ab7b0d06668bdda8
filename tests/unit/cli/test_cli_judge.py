"""`ptxloom judge` from the command line: what cannot be judged is a sentence, several kernels are a campaign."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ptxloom.judge import read_verdict, verdict
from ptxloom.judge.verdict import NoVerdict, Verdict, digest_of

Run = Callable[..., Any]
SHOWN = Path(__file__).parents[3] / "examples"
GOOD = "import numpy as np\nshapes = [4]\ninputs = lambda seed, shape: {'p': np.zeros(4)}\nreference = lambda p: p\n"
BAD = {
    "": "it has no function `inputs`",
    "1 / 0": "running it raised ZeroDivisionError",
    "inputs = reference = print": "it has no `shapes`",
    GOOD + "shapes = 'x'": "it has no `shapes`",
    GOOD + "shapes = [(1, 'x')]": "not a tuple of whole numbers",
    GOOD + "data = ['nope']": "data has to list some of",
    GOOD + "data = 'ones'": "data has to list some of",
    GOOD + "tolerance = {'percent': 1}": "tolerance has to be a dict of",
    GOOD + "tolerance = 3": "tolerance has to be a dict of",
    GOOD + "inputs = lambda seed, shape: 3": "has to return a dict",
    GOOD + "inputs = lambda seed, shape: {'a b': 3}": "the name 'a b', which no parameter can have",
    GOOD + "inputs = lambda seed, shape: {'p': 'x'}": "p, which is not a NumPy array or a number",
    GOOD + "inputs = lambda seed, shape: 1 / 0": "inputs(0, (4,)) raised ZeroDivisionError",
    GOOD + "reference = lambda p: {'q': p}": "returns 'q' of shape [4]",
    GOOD + "reference = lambda p: p[:2]": "returns 'p' of shape [2], not [4]",
    GOOD + "reference = lambda p: {}": "returns no output",
    GOOD + "launch = lambda shape: {'blocks': 3}": "has to return a dict of grid, block, cluster, shared_bytes",
}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("saxpy.ptx", "saxpy.py", "vector_add.ptx"):
        shutil.copy(SHOWN / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("text", BAD)
def test_a_reference_that_says_too_little_is_told_in_a_sentence(run: Run, work: Path, text: str) -> None:
    (work / "r.py").write_text(text, encoding="utf-8")
    ran = run("judge", "saxpy.ptx", "--against", "r.py")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("ptxloom: r.py: ")
    assert BAD[text] in ran.err


def test_a_kernel_that_is_not_legal_is_refused(run: Run, work: Path) -> None:
    (work / "k.ptx").write_text(".version 8.0\n.target sm_80\n.entry k() { nope; }", encoding="utf-8")
    ran = run("judge", "k.ptx", "--against", "saxpy.py", "--output-format", "json")
    said = json.loads(ran.out)
    assert (ran.code, said["passed"], said["hacks"]) == (1, False, ["not-legal"])


def test_several_kernels_are_a_campaign_that_goes_on(run: Run, work: Path) -> None:
    words = ("judge", "saxpy.ptx", "vector_add.ptx", "--against", "saxpy.py", "--seeds", "1", "--campaign", "kept")
    ran = run(*words, "--jobs", "1", "--output-format", "concise")
    assert ran.code == 1
    assert ran.out.startswith("saxpy.ptx: passed\nvector_add.ptx: refused: ")
    kept = (work / "kept" / "000000.jsonl").read_bytes()
    again = run(*words, "--jobs", "1", "--output-format", "concise")
    assert again.out == ran.out
    assert [path.read_bytes() for path in (work / "kept").glob("*.jsonl")] == [kept]


def test_a_verdict_is_checked(run: Run, work: Path) -> None:
    words = ("judge", "saxpy.ptx", "--against", "saxpy.py", "--seeds", "1")
    assert run(*words, "--output-format", "json", "-o", "verdict.json").code == 0
    assert run(*words, "--verify", "verdict.json").code == 0
    said = (work / "verdict.json").read_text(encoding="utf-8")
    (work / "changed.json").write_text(said.replace('"wrong": 0', '"wrong": 1', 1), encoding="utf-8")
    assert "its digest does not match its contents" in run(*words, "--verify", "changed.json").err
    other = run(*words, "--first-seed", "3", "--verify", "verdict.json")
    assert (other.code, "seeds, cases differ" in other.out) == (1, True)


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", '{"digest": 1}', "[" * 5000])
def test_what_is_no_verdict_is_refused(text: str) -> None:
    with pytest.raises(NoVerdict):
        read_verdict(text)


@pytest.mark.parametrize(
    ("member", "value"),
    [("seeds", ["1"]), ("passed", 1), ("kernel", {"file": "k.ptx"}), ("cases", [{"case": "all"}]), ("more", 1)],
)
def test_what_is_shaped_otherwise_is_no_verdict(member: str, value: object) -> None:
    said = Verdict("k.ptx", "1", "r.py", "2", (1, 2), cases=(verdict.Tested("all", True, 0, 4, 5, "3"),)).as_data()
    assert read_verdict(json.dumps(said)) == said
    said |= {member: value}
    with pytest.raises(NoVerdict, match="not a verdict"):
        read_verdict(json.dumps(said | {"digest": digest_of(said)}))
