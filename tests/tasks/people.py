"""What people want of ptxloom: tasks of the users for whom it is made, each a command line and what it must print.

A task is tried as its user would: by a shell, in a folder that holds their files and nothing else, with a home and
caches that are empty.

    python -m tasks.people                    # from `tests`: try all of them, and count those that succeed
    python -m tasks.people 'numba user'       # those of one user
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
PATIENCE: Final = 600
"""Seconds after which a task is hopeless; it has no other say in what is judged."""


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    Attributes:
        user: Whose it is.
        wants: What they want, in a sentence.
        line: What they type, to a shell.
        code: How it must end.
        says: What must be printed, on standard output or standard error.
        lacks: What must not be.
        files: What lies in their folder: names and texts.
        brings: Files of the repository that lie there, too, under the same names.
        needs: Modules without which it cannot be tried.
        compiles: Whether a compiler of CUDA C++ is needed.
        open: What ptxloom still lacks for it; empty for nothing.
    """

    user: str
    wants: str
    line: str
    code: int
    says: tuple[str, ...]
    lacks: tuple[str, ...]
    files: dict[str, str]
    brings: tuple[str, ...]
    needs: tuple[str, ...]
    compiles: bool
    open: str

    @property
    def name(self) -> str:
        """Whose it is, and what they want."""
        return f"{self.user}: {self.wants}"


_OURS: Final = re.compile(r"""^ *File "[^"\n]*[/\\]ptxloom[/\\][^"\n]*", line \d""", re.MULTILINE)
"""A frame of ptxloom in a traceback; what a user's program prints when it fails is its own."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of a task: how it ended, and all that it printed."""

    code: int
    printed: str

    def failures(self, task: Task) -> list[str]:
        """What differs from the task; nothing if it succeeded."""
        wrong = [f"ended with {self.code} instead of {task.code}"] if self.code != task.code else []
        wrong += [f"does not say {words!r}" for words in task.says if words not in self.printed]
        wrong += [f"says {words!r}" for words in task.lacks if words in self.printed]
        return [*wrong, "a traceback of ours"] if _OURS.search(self.printed) else wrong


def tasks() -> tuple[Task, ...]:
    """All of them, user by user."""
    return tuple(task for path in sorted((HERE / "users").glob("*.toml")) for task in _of_user(path))


def _of_user(path: Path) -> list[Task]:
    told: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    user = path.stem.replace("_", " ")
    return [
        Task(
            user=user,
            wants=one["wants"],
            line=one["line"].strip(),
            code=one.get("exit", 0),
            says=tuple(one.get("says", ())),
            lacks=tuple(one.get("lacks", ())),
            files=told.get("files", {}),
            brings=tuple(told.get("brings", ())),
            needs=tuple(one.get("needs", ())),
            compiles=one.get("compiles", False),
            open=one.get("open", ""),
        )
        for one in told["task"]
    ]


def attempt(task: Task, folder: Path, scripts: Path) -> Attempt:
    """Try a task in an empty folder, with the commands of one environment.

    Args:
        task: Which one.
        folder: Where; it must be there, and empty.
        scripts: The folder of the environment's commands (`bin`).
    """
    work, home = folder / "work", folder / "home"
    home.mkdir()
    for name in task.brings:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, work / name)
    for name, text in task.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_text(text.lstrip("\n"), "utf-8")
    work.mkdir(exist_ok=True)
    done = subprocess.run(
        ["/bin/sh", "-c", task.line],
        cwd=work,
        env=_surroundings(home, scripts),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    return Attempt(done.returncode, done.stdout.decode("utf-8", "replace"))


def _surroundings(home: Path, scripts: Path) -> dict[str, str]:
    """The environment of somebody who has installed ptxloom and set nothing."""
    return {
        "PATH": os.pathsep.join([str(scripts), "/usr/local/bin", "/usr/bin", "/bin"]),
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PTXLOOM_CACHE": str(home / "cache"),
    }


def main() -> int:
    """Try all tasks that can be tried here, or those of the users that are named, and count."""
    scripts, tried, succeeded = Path(sys.executable).parent, 0, 0
    for task in tasks():
        if sys.argv[1:] and task.user not in sys.argv[1:]:
            continue
        if not all(map(find_spec, task.needs)):
            sys.stdout.write(f"skip  {task.name}\n")
            continue
        tried += 1
        with tempfile.TemporaryDirectory() as folder:
            got = attempt(task, Path(folder), scripts)
        failures = got.failures(task)
        succeeded += not failures
        sys.stdout.write(f"{'FAIL' if failures else 'ok  '}  {task.name}\n")
        if failures:
            printed = "\n".join(f"      | {line}" for line in got.printed.splitlines()[:12])
            sys.stdout.write(f"      $ {task.line}\n      {'; '.join(failures)}\n{printed}\n")
    sys.stdout.write(f"{succeeded} of {tried} succeeded\n")
    return int(succeeded < tried)


if __name__ == "__main__":
    sys.exit(main())
