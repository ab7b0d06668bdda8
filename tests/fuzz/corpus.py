"""The inputs that fuzzing has collected, the fewest that reach what all of them reach: `corpus.tar.xz`.

`python tests/fuzz/corpus.py unpack FOLDER` lays them into a folder for the fuzzer to go on from, and
`python tests/fuzz/corpus.py pack FOLDER` keeps a folder's; `python tests/fuzz/fuzz_parse.py -merge=1 NEW OLD` makes few
of many first.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
from pathlib import Path
from typing import Final

STORED: Final = Path(__file__).with_name("corpus.tar.xz")


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
    kept = {_name(data): data for data in (path.read_bytes() for path in folder.iterdir() if path.is_file())}
    with tarfile.open(STORED, "w:xz", format=tarfile.USTAR_FORMAT, preset=9) as archive:
        for name, data in sorted(kept.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))


def _name(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


if __name__ == "__main__":
    {"pack": pack, "unpack": unpack}[sys.argv[1]](Path(sys.argv[2]))
