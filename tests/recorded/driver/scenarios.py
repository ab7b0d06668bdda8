"""All scenarios, each run in a process of its own, on whichever driver the system finds.

    python -m recorded.driver.scenarios FOLDER WORKERS (RECORDING.json.gz | --only SCENARIO...)

writes a file of rows for each into the folder; with a recording, those that it holds go the ways that they went
there. A call that ends the process, or does not come back, is a row that says so, and is not made when the scenario is
run again for what is behind it.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from recorded.driver import (
    graph_memory_scenarios,
    graph_scenarios,
    memory_scenarios,
    module_scenarios,
    newer_scenarios,
    rare_scenarios,
    sharing_scenarios,
    startup_scenarios,
    stream_scenarios,
    value_scenarios,
)
from recorded.driver.calls import Calls

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    Rows: TypeAlias = list[list[Any]]

SCENARIOS: Final[dict[str, Callable[[Calls], None]]] = {
    **startup_scenarios.SCENARIOS,
    **memory_scenarios.SCENARIOS,
    **stream_scenarios.SCENARIOS,
    **module_scenarios.SCENARIOS,
    **graph_scenarios.SCENARIOS,
    **newer_scenarios.SCENARIOS,
    **graph_memory_scenarios.SCENARIOS,
    **sharing_scenarios.SCENARIOS,
    **rare_scenarios.SCENARIOS,
}
VALUES: Final = value_scenarios.SCENARIOS
"""Scenarios of a recording of their own, which keeps what calls say beside their status."""
RECORDINGS: Final = {"answers": SCENARIOS, "values": VALUES}
_ALL: Final = {**SCENARIOS, **VALUES}
_ATTEMPTS: Final = 80
_SECONDS: Final = 40
STOPPED: Final = "stopped"
"""What a row begins with that tells why a scenario could not go on."""


def file_of(name: str, folder: Path) -> Path:
    """Where the rows of a scenario go."""
    return folder / f"{list(_ALL).index(name):04}.jsonl"


def _attempt(name: str, path: Path, skipped: Collection[int], answers: Sequence[int]) -> bool:
    """Whether the scenario came to its end, in a child process."""
    child = os.fork()
    if child == 0:
        with path.open("w", encoding="utf-8") as out:
            try:
                _ALL[name](Calls(out, skipped, answers))
            except Exception:  # noqa: BLE001 - whatever stops a scenario stands in its rows
                out.write(json.dumps([STOPPED, traceback.format_exc()[-400:]]) + "\n")
        os._exit(0)
    end = time.monotonic() + _SECONDS
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002)


def run(name: str, folder: Path, recorded: Rows) -> None:
    """Run a scenario until it comes to its end, without the calls that end it."""
    path = file_of(name, folder)
    left = {number for number, row in enumerate(recorded) if isinstance(row[1], str)}
    answers = [-1 if isinstance(row[1], str) else row[1] for row in recorded]
    for _ in range(_ATTEMPTS):
        if _attempt(name, path, left, answers):
            return
        left.add(len(rows_of(path)))


def rows_of(path: Path) -> Rows:
    """The rows of a file; none of a row that is not whole."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def main(folder: Path, workers: int, names: Sequence[str], recorded: dict[str, Rows]) -> None:
    """Run some, by several workers."""
    children: list[int] = []
    for worker in range(workers):
        child = os.fork()
        if child == 0:
            for name in names[worker::workers]:
                run(name, folder, recorded.get(name, []))
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)


if __name__ == "__main__":
    chosen = sys.argv[4:]
    recorded: dict[str, Rows] = {}
    if sys.argv[3] != "--only":
        recorded = json.loads(gzip.decompress(Path(sys.argv[3]).read_bytes()))["scenarios"]
        chosen = list(recorded)
    main(Path(sys.argv[1]), int(sys.argv[2]), chosen, recorded)
