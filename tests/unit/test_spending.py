"""What a run asks of a file is what fits, the same each time, and never nothing."""

from __future__ import annotations

import resource
import subprocess
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

from spending import CHEAP, COSTS, chosen, is_there, processor, read_costs, write_costs

if TYPE_CHECKING:
    from pathlib import Path

DEAR = [f"a.py::dear[{n}]" for n in range(40)]
COSTS_OF_A = {"a.py::dear": 0.5, "a.py::whole": 0.3, "a.py::too_dear": 9.0}


def test_every_test_that_fits_is_asked_before_any_is_asked_twice() -> None:
    names = [*DEAR, "a.py::whole", "a.py::too_dear", *(f"a.py::cheap[{n}]" for n in range(3))]
    asked = chosen(names, COSTS_OF_A, 1.0)
    assert asked == {"a.py::dear[0]", "a.py::whole", "a.py::cheap[0]", "a.py::cheap[1]", "a.py::cheap[2]"}
    assert asked == chosen(names, COSTS_OF_A, 1.0)
    assert asked < chosen(names, COSTS_OF_A, 2.0)
    assert chosen(names, COSTS_OF_A, 100.0) == {*names}


def test_of_each_file_something_is_asked_be_it_dear() -> None:
    assert chosen(["a.py::too_dear", "b.py::cheap"], COSTS_OF_A, 0.2) == {"a.py::too_dear", "b.py::cheap"}
    assert chosen(["a.py::too_dear", *DEAR], COSTS_OF_A, 0.2) == {"a.py::dear[0]"}


def test_cases_are_taken_from_all_over_the_parameters() -> None:
    taken = sorted(DEAR.index(name) for name in chosen(DEAR, COSTS_OF_A, 5.0))
    assert len(taken) == 10
    assert max(second - first for first, second in pairwise(taken)) <= 8
    assert len({place % 4 for place in taken}) == 4


def test_what_was_measured_is_written_and_what_was_not_asked_is_kept(tmp_path: Path) -> None:
    costs = tmp_path / "tests" / "costs.json"
    costs.parent.mkdir()
    before = '{"a.py": {"test_dear": 0.5, "test_now_cheap": 2, "test_gone": 1}, "gone.py": {"test_a": 1}}'
    costs.write_text(before, "utf-8")
    for file, tests in (("a.py", ("test_dear", "test_now_cheap")), ("b.py", ("test_two",))):
        (tmp_path / file).write_text("".join(f"def {test}():\n    pass\n" for test in tests), "utf-8")
    write_costs({"a.py::test_now_cheap": CHEAP / 2, "b.py::test_two[a::b]": 0.1, "b.py::test_two[b]": 0.3}, costs)
    assert read_costs(costs) == {"a.py::test_dear": 0.5, "b.py::test_two": 0.2}


def test_what_children_take_is_counted() -> None:
    before, of_children = processor(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)
    took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - of_children
    assert 0 < took <= processor() - before


def test_what_is_listed_is_there() -> None:
    """Except for a few that got another name since."""
    gone = [name for name in read_costs() if not is_there(name, COSTS.parents[1])]
    assert len(gone) < len(read_costs()) / 20, "`make costs` measures them anew"
