"""What is kept on disk (machine code, what launches need, verdicts): an entry proves its bytes, or is made again.

What is kept is run. Ownership shows that no other user wrote it: a folder that others can write is not used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.ownership import distrust, doubt, ours

if TYPE_CHECKING:
    from collections.abc import Callable

_KEPT_BYTES: Final = 1 << 30  # what the cache may take
_MAGIC: Final = b"ptxloom code 1\n"
_LENGTH_BYTES: Final = 8
_OURS_ALONE: Final = 0o700
#: Folders that have no part in what is kept: packages above all that keep something, and Python's own cache.
_NO_PART: Final = frozenset(
    {"__pycache__"}
    | {"cli", "conformance", "cuda_driver", "diagnosis", "difference", "fuzzing", "judge", "lsp", "settings"}
    | {"tool_server", "triton", "views", "web"}
)
_HEAD_BYTES: Final = len(_MAGIC) + _LENGTH_BYTES + hashlib.sha256().digest_size


def cached(key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` returns, kept on disk under a key; ptxloom's own sources and this Python belong to every key.

    Neither a damaged entry nor a folder that cannot be written is an error: then `make` is called.
    """
    content = kept(key)
    if content is None:
        content = make()
        keep(key, content)
    return content


def kept(key: str) -> bytes | None:
    """The entry on disk under a key; None if it is missing or damaged."""
    name = _name(key)
    folder = cache_folder()
    return None if folder is None else _opened(name, f"{folder}/{name[:2]}/{name[2:]}")


def keep(key: str, content: bytes) -> None:
    """Keep something under a key, unless the folder cannot be written."""
    name = _name(key)
    folder = cache_folder()
    if folder is not None:
        _keep(folder / name[:2] / name[2:], _sealed(name, content))


def _name(key: str) -> str:
    return hashlib.sha256(f"{package_state()}\n{key}".encode("utf-8", "surrogatepass")).hexdigest()


def cache_folder() -> Path | None:
    """Where it is kept: `PTXLOOM_CACHE`, or the user's cache folder.

    Returns:
        None if the variable is empty, if the user's home is unknown, or if others can write there.
    """
    named = os.environ.get("PTXLOOM_CACHE")
    if named is not None:
        return _believed(named) if named else None
    base = os.environ.get("XDG_CACHE_HOME") or ("~/Library/Caches" if sys.platform == "darwin" else "~/.cache")
    try:
        return _believed(str(Path(base).expanduser() / "ptxloom"))
    except RuntimeError:
        return None


@cache
def _believed(named: str) -> Path | None:
    """A folder for this user alone, made if need be; None, with a warning, if others can have written there."""
    folder = Path(named)
    with contextlib.suppress(OSError, ValueError):
        _make(folder)
    why = doubt(folder)
    if why:
        distrust(why)
    return None if why else folder


def _make(folder: Path) -> None:
    """Make a folder that is this user's alone, and what is missing above it."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(mode=_OURS_ALONE, exist_ok=True)


@cache
def package_state() -> str:
    """The state of ptxloom's source files: what they made is stale once one changes.

    The time of the last change of a file's state counts too: installers may set the other one as they like.
    """
    told = [f"{e.path} {(s := e.stat()).st_ctime_ns} {s.st_mtime_ns} {s.st_size}" for e in _sources()]
    return hashlib.sha256("\n".join([sys.version, *sorted(told)]).encode("utf-8", "surrogateescape")).hexdigest()


def _sources() -> list[os.DirEntry[str]]:
    """All that kept entries are made from: sources and data of the package, but of what makes no entries."""
    found: list[os.DirEntry[str]] = []
    folders = [str(Path(__file__).parent)]
    for folder in folders:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith((".py", ".toml")):
                    found.append(entry)
                elif "." not in name and name not in _NO_PART and entry.is_dir():
                    folders.append(entry.path)
    return found


def _digest(name: str, content: bytes) -> bytes:
    """What an entry must hold to be believed: it shows too that the content belongs to the name."""
    return hashlib.sha256(name.encode() + content).digest()


def _sealed(name: str, content: bytes) -> bytes:
    """An entry of the cache: what it is, how long its content is, the content's digest, the content."""
    return b"".join((_MAGIC, len(content).to_bytes(_LENGTH_BYTES, "little"), _digest(name, content), content))


def _opened(name: str, path: str) -> bytes | None:
    """The content of an entry; None if it is absent or damaged."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - launches open many, and need no parts of a path
            if not ours(os.fstat(file.fileno())):
                return None
            entry = file.read()
    except OSError:
        return None
    head, content = entry[:_HEAD_BYTES], entry[_HEAD_BYTES:]
    return content if head == _sealed(name, content)[:_HEAD_BYTES] else None


def _keep(path: Path, entry: bytes) -> None:
    """Write a file so that readers see all of it or nothing; a folder that cannot be written is not an error."""
    with contextlib.suppress(OSError):
        _make(path.parent)
        handle, beside = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(entry)  # which need not wait for the disk: a damaged file does not count as an entry
            Path(beside).replace(path)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
        if path.name.startswith("00"):  # now and then: one file in 256
            _trim(path.parents[1])


def _trim(folder: Path) -> None:
    """Drop the files used longest ago once the cache is too large; others may be doing the same."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.glob("??/*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((status.st_atime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= _KEPT_BYTES:
            return
        path.unlink(missing_ok=True)
        total -= size
