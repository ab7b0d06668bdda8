"""Planted mistakes are other programs, the same ones for a seed, and each area has tests."""

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


def test_a_sample_is_that_of_its_seed_and_takes_of_every_area(tool: ModuleType) -> None:
    first = tool.sample(20, 1)
    assert first == tool.sample(20, 1) != tool.sample(20, 2)
    assert len(set(first)) == 20
    assert {area for area, _ in first} == set(tool.AREAS)


def test_every_area_has_tests(tool: ModuleType) -> None:
    for tests in tool.AREAS.values():
        for one in tests:
            assert (tool.ROOT / one).exists(), one
