"""What a search of folders skips unless it is named: files that tools have installed, built or cached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.files.names import exists

if TYPE_CHECKING:
    from pathlib import Path

_NAMES: Final = {
    ".git": "git's own",
    ".hg": "Mercurial's own",
    ".svn": "Subversion's own",
    "site-packages": "installed packages",
    "node_modules": "installed packages",
    "build": "a build folder",
    "dist": "a build folder",
    "_deps": "a build folder",
    "__pycache__": "a cache",
    ".tox": "environments of tests",
    ".nox": "environments of tests",
    ".venv": "a virtual environment",
    "venv": "a virtual environment",
}
"""Names of folders that are left out, and what they hold."""
_MARKS: Final = {
    "pyvenv.cfg": "a virtual environment",
    "CMakeCache.txt": "a build folder",
    "build.ninja": "a build folder",
    "CACHEDIR.TAG": "a cache",
}
"""Files that mark folders to leave out, and what these hold."""


def usual(path: Path, *, folder: bool) -> str:
    """Why a folder that was found in a search is skipped; empty if it is not.

    Example:
        >>> from pathlib import Path
        >>> usual(Path("kernels/node_modules"), folder=True), usual(Path("kernels"), folder=True)
        ('installed packages', '')
    """
    if not folder:
        return ""
    why = _NAMES.get(path.name, "")
    return why or next((what for mark, what in _MARKS.items() if exists(path / mark)), "")
