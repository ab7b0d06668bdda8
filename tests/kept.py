"""What takes seconds to make and is the same in every process of a run: made once, and kept from run to run.

It lies beside pytest's own cache, under a name of all that it is made of, so that what is kept is what would be made.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import ptxloom

if TYPE_CHECKING:
    from collections.abc import Callable

_TESTS: Final = Path(__file__).parent
_FOLDER: Final = _TESTS.parent / ".pytest_cache" / "kept"
_ELSEWHERE: Final = Path(".cache") / "ptxloom-tests"
"""In a user's own folder, where the tree is somebody else's."""
_OLD: Final = 86_400.0  # seconds since a folder was made that other sources have replaced, and that is no longer read


@cache
def all_sources() -> str:
    """A digest of every source of the package and of its tests, and of what runs them."""
    told = hashlib.sha256(repr((sys.version, version("llvmlite"), version("numpy"))).encode())
    package = Path(ptxloom.__file__).parent
    for root, pattern in ((package, "*"), (_TESTS, "*.py")):
        for path in sorted(root.rglob(pattern)):
            if path.is_file() and path.suffix != ".pyc":
                told.update(str(path.relative_to(root)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return told.hexdigest()[:24]


def folder_of_tree() -> Path:
    """Where things are kept unless it is said: beside pytest's cache if this user may write there."""
    try:
        _FOLDER.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path.home() / _ELSEWHERE
    return _FOLDER if os.access(_FOLDER, os.W_OK) else Path.home() / _ELSEWHERE


def kept(name: str, key: str, make: Callable[[Path], None], folder: Path | None = None) -> Path:
    """A folder with what `make` puts there; where another process makes it, this one waits.

    Args:
        name: What it is.
        key: A digest of what it is made of.
        make: Fills a folder. What it raises is raised, and nothing is kept.
        folder: Where such folders lie.
    """
    folder = folder or folder_of_tree()
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{name}-{key}"
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            _forget(folder, name)
            work = Path(tempfile.mkdtemp(dir=folder, prefix="made-"))
            try:
                make(work)
                work.rename(place)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    finally:
        os.close(lock)
    return place


def _forget(folder: Path, name: str) -> None:
    for one in folder.glob(f"{name}-*"):
        if time.time() - one.stat().st_mtime > _OLD:
            shutil.rmtree(one, ignore_errors=True)
