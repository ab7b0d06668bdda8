"""The inputs that fuzzing has collected, few that reach what all of them reach: `corpus.tar.xz`.

`python tests/fuzz/corpus.py unpack FOLDER` lays them into a folder for the fuzzer to go on from; `pack FOLDER` keeps
those of a folder instead, without the ones that reach nothing new.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import FrameType

    from _typeshed import TraceFunction

STORED: Final = Path(__file__).with_name("corpus.tar.xz")
_WATCHED: Final = str(Path("ptxloom", "syntax"))

_Line = tuple[str, int]
_Step = tuple[_Line | None, _Line, int]
"""A line, the one executed before it, and how often, in powers of two."""


def inputs() -> tuple[bytes, ...]:
    """Every input that is kept, in the order of their names."""
    with tarfile.open(STORED) as archive:
        files = [archive.extractfile(member) for member in archive.getmembers()]
        return tuple(file.read() for file in files if file is not None)


def unpack(folder: Path) -> None:
    """Lay the inputs into a folder, each named by its digest."""
    folder.mkdir(parents=True, exist_ok=True)
    for data in inputs():
        (folder / _name(data)).write_bytes(data)


def pack(folder: Path) -> None:
    """Keep the files of a folder instead of the inputs so far; the same files give the same bytes."""
    from fuzz_parse import one_input  # noqa: PLC0415 - beside this script when it is run

    kept = {_name(data): data for data in fewest((one.read_bytes() for one in folder.iterdir()), one_input)}
    with tarfile.open(STORED, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for name, data in sorted(kept.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def fewest(candidates: Iterable[bytes], judge: Callable[[bytes], None]) -> list[bytes]:
    """From the shortest on, those inputs that take the parser through steps that no shorter one has taken."""
    kept: list[bytes] = []
    seen: set[_Step] = set()
    for data in sorted(set(candidates), key=lambda one: (len(one), one)):
        steps = _steps(data, judge)
        if not steps <= seen:
            seen |= steps
            kept.append(data)
    return kept


def _steps(data: bytes, judge: Callable[[bytes], None]) -> set[_Step]:
    counts: Counter[tuple[_Line | None, _Line]] = Counter()
    last: _Line | None = None

    def note(frame: FrameType, event: str, _argument: object) -> TraceFunction | None:
        nonlocal last
        if event == "call":
            return note if _WATCHED in frame.f_code.co_filename else None
        if event == "line":
            line = (frame.f_code.co_filename, frame.f_lineno)
            counts[last, line] += 1
            last = line
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        judge(data)
    finally:
        sys.settrace(before)
    return {(one, other, count.bit_length()) for (one, other), count in counts.items()}


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](Path(sys.argv[2]))
