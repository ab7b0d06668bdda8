"""Every task of the people for whom ptxloom is made, as they would try it."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from ptxloom.cli.command_line import VERBS
from tasks.people import Attempt, Task, attempt, tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

TASKS: Final[Sequence[Task]] = tasks()
LEAST: Final = 60


def _has_compiler() -> bool:
    return find_spec("nvidia") is not None or shutil.which("nvcc") is not None


def test_there_are_as_many_as_were_promised_and_all_users_have_some() -> None:
    users = Counter(task.user for task in TASKS)
    assert sum(users.values()) >= LEAST
    assert len(users) == 8
    assert min(users.values()) >= 4
    assert len({task.name for task in TASKS}) == len(TASKS)


def test_every_verb_that_reads_or_runs_is_wanted_by_somebody() -> None:
    typed = " ".join(task.line for task in TASKS)
    rare = {"atom", "debug", "descriptor", "doctor", "emit", "schema", "shared", "tensormap"}
    assert {verb for verb in VERBS if f"ptxloom {verb}" not in typed} <= rare


def test_few_are_open() -> None:
    assert sum(bool(task.open) for task in TASKS) <= 6


def test_a_task_fails_for_its_code_and_its_words() -> None:
    task = TASKS[0]
    assert Attempt(task.code, " ".join(task.says)).failures(task) == []
    assert Attempt(task.code + 1, " ".join(task.says)).failures(task)
    assert Attempt(task.code, " ".join(task.says) + '\n  File "lib/ptxloom/cli/__init__.py", line 3').failures(task)
    said = next(one for one in TASKS if one.says)
    assert Attempt(said.code, "").failures(said)


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_succeeds(task: Task, tmp_path: Path) -> None:
    if missing := [name for name in task.needs if find_spec(name) is None]:
        pytest.skip(f"{', '.join(missing)} is not installed")
    if task.compiles and not _has_compiler():
        pytest.skip("no compiler of CUDA C++ is installed")
    got = attempt(task, tmp_path, Path(sys.executable).parent)
    if task.open and got.failures(task):
        pytest.xfail(task.open)
    assert got.failures(task) == [], f"$ {task.line}\n{got.printed}"
