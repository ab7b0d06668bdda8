"""What a run spends on each test file: `--spend SECONDS` asks as many of its cases as cost that much, and no more.

`costs.json` says what a case of a test costs, in seconds of a processor, that of child processes included: not of the
clock, so that a machine with other work measures the same. `--costs` writes it anew for the tests of a run; a test that
is not listed is cheap.

Of each test of a file one case comes first, the cheapest first, then one more of each, and so on; cases of a test are
taken from all over its parameters. What no longer fits is skipped. The same is asked in each run, and of each file
something, be it dear.
"""

from __future__ import annotations

import json
import resource
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COSTS: Final = Path(__file__).with_name("costs.json")
CHEAP: Final = 0.02  # seconds that a case costs whose test is not listed, which would cost less
_GOLDEN: Final = (5**0.5 - 1) / 2


def _test_of(case: str) -> str:
    return case.partition("[")[0]


def read_costs(path: Path = COSTS) -> dict[str, float]:
    """Seconds of a processor that a case costs, by the name of its test."""
    files: dict[str, dict[str, float]] = json.loads(path.read_text("utf-8"))
    return {f"{file}::{test}": seconds for file, tests in files.items() for test, seconds in tests.items()}


def is_there(name: str, root: Path) -> bool:
    """Whether there is a test of this name: files below `root` are looked at."""
    file, _, test = name.partition("::")
    return (root / file).is_file() and f"def {test}(" in (root / file).read_text("utf-8")


def write_costs(measured: Mapping[str, float], path: Path = COSTS) -> None:
    """Put what a run measured, by the name of a case, in place of its tests' figures, and drop those gone."""
    cases: defaultdict[str, list[float]] = defaultdict(list)
    for case, seconds in measured.items():
        cases[_test_of(case)].append(seconds)
    means = read_costs(path) | {test: round(fmean(seconds), 2) for test, seconds in cases.items()}
    files: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for name, seconds in sorted(means.items()):
        if seconds > CHEAP and is_there(name, path.parents[1]):
            file, _, test = name.partition("::")
            files[file][test] = seconds
    path.write_text(json.dumps(files, indent=1) + "\n", "utf-8")


def processor() -> float:
    """Seconds of a processor that this process and the children that it has waited for have taken."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _turn(place: int) -> float:
    """When a case's turn comes, by its place among those of its test: neighbours far from each other."""
    return place * _GOLDEN % 1


def chosen(names: Sequence[str], costs: Mapping[str, float], seconds: float) -> set[str]:
    """The cases to ask.

    Args:
        names: All cases, as they are found.
        costs: Seconds of a processor that a case costs, by the name of its test.
        seconds: What may be spent on a file.
    """
    tests: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        tests[_test_of(name)].append(name)
    turns: defaultdict[str, list[tuple[int, float, str]]] = defaultdict(list)
    for test, cases in tests.items():
        cost = costs.get(test, CHEAP)
        for turn, place in enumerate(sorted(range(len(cases)), key=_turn)):
            turns[test.partition("::")[0]].append((turn, cost, cases[place]))
    asked = set[str]()
    for of_file in turns.values():
        spent = 0.0
        for _, cost, name in sorted(of_file):
            if not spent or spent + cost <= seconds:
                spent += cost
                asked.add(name)
    return asked
