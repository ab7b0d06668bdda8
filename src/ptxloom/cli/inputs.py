"""Where PTX comes from: files, folders and standard input; whatever cannot be read is one sentence."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli.containers import extract
from ptxloom.cli.output import reason, talk
from ptxloom.diagnostics import PtxloomError
from ptxloom.source import Source
from ptxloom.syntax.loader import decoded, is_compiled, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STDIN: Final = "-"


class CannotRead(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A name given on the command line leads to no text."""


def read(name: str) -> Source:
    """The text of one file, or of standard input for `-`.

    Raises:
        PtxloomError: The file is missing, a folder, not text, or empty.
    """
    if name == STDIN:
        source = Source(decoded(sys.stdin.buffer.read(), "<stdin>"), "<stdin>")
    else:
        source = Source(read_text(name), name)
    if not source.text.strip():
        raise CannotRead(f"{source.name}: there is nothing in it")
    return source


def each(names: Iterable[str]) -> Iterator[Source | None]:
    """The text of each file in turn; None for one that cannot be read, when it has been said why."""
    for name in names:
        try:
            yield read(name)
        except PtxloomError as error:
            talk(f"ptxloom: {error}")
            yield None


def sources(name: str) -> tuple[Source, ...]:
    """Every PTX text in one file: its own, or those that `cuobjdump` finds in a compiled one.

    Raises:
        PtxloomError: The file is missing, not text, empty, or holds no PTX.
    """
    if name != STDIN and _starts_compiled(Path(name)):
        return extract(name)
    return (read(name),)


def _starts_compiled(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return is_compiled(file.read(8))
    except (OSError, ValueError):
        return False  # reading it will say why


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
