"""Which files git ignores: by the `.gitignore` files of a repository, and its `info/exclude`."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final, TypeAlias

from ptxloom.diagnostics import PtxloomError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_SETTINGS, content
from ptxloom.files.names import exists, is_file
from ptxloom.settings.patterns import Patterns

_OWN: Final = ".gitignore"


class BadPatterns(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A file of patterns cannot be read."""


def ignored_by(path: Path, *, folder: bool) -> Path | None:
    """The file that makes git ignore a path, apart from the folders above; None if git does not ignore it.

    Args:
        path: From the root on.
        folder: Whether it is a folder.

    Raises:
        BadPatterns: A file of patterns is too long.
    """
    for file, patterns in _rules(path.parent) or ():
        said = patterns.says(path.relative_to(_speaks_of(file)).as_posix(), folder=folder)
        if said is not None:
            return file if said else None
    return None


def forget() -> None:
    """Forget cached files, which may have changed."""
    _KNOWN.clear()


_Rules: TypeAlias = tuple[tuple[Path, Patterns], ...]
_KNOWN: Final[dict[Path, _Rules | None]] = {}


def _rules(folder: Path) -> _Rules | None:
    """The files of patterns that count in a folder, the nearest first; None outside of any repository.

    Results for parent folders are cached, so that a search reads each folder once.
    """
    at = folder
    between: list[tuple[Path, _Rules]] = []
    while at not in _KNOWN:
        own, is_repository = _in_folder(at)
        if is_repository:
            _KNOWN[at] = own
        elif at == at.parent:
            _KNOWN[at] = None
        else:
            between.append((at, own))
            at = at.parent
    rules = _KNOWN[at]
    for place, own in reversed(between):
        rules = _KNOWN[place] = None if rules is None else (*own, *rules)
    return rules


def _in_folder(folder: Path) -> tuple[_Rules, bool]:
    """The files of patterns that a folder has, and whether it is a repository."""
    own = _read(folder / _OWN)
    return ((*own, *_read(folder / ".git" / "info" / "exclude")), True) if exists(folder / ".git") else (own, False)


def _speaks_of(file: Path) -> Path:
    """The folder that a file's patterns are relative to."""
    return file.parents[2] if file.name == "exclude" else file.parent


def _read(file: Path) -> _Rules:
    """One file of patterns; empty where git ignores the file, because it cannot be read or is a link.

    Raises:
        BadPatterns: It is too long.
    """
    try:
        if file.name == _OWN and file.is_symlink():
            return ()
        text = content(file, MOST_SETTINGS)
    except (OSError, ValueError):
        return ()
    except OutOfReach as error:
        if not is_file(file):
            return ()
        raise BadPatterns(f"{file}: {error}; `--no-respect-gitignore` does without it") from None
    return ((file, Patterns.of_bytes(text.removeprefix(codecs.BOM_UTF8).split(b"\n"))),)
