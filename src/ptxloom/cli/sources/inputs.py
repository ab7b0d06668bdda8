"""Where PTX comes from: files of every kind, folders and standard input."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ptxloom.cli.results.output import reason, talk
from ptxloom.cli.results.progress import counted
from ptxloom.cli.sources.left_out import usual
from ptxloom.diagnostics import PtxloomError
from ptxloom.files import only, texts, texts_of
from ptxloom.files.compiler_flags import NO_FLAGS
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_PIPED, content_of
from ptxloom.files.names import is_file, is_folder
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ptxloom.files.compiler_flags import Flags
    from ptxloom.source import Source

STDIN: Final = "-"


class LeavesOut(Protocol):
    """Decides whether something in a folder is skipped."""

    def __call__(self, path: Path, *, folder: bool) -> bool:
        """Whether a path is skipped."""
        ...


class CannotRead(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A name on the command line does not lead to a text."""


def read(name: str, target: str | None = None, flags: Flags = NO_FLAGS) -> Source:
    """The one PTX text in a file, or in standard input for `-`.

    Args:
        name: The file, or `file:text` for one of several in it.
        target: What CUDA C++ is compiled for.
        flags: How it is compiled.

    Raises:
        PtxloomError: The file is missing, a folder, not text, or empty, or holds no PTX or several texts.
    """
    return only(sources(name, target, flags=flags), name)


def each(
    names: Iterable[str], target: str | None = None, flags_of: Callable[[str], Flags] | None = None
) -> Iterator[Source | None]:
    """Every PTX text in each file in turn; None for a file that cannot be read, after the reason is printed."""
    known = list(names)
    for name in counted(known, len(known), "files read"):
        try:
            yield from sources(name, target, flags=NO_FLAGS if flags_of is None else flags_of(name))
        except PtxloomError as error:
            talk(f"ptxloom: {error}")
            yield None


def sources(
    name: str, target: str | None = None, called: str | None = None, flags: Flags = NO_FLAGS
) -> tuple[Source, ...]:
    """Every PTX text in one file; arguments and errors are those of `read`.

    Args:
        name: The file.
        target: What CUDA C++ is compiled for.
        called: The name of standard input; its ending tells the kind of text.
        flags: How CUDA C++ is compiled.

    Raises:
        PtxloomError: The file is missing, not text, empty, or holds no PTX.
    """
    found = (
        texts_of(_standard_input(), called or "<stdin>", target, flags) if name == STDIN else texts(name, target, flags)
    )
    for source in found:
        if not source.text.strip():
            raise CannotRead(f"{source.title}: the file is empty")
    return found


def _standard_input() -> bytes:
    """All bytes of standard input.

    Raises:
        CannotRead: It has more bytes than are read, perhaps without an end.
    """
    try:
        return content_of(sys.stdin.buffer, MOST_PIPED)
    except OutOfReach as error:
        raise CannotRead(f"<stdin>: {error}") from None


def files(
    names: Iterable[str], leaves_out: LeavesOut | None = None, endings: tuple[str, ...] = (".ptx",)
) -> tuple[str, ...]:
    """The files that names stand for; a folder stands for all files below it with one of `endings`, in order.

    Args:
        names: The names, as given.
        leaves_out: What is skipped in a folder; files that are named themselves never are.
        endings: The endings of the files to take from a folder.

    Raises:
        PtxloomError: A folder holds no PTX or may not be searched, a name is empty, or settings hold an illegal value.
    """
    found: dict[str, None] = {}
    for name in names:
        if not name:
            raise CannotRead("the name of a file is empty, as an unset variable leaves it")
        if name != STDIN and is_folder(name):
            below, passed_over = _below(name, leaves_out, endings)
            if not below:
                how = "-v tells why" if leaves_out else "name them to have them read"
                but = (
                    f" that is not left out ({passed_over} {'is' if passed_over == 1 else 'are'}; {how})"
                    if passed_over
                    else ""
                )
                raise CannotRead(f"{title(name)}: there is no {' or '.join(endings)} file in this directory{but}")
            found.update(dict.fromkeys(below))
        else:
            found[name] = None
    return tuple(found)


def _below(name: str, leaves_out: LeavesOut | None, endings: tuple[str, ...]) -> tuple[list[str], int]:
    """Every file with such an ending below a folder, and how many files and folders were skipped.

    Raises:
        CannotRead: A folder may not be searched.
    """
    found: list[str] = []
    passed_over = 0
    waiting = [Path(name)]
    while waiting:
        for path, is_folder_itself in _listed(waiting.pop(), endings):
            if leaves_out(path, folder=is_folder_itself) if leaves_out else usual(path, folder=is_folder_itself):
                passed_over += 1
            elif is_folder_itself:
                waiting.append(path)
            else:
                found.append(str(path))
    return sorted(found), passed_over


def _listed(folder: Path, endings: tuple[str, ...]) -> list[tuple[Path, bool]]:
    """The files with such endings and folders in a folder; not what only is a link to a folder.

    Raises:
        CannotRead: It may not be searched.
    """
    try:
        with os.scandir(folder) as entries:
            here = [(folder / entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except FileNotFoundError:  # a folder that was removed meanwhile holds no files
        return []
    except OSError as error:
        raise CannotRead(f"{title(folder)}: the directory cannot be searched ({reason(error)})") from None
    return [(path, is_dir) for path, is_dir in here if is_dir or (path.name.endswith(endings) and is_file(path))]
