"""Results of a campaign as files: JSON lines, each with a digest, appended by one writer and merged when they are read.

A line is a digest and what it is of: the id and the result. What an interruption cut off, or anything else damaged, is
no line: its work is done again. Several shards may hold one id, from campaigns that went on at different places;
results are pure functions of their ids, so the first one counts.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_ENDING: Final = ".jsonl"
_HEAD: Final = "campaign.json"


class OtherCampaign(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A folder holds the results of another campaign."""


class Shards:
    """The results of one campaign in a folder.

    Args:
        folder: Where they are; it is made.
        campaign: What makes a campaign the same: a suite, cases, a judge. Values that JSON has.

    Raises:
        OtherCampaign: The folder holds those of another one.
    """

    def __init__(self, folder: Path, campaign: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        head, said = folder / _HEAD, json.dumps(campaign, sort_keys=True) + "\n"
        if not head.exists():
            _whole(head, said)
        elif head.read_text(encoding="utf-8") != said:
            raise OtherCampaign(f"{folder} holds another campaign's results; name another folder, or remove it")
        self._file = None

    def done(self) -> dict[str, Any]:
        """What is there, by id: damaged lines left out, of two with one id the first."""
        found: dict[str, Any] = {}
        for shard in sorted(self._folder.glob(f"*{_ENDING}")):
            for id_, result in _lines(shard):
                found.setdefault(id_, result)
        return found

    def append(self, id_: str, result: Any) -> None:
        """Keep a result; it is on the disk when this returns."""
        if self._file is None:
            self._file = _new_shard(self._folder)
        body = json.dumps([id_, result], separators=(",", ":"))
        self._file.write(f"{_digest(body)} {body}\n".encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """End the shard that this campaign writes."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _new_shard(folder: Path) -> Any:
    """A shard that nobody else writes: the next number that is free."""
    number = len(list(folder.glob(f"*{_ENDING}")))
    while True:
        try:
            return (folder / f"{number:06}{_ENDING}").open("xb")
        except FileExistsError:
            number += 1


def _lines(shard: Path) -> Iterator[tuple[str, Any]]:
    with shard.open("rb") as file:
        for line in file:
            digest, _, body = line.decode(errors="replace").rstrip("\n").partition(" ")
            if line.endswith(b"\n") and digest == _digest(body):
                id_, result = json.loads(body)
                yield id_, result


def _digest(body: str) -> str:
    return blake2b(body.encode(), digest_size=8).hexdigest()


def _whole(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
