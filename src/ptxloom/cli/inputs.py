"""Where PTX comes from: files of every kind, folders and standard input; what cannot be read is one sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli.output import reason, talk
from ptxloom.diagnostics import PtxloomError
from ptxloom.files import only, texts, texts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ptxloom.source import Source

STDIN: Final = "-"


class CannotRead(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A name given on the command line leads to no text."""


def read(name: str, target: str | None = None) -> Source:
    """The one PTX text in a file, or in standard input for `-`.

    Args:
        name: The file, or `file:text` for one of several in it.
        target: What CUDA C++ is compiled for.

    Raises:
        PtxloomError: The file is missing, a folder, not text, or empty, or holds no PTX or several texts.
    """
    return only(sources(name, target), name)


def each(names: Iterable[str], target: str | None = None) -> Iterator[Source | None]:
    """Every PTX text in each file in turn; None for a file that cannot be read, when it has been said why."""
    for name in names:
        try:
            yield from sources(name, target)
        except PtxloomError as error:
            talk(f"ptxloom: {error}")
            yield None


def sources(name: str, target: str | None = None) -> tuple[Source, ...]:
    """Every PTX text in one file; arguments and errors are those of `read`, but that there may be several.

    Raises:
        PtxloomError: The file is missing, not text, empty, or holds no PTX.
    """
    found = texts_of(sys.stdin.buffer.read(), "<stdin>") if name == STDIN else texts(name, target)
    for source in found:
        if not source.text.strip():
            raise CannotRead(f"{source.name}: there is nothing in it")
    return found


def files(names: Iterable[str]) -> tuple[str, ...]:
    """The files that names stand for: a folder stands for every `.ptx` file below it, in order.

    Raises:
        CannotRead: A folder holds no PTX or may not be searched, or a name is empty.
    """
    found: dict[str, None] = {}
    for name in names:
        if not name:
            raise CannotRead("the name of a file is empty, as a variable leaves it that is not set")
        if name != STDIN and _is(Path.is_dir, name):
            below = _below(name)
            if not below:
                raise CannotRead(f"{name}: there is no .ptx file in this directory")
            found.update(dict.fromkeys(below))
        else:
            found[name] = None
    return tuple(found)


def is_file(name: str) -> bool:
    """Whether a word is the name of a file."""
    return _is(Path.is_file, name)


def _is(what: Callable[[Path], bool], name: str) -> bool:
    """Ask of a name; one that no file can have is answered with no."""
    try:
        return what(Path(name))
    except (OSError, ValueError):
        return False


def _below(name: str) -> list[str]:
    """Every PTX file below a folder.

    Raises:
        CannotRead: A folder may not be searched.
    """

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):  # one that somebody took away meanwhile holds nothing
            raise CannotRead(f"{error.filename}: the directory cannot be searched ({reason(error)})")

    found = (Path(folder) / file for folder, _, here in os.walk(name, onerror=refuse) for file in here)
    return sorted(str(path) for path in found if path.suffix == ".ptx" and path.is_file())
