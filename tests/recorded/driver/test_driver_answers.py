"""What a driver answers on an H100 to calls in right and wrong order.

Ours answers the same, or why it does not stands in `differences.toml`.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from driver.running import Running, needs_compiler, written
from recorded.driver.scenarios import RECORDINGS, file_of, rows_of

if TYPE_CHECKING:
    from recorded.driver.scenarios import Rows

pytestmark = needs_compiler
HERE = Path(__file__).parent
WORKERS = 2
NOT_SUPPORTED = 801


def recording(kind: str) -> dict[str, Rows]:
    """The rows of every scenario of a kind, as an H100's driver answered."""
    read: Any = json.loads(gzip.decompress((HERE / f"driver_{kind}.json.gz").read_bytes()))
    assert (read["gpu"], read["driver"]) == ("NVIDIA H100 80GB HBM3", "580.159.04")
    return read["scenarios"]


def replayed(kind: str, folder: Path) -> dict[str, Rows]:
    """The same scenarios on our driver."""
    running = Running("sm_90", on_hazard="ignore", memory_bytes=1 << 33)  # addresses: little of it is touched
    variables = {**running.environment, "PYTHONPATH": ":".join(map(str, (HERE.parents[2] / "src", HERE.parents[1])))}
    file = HERE / f"driver_{kind}.json.gz"
    command = [sys.executable, "-m", "recorded.driver.scenarios", str(folder), str(WORKERS), str(file)]
    try:
        subprocess.run(command, env=variables, check=True, timeout=300, capture_output=True)
    finally:
        running.server.close()
    return {name: rows_of(file_of(name, folder)) for name in RECORDINGS[kind]}


@pytest.mark.parametrize(("kind", "least"), [("answers", 8700), ("values", 1700)])
def test_our_driver_answers_as_one_on_silicon_did(
    kind: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "values":
        monkeypatch.setenv("PTXLOOM_MULTIPROCESSORS", "132")
    recorded = recording(kind)
    assert list(recorded) == list(RECORDINGS[kind])
    ours = replayed(kind, tmp_path)
    kept = tomllib.loads((HERE / "differences.toml").read_text(encoding="utf-8"))[kind]
    used: set[int] = set()
    unexplained: list[str] = []
    agreed = 0
    for name, rows in recorded.items():
        assert len(ours[name]) == len(rows), (name, ours[name][-1:])
        for number, (theirs, own) in enumerate(zip(rows, ours[name], strict=True)):
            assert own[0] == theirs[0], (name, number, own)
            if isinstance(theirs[1], str):
                continue
            if own == theirs:
                agreed += 1
            if own == theirs or (own[1] == NOT_SUPPORTED and theirs[0].partition("(")[0] not in written()):
                continue
            why = next((at for at, one in enumerate(kept) if explains(one, name, number, theirs[0])), None)
            if why is None:
                unexplained.append(f"{name} {number} {theirs[0]}: {theirs[1:]}, ours {own[1:]}")
            else:
                used.add(why)
    assert unexplained == []
    assert used == set(range(len(kept))), "a difference that is kept is none any more"
    assert agreed >= least


@pytest.mark.parametrize("page", ["docs/driver.md", "docs/changes-0.2.0.md"])
def test_documents_say_how_many_calls_were_recorded(page: str) -> None:
    text = (HERE.parents[2] / page).read_text(encoding="utf-8")
    count = sum(map(len, recording("answers").values()))
    assert f"{count:,} calls of every family" in text


def explains(one: dict[str, Any], scenario: str, number: int, call: str) -> bool:
    """Whether a reason stands for this row."""
    if not re.fullmatch(one.get("scenarios", ".*"), scenario):
        return False
    return number in one.get("rows", [number]) and re.search(one.get("calls", ""), call) is not None
