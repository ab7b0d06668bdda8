"""A campaign's folder that somebody else has filled: what is no result is done again, and nothing else comes of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

import ptxloom as pl
from ptxloom.campaigns import Shards, Share, fits, in_form
from ptxloom.campaigns.shards import OtherCampaign
from ptxloom.checker.verdicts import Question
from ptxloom.cli import judging, sweeping
from ptxloom.cli.verbs.agreement import judge
from ptxloom.conformance import conform
from ptxloom.diagnostics import PtxloomError
from ptxloom.fuzzing.work import Result, result_of
from ptxloom.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

DEEP: Final = "[" * 100_000
WRONG: Final[tuple[Any, ...]] = (
    None,
    5,
    True,
    "",
    "x",
    [],
    [[]],
    {},
    {"outcome": []},
    {"cannot": 5},
    {"digest": ""},
    {"path": 1},
)


def line(body: str) -> str:
    return f"{blake2b(body.encode(), digest_size=8).hexdigest()} {body}\n"


def folder_with(folder: Path) -> Path:
    """A folder that holds one result."""
    shards = Shards(folder, {"squares": 4})
    shards.append("2", 4)
    shards.close()
    return folder


@pytest.mark.parametrize(
    "body", [DEEP, f'["3",{DEEP}', "5", "[]", '["3"]', '["3",9,9]', "[[],9]", '{"3":9}', "no JSON", '["3","9"]']
)
def test_what_is_no_result_is_none(tmp_path: Path, body: str) -> None:
    (folder_with(tmp_path) / "000007.jsonl").write_text(line(body))
    assert Shards(tmp_path, {"squares": 4}).done(in_form(int)) == {"2": 4}


SCRIPT: Final = """
import resource, sys
from pathlib import Path
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from ptxloom.campaigns import Shards, in_form
print(Shards(Path(sys.argv[1]), {"squares": 4}).done(in_form(int)))
"""


def zeros(path: Path) -> None:
    """A file of four gigabytes that takes no room on the disk."""
    path.touch()
    os.truncate(path, 1 << 32)


def device(path: Path) -> None:
    """A link to what has no end."""
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, device, zeros])
def test_what_has_no_end_is_no_shard(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(folder_with(tmp_path) / "000007.jsonl")
    environment = {**os.environ, "PYTHONPATH": str(Path(pl.__file__).parents[1])}
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.stdout == "{'2': 4}\n", done.stderr


@pytest.mark.parametrize("head", [b"\xff\xfe", b"{}" * 100, None])
def test_a_head_that_says_something_else_is_another_campaigns(tmp_path: Path, head: bytes | None) -> None:
    path = tmp_path / "campaign.json"
    if head is None:
        os.mkfifo(path)
    else:
        path.write_bytes(head)
    with pytest.raises(OtherCampaign):
        Shards(tmp_path, {"squares": 4})


TEXT: Final = Question(Source(".version 8.0\n.target sm_80\n", "k.ptx"), None, None, hints=True)
SHARES: Final = {"k": Share("k", TEXT)}
ROW: Final = Result(1, 2, findings=()).record()
FINDING: Final[dict[str, Any]] = dict.fromkeys(("opinion", "suspect", "where", "given", "expected", "ptx"), "") | {
    "case": 7, "steps": [1, 2], "opinions": {}, "verified": True
}  # fmt: skip
TOLD: Final = {"outcome": "right", "said": "", "hazards": ["a"], "costs": dict.fromkeys(sweeping.COUNTED, 1)}
READERS: Final[dict[str, tuple[Callable[[str, Any], Any], tuple[Any, ...]]]] = {
    "check": (lambda key, said: judging._read(SHARES, key, said), ("W10=",)),
    "conform": (conform._kept, ({"path": "k", "cases": 1, "differ": 0},)),
    "fuzz": (lambda _, said: result_of(said), (ROW, ROW | {"findings": [FINDING]})),
    "judge": (judge._kept, ({"cannot": "why"},)),
    "sweep": (sweeping.told_before, (TOLD, TOLD | {"costs": {}})),
}


@pytest.mark.parametrize("verb", READERS)
def test_a_verb_knows_its_own_results(verb: str) -> None:
    read, right = READERS[verb]
    for one in right:
        assert read("k", json.loads(json.dumps(one)))
    others = [one for name, (_, some) in READERS.items() if name != verb for one in some]
    for one in (*WRONG, *others):
        with pytest.raises((AttributeError, LookupError, TypeError, ValueError, PtxloomError)):
            read("k", one)


@pytest.mark.parametrize("case", ["../../../of_somebody", 1.5, None])
def test_a_finding_names_no_file(case: object) -> None:
    """`fuzz --bundle` calls a file by its program's number."""
    with pytest.raises(ValueError, match="a result"):
        result_of(ROW | {"findings": [FINDING | {"case": case}]})


def test_forms() -> None:
    assert fits({"a": [1], "b": [1, "x"]}, {"a": [int], "b": (int, str)})
    others: list[Any] = [
        {"a": 1},
        {"a": [1], "b": [1]},
        {"a": ["x"], "b": [1, "x"]},
        {"a": [], "b": [1, "x"], "c": 0},
        [],
        "ab",
    ]
    for other in others:
        assert not fits(other, {"a": [int], "b": (int, str)})
