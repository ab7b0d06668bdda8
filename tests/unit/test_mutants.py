"""Planted mistakes are other programs, the same ones for a seed; each word is about a mistake."""

import ast
import signal
import subprocess
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import create_autospec

import pytest

from ptxloom.machine.native import jit, llvm
from tool_modules import loaded

TOOL = Path(__file__).parents[2] / "tools" / "mutants.py"
TEXT = b'''"""Text: 1 < 2."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    LIMIT = 5
def f(a: "1 < 2", b=True) -> "3 + 4":
    assert a == 0, "never planted"
    return a << 2 if not (a < 3 and b) else f"{a + 1}" + "x"
\xc3\xa4 = "\xc3\xa4\xc3\xb6", 7 in (8, )
'''


SAME_LATER = b"import os\n\n\n" + TEXT.replace(b"def f", b"def g():\n    return a << 3\n\ndef f")
FROZEN = b"""
@dataclass(frozen=True, slots=True, order=True)
class A:
    b: int = field(default=1)
    def c(self):
        return [1
            + 2]
"""


@pytest.fixture
def tool() -> ModuleType:
    return loaded(TOOL)


def test_each_mistake_is_another_program_and_stands_where_it_should(tool: ModuleType) -> None:
    found = tool.mutants_of("x.py", TEXT)
    assert {one.before + " > " + one.after for one in found} == {
        "True > (False)", "a << 2 > (a >> 2)", "2 > (3)", "not (a < 3 and b) > (a < 3 and b)",
        "a < 3 and b > (a < 3 or b)", "a < 3 > (a <= 3)", "3 > (4)", "7 in (8,) > (7 not in (8,))", "7 > (8)",
        "8 > (9)",
    }  # fmt: skip
    plain = ast.dump(ast.parse(TEXT))
    for one in found:
        planted = one.planted(TEXT)
        assert ast.dump(ast.parse(planted)) != plain
        assert len(planted) - len(TEXT) == len(one.after.encode()) - (one.end - one.start)


def test_a_mistake_is_told_by_what_it_stands_in_wherever_that_is(tool: ModuleType) -> None:
    told = {one.told(TEXT) for one in tool.mutants_of("x.py", TEXT)}
    assert len(told) == 10
    assert told <= {one.told(SAME_LATER) for one in tool.mutants_of("x.py", SAME_LATER)}
    assert tool.Told("x.py", "", 'ä = "äö", 7 in (8, )', 'ä = "äö", (8) in (8, )') in told


def test_whether_a_dataclass_is_frozen_is_never_planted(tool: ModuleType) -> None:
    found = [one.told(FROZEN) for one in tool.mutants_of("x.py", FROZEN)]
    decorator = "@dataclass(frozen=True, slots=True, order=True)"
    assert [(one.name, one.line, one.planted) for one in found] == [
        ("A", "b: int = field(default=1)", "b: int = field(default=(2))"),
        ("A.c", "return [1\n            + 2]", "return [(1 - 2)]"),
        ("A.c", "return [1", "return [(2)"),
        ("A.c", "+ 2]", "+ (3)]"),
        ("A", decorator, decorator.replace("order=True", "order=(False)")),
    ]


def test_every_word_is_about_a_mistake_that_can_be_planted_and_says_why(tool: ModuleType) -> None:
    package = tool.ROOT / "src" / "ptxloom"
    known: set[object] = set()
    for file in {one.file for one in tool.words()}:
        text = (package / file).read_bytes()
        known |= {one.told(text) for one in tool.mutants_of(file, text)}
    stale = [one for one in tool.words() if one not in known]
    assert not stale, "what changes nothing is told of lines that are not there: look again"
    assert all(len(why.split()) >= 4 for why in tool.words().values())


def test_what_changes_nothing_is_not_tried(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    drawn = tool.sample(9, 3, ("fragments",))
    first = drawn[0][1]
    told = first.told((tool.ROOT / "src" / "ptxloom" / first.path).read_bytes())
    found = dict.fromkeys([one for _, one in drawn], "killed") | {drawn[1][1]: "lived"}
    monkeypatch.setattr(tool, "words", lambda: {told: "It changes nothing."})

    def copied(folder: Path, _objects: Path) -> Path:
        return folder

    def measured(*_: object) -> object:
        return tool.Reach({}, {})

    monkeypatch.setattr(tool, "copied", copied)
    monkeypatch.setattr(tool, "measured", measured)
    tries: list[object] = []

    def outcome(mutant: object, _copy: Path, _reach: object, _patience: float) -> object:
        tries.append(mutant)
        return tool.Outcome(found[mutant], "tests/a.py::test_b" if found[mutant] == "killed" else "", 0.5)

    monkeypatch.setattr(tool, "outcome", outcome)
    command = ["--count", "9", "--seed", "3", "--area", "fragments", "--jobs", "3", "--folder", str(tmp_path)]
    assert tool.main(command) == 1, "one of eight lived"
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("nothing  ")
    assert said[1].startswith("lived  ")
    assert said[2].endswith("  tests/a.py::test_b")
    assert said[-2:] == ["fragments          7 killed, 1 lived, 1 nothing", "7 killed, 1 lived, 1 nothing"]
    assert len(tries) == 8
    assert tool.main(command) == 1, "the same is known"
    assert (capsys.readouterr().out.splitlines(), len(tries)) == (said, 8)
    found[drawn[1][1]] = "killed"
    assert tool.main([*command, "--again"]) == 0, "what lived is tried again"
    assert tries[8:] == [drawn[1][1]]
    assert tool.main(command) == 0


def test_a_mistake_is_tried_with_the_tests_of_its_line_then_of_its_file_and_cheap_ones_first(tool: ModuleType) -> None:
    mutant = next(one for one in tool.mutants_of("x.py", TEXT) if one.line == 7)
    reach = tool.Reach(
        {"a::slow": 3.0, "a::quick": 1.0, "b::near": 2.0, "b::elsewhere": 0.5},
        {"x.py": {7: ["a::slow", "b::near", "b::fails"], 8: ["a::quick", "b::near"]}, "y.py": {7: ["b::elsewhere"]}},
    )
    assert reach.tests_for(mutant, 100) == ["b::near", "a::slow", "a::quick"]
    assert reach.tests_for(mutant, 5.5) == ["b::near", "a::slow"]
    assert reach.files_for(mutant) == ["a", "b"]
    unreached = next(one for one in tool.mutants_of("y.py", TEXT) if one.line == 8)
    assert reach.files_for(unreached) == ["b"]
    nobody = tool.Reach({"a::slow": 3.0, "b::elsewhere": 0.5}, {"y.py": {7: ["b::elsewhere"]}})
    assert nobody.tests_for(mutant, 100) == ["b::elsewhere", "a::slow"], "imports alone run it: any test may see it"


def test_tests_of_files_that_are_about_a_line_come_before_those_that_happen_to_reach_it(tool: ModuleType) -> None:
    mutant = next(one for one in tool.mutants_of("x.py", TEXT) if one.line == 7)
    others = {f"a::{number}": 0.1 for number in range(9)}
    reach = tool.Reach({"a::one": 0.1, **others, "b::one": 0.2, "b::two": 0.3}, {"x.py": {7: ["a::one", "b::one"]}})
    assert reach.tests_for(mutant, 0.75) == ["b::one", "a::one"]


def test_what_takes_the_processor_for_ever_is_endless_and_what_waits_for_ever_is_stuck(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def watched(code: str, bound: float) -> tuple[str, int]:
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        return tool._watched(process, bound)[0], process.returncode

    assert watched("while True: pass", 0.5) == ("endless", -signal.SIGKILL)
    spawning = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    assert watched(spawning, 0.5) == ("endless", -signal.SIGKILL)
    assert watched("raise SystemExit(3)", 60) == ("", 3)
    monkeypatch.setattr(tool, "_STILL", 0.5)
    assert watched("import time; time.sleep(3600)", 60) == ("stuck", -signal.SIGKILL)


def test_a_planted_mistake_is_what_a_copy_runs_and_is_gone_afterwards(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "src" / "ptxloom" / "x.py"
    file.parent.mkdir(parents=True)
    file.write_bytes(TEXT)
    before = file.stat().st_mtime_ns
    seen: list[tuple[bytes, float]] = []

    def asked(_copy: Path, _tests: list[str], _bound: float) -> object:
        seen.append((file.read_bytes(), file.stat().st_mtime))
        return tool.Outcome("lived", seconds=1.0)

    monkeypatch.setattr(tool, "asked", asked)
    reach = tool.Reach({"a::one": 2.0, "a::two": 20.0}, {"x.py": {7: ["a::one", "a::two"]}})
    mutants = [one for one in tool.mutants_of("x.py", TEXT) if one.line == 7][:2]
    for one in mutants:
        assert tool.outcome(one, tmp_path, reach, 40) == tool.Outcome("lived", seconds=3.0)
        assert (file.read_bytes(), file.stat().st_mtime_ns) == (TEXT, before)
    assert [text for text, _ in seen] == [one.planted(TEXT) for one in mutants for _ in range(3)]
    first, second = ({moment for text, moment in seen if text == one.planted(TEXT)} for one in mutants)
    assert not first & second, "what Python keeps of one is not taken for the other"


def _shown(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, folder: Path, answer: Callable[[list[str], bool], str]
) -> tuple[Any, list[tuple[list[str], bool]]]:
    """What becomes of a mistake if `answer` says which test fails of some, with the mistake or without; all calls."""
    file = folder / "src" / "ptxloom" / "x.py"
    file.parent.mkdir(parents=True)
    file.write_bytes(TEXT)
    calls: list[tuple[list[str], bool]] = []

    def asked(_copy: Path, tests: list[str], _bound: float) -> object:
        planted = file.read_bytes() != TEXT
        calls.append((tests, planted))
        said = answer(tests, planted)
        return tool.Outcome(said if said in {"lived", "crashed"} else "killed", said.removeprefix("crashed"), 1.0)

    monkeypatch.setattr(tool, "asked", asked)
    near = [f"tests/a.py::{name}" for name in ("one", "other")]
    reach = tool.Reach(dict.fromkeys(near, 1.0), {"x.py": {7: near}})
    mutant = next(one for one in tool.mutants_of("x.py", TEXT) if one.line == 7)
    found = tool.outcome(mutant, folder, reach, 40)
    assert file.read_bytes() == TEXT
    return found, calls


ONE, OTHER = "tests/a.py::one", "tests/a.py::other"


def test_what_sees_a_mistake_passes_without_it(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, calls = _shown(tool, monkeypatch, tmp_path, lambda _, planted: OTHER if planted else "lived")
    assert found == tool.Outcome("killed", OTHER, 2.0)
    assert calls == [([ONE, OTHER], True), ([ONE, OTHER], False)]


def test_a_test_that_fails_without_a_mistake_kills_none(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def answer(tests: list[str], _planted: bool) -> str:
        asked = {ONE} & {*tests} or {one for one in tests if one == "tests/a.py"} - {
            "tests/a.py" for one in tests if one == f"--deselect={ONE}"
        }
        return ONE if asked else "lived"

    found, calls = _shown(tool, monkeypatch, tmp_path, answer)
    assert found.word == "lived"
    assert [tests for tests, planted in calls if planted][:2] == [[ONE, OTHER], [OTHER]]
    assert [tests[-1] for tests, planted in calls if not planted] == [ONE, ONE], (
        "where it is seen first, and by its file"
    )
    assert calls[-1] == ([f"--deselect={ONE}", "--spend=40.0", "-m", "not sweep", "tests/a.py"], True)


def test_what_ends_the_process_without_a_mistake_says_nothing_of_one(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, calls = _shown(tool, monkeypatch, tmp_path, lambda _tests, _planted: "crashed")
    assert (found.word, len(calls)) == ("unclear", 2)


def test_a_process_that_a_mistake_alone_ends_has_seen_it(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found, _ = _shown(tool, monkeypatch, tmp_path, lambda _, planted: "crashed" if planted else "lived")
    assert found == tool.Outcome("crashed", "", 2.0)


def test_once_time_is_up_no_mistake_is_begun(
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def copied(folder: Path, _objects: Path) -> Path:
        return folder

    monkeypatch.setattr(tool, "copied", copied)

    def measured(*_: object) -> object:
        return tool.Reach({}, {})

    def outcome(*_: object) -> object:
        return tool.Outcome("lived")

    monkeypatch.setattr(tool, "measured", measured)
    monkeypatch.setattr(tool, "words", dict)
    monkeypatch.setattr(tool, "outcome", outcome)
    command = ["--count", "2", "--area", "fragments", "--jobs", "1", "--folder", str(tmp_path)]
    assert tool.main([*command, "--begin-for", "0"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 untried"
    assert tool.main(command) == 1, "what was not begun is tried another time"
    assert capsys.readouterr().out.splitlines()[-1] == "2 lived"
    assert tool.main([*command, "--begin-for", "0"]) == 1, "what is known is known"


def test_what_was_measured_is_read_as_it_was_written(tool: ModuleType, tmp_path: Path) -> None:
    reach = tool.Reach({"a": 1.5, "b": 0.25}, {"x.py": {3: ["b", "a"], 4: []}, "y.py": {1: ["a"]}})
    tool.kept(reach, tmp_path / "reach.json")
    assert tool.read(tmp_path / "reach.json") == reach


def test_a_sample_is_that_of_its_seed_and_takes_of_every_area(tool: ModuleType) -> None:
    first = tool.sample(20, 1)
    assert first == tool.sample(20, 1) != tool.sample(20, 2)
    assert len(set(first)) == 20
    assert {area for area, _ in first} == set(tool.AREAS)


@pytest.mark.parametrize("hook", ["_NATIVES", "_OBJECTS"])
def test_what_a_copy_listens_at_takes_and_passes_on_what_it_does_elsewhere(
    hook: str, tool: ModuleType, tmp_path: Path
) -> None:
    module = {"_NATIVES": jit, "_OBJECTS": llvm}[hook]
    text = getattr(tool, hook).format(folder=str(tmp_path))
    names = [one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef) and one.name[0] != "_"]
    real = {name: create_autospec(getattr(module, name), return_value=b"made") for name in names}
    space: dict[str, Any] = {"host": str, **real}
    exec(text, space)  # noqa: S102 - the text is the tool's own
    for name in names:
        form = signature(getattr(module, name))
        given = {one: one for one in form.parameters}
        assert space[name](**given) == b"made"
        (called,) = real[name].call_args_list
        assert form.bind(*called.args, **called.kwargs).arguments == given
