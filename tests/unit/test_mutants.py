"""Planted mistakes are other programs, the same ones for a seed; each word is about a mistake."""

import ast
from pathlib import Path
from types import ModuleType

import pytest

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
    tool: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = tool.sample(9, 3, ("fragments",))
    first = drawn[0][1]
    told = first.told((tool.ROOT / "src" / "ptxloom" / first.path).read_bytes())
    found = dict.fromkeys([one for _, one in drawn], "killed") | {drawn[1][1]: "lived"}
    monkeypatch.setattr(tool, "words", lambda: {told: "It changes nothing."})

    def measured(_copy: Path, _processes: int, _tests: list[str], _spend: float) -> object:
        return tool.Reach({}, {})

    monkeypatch.setattr(tool, "measured", measured)

    def outcome(mutant: object, _copy: Path, _reach: object, _patience: float) -> object:
        return tool.Outcome(found[mutant], "tests/a.py::test_b" if found[mutant] == "killed" else "")

    monkeypatch.setattr(tool, "outcome", outcome)
    assert tool.main(["--count", "9", "--seed", "3", "--area", "fragments", "--jobs", "3"]) == 1, "one of eight lived"
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("nothing  ")
    assert said[1].startswith("lived  ")
    assert said[2].endswith("  tests/a.py::test_b")
    assert said[-1] == "7 killed, 1 lived, 1 nothing"


def test_a_mistake_is_tried_with_the_tests_of_its_line_then_of_its_file_and_the_quickest_first(
    tool: ModuleType,
) -> None:
    mutant = next(one for one in tool.mutants_of("x.py", TEXT) if one.line == 7)
    reach = tool.Reach(
        {"slow": 3.0, "quick": 1.0, "near": 2.0, "elsewhere": 0.5},
        {"x.py": {7: ["slow", "near", "fails"], 8: ["quick", "near"]}, "y.py": {7: ["elsewhere"]}},
    )
    assert reach.tests_for(mutant, 100) == ["near", "slow", "quick"]
    assert reach.tests_for(mutant, 5.5) == ["near", "slow"]
    nobody = tool.Reach({"slow": 3.0, "elsewhere": 0.5}, {"y.py": {7: ["elsewhere"]}})
    assert nobody.tests_for(mutant, 100) == ["elsewhere", "slow"], "imports alone run the file: any test may see it"


def test_what_was_measured_is_read_as_it_was_written(tool: ModuleType, tmp_path: Path) -> None:
    reach = tool.Reach({"a": 1.5, "b": 0.25}, {"x.py": {3: ["b", "a"], 4: []}, "y.py": {1: ["a"]}})
    tool.kept(reach, tmp_path / "reach.json")
    assert tool.read(tmp_path / "reach.json") == reach


def test_a_sample_is_that_of_its_seed_and_takes_of_every_area(tool: ModuleType) -> None:
    first = tool.sample(20, 1)
    assert first == tool.sample(20, 1) != tool.sample(20, 2)
    assert len(set(first)) == 20
    assert {area for area, _ in first} == set(tool.AREAS)
