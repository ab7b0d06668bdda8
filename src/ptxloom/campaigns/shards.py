"""Results of a campaign as files: JSON lines, each with a digest, appended by one writer and merged when they are read.

A line is a digest, and the id and result that it covers. Lines that an interruption cut off, or that are otherwise
damaged, are ignored: their work is done again, as it is for pipes, endless lines or foreign results in the folder.
Several shards may hold one id, from campaigns that continued at different places; results are pure functions of their
ids, so the first one counts.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ptxloom.diagnostics import PtxloomError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import content
from ptxloom.files.regular import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

R = TypeVar("R")

_ENDING: Final = ".jsonl"
_HEAD: Final = "campaign.json"
_MOST_LINE: Final = 1 << 26  # bytes


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
        elif not _holds(head, said.encode()):
            raise OtherCampaign(f"{folder} holds another campaign's results; name another folder, or remove it")
        self._file = None

    def done(self, read: Callable[[str, Any], R]) -> dict[str, R]:
        """The results, by id, without damaged lines and foreign data; of two with one id, the first.

        Args:
            read: Makes a result from an id and the JSON value; if it is not a result, raises AttributeError,
                LookupError, TypeError, ValueError or PtxloomError.
        """
        found: dict[str, R] = {}
        for shard in sorted(self._folder.glob(f"*{_ENDING}")):
            for id_, told in _lines(shard):
                with suppress(AttributeError, LookupError, TypeError, ValueError, PtxloomError):
                    found.setdefault(id_, read(id_, told))
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
    """A shard that no other process writes: the next free number."""
    number = len(list(folder.glob(f"*{_ENDING}")))
    while True:
        try:
            return (folder / f"{number:06}{_ENDING}").open("xb")
        except FileExistsError:
            number += 1


def _holds(path: Path, wanted: bytes) -> bool:
    try:
        return content(path, len(wanted)) == wanted
    except OutOfReach:
        return False


def _lines(shard: Path) -> Iterator[tuple[str, Any]]:
    with suppress(OSError, OutOfReach), opened(shard) as file:
        while (line := file.readline(_MOST_LINE)).endswith(b"\n"):  # what is cut off or too long ends the shard
            digest, _, body = line.decode(errors="replace").rstrip("\n").partition(" ")
            if digest == _digest(body):
                yield from _pair(body)


def _pair(body: str) -> Iterator[tuple[str, Any]]:
    """An id and what is kept under it, if a line has them."""
    try:
        pair: Any = json.loads(body)
    except (ValueError, RecursionError):
        return
    match pair:
        case [str(id_), told]:
            yield id_, told
        case _:
            pass


def _digest(body: str) -> str:
    return blake2b(body.encode(), digest_size=8).hexdigest()


def _whole(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)
