"""PTX files to modules."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import PtxloomError, must_be
from ptxloom.syntax.parser import parse

if TYPE_CHECKING:
    from ptxloom.syntax.module import Module

_COMPILED: Final = (b"\x7fELF", b"\x50\xed\x55\xba", b"MZ", b"!<arch>\n")  # ELF, fatbin, Windows program, archive


class UnreadableFile(PtxloomError):  # noqa: N818 - it says what the file is
    """A file cannot be read as PTX text; the message is one sentence that says why.

    Example:
        >>> load("nowhere.ptx")
        Traceback (most recent call last):
        ptxloom.syntax.loader.UnreadableFile: nowhere.ptx: there is no such file
    """


def load(path: str | PathLike[str]) -> Module:
    """Read a PTX file (ASCII or UTF-8, with or without a byte order mark).

    Args:
        path: The file.

    Returns:
        The module; what could not be read is among its diagnostics.

    Raises:
        UnreadableFile: There is no such file, it may not be read, or it holds no text.
        UsageError: `path` is not a path.

    Example:
        >>> from tempfile import NamedTemporaryFile
        >>> with NamedTemporaryFile("w", suffix=".ptx") as file:
        ...     file.writelines([".version 9.0 ", ".target sm_90a"])
        ...     file.flush()
        ...     load(file.name).target
        ('sm_90a',)
    """
    return parse(read_text(path), str(path))


def read_text(path: str | PathLike[str]) -> str:
    """The text of a PTX file.

    Raises:
        UnreadableFile: There is no such file, it may not be read, or it holds no text.
    """
    must_be(str | PathLike, "path", path, "a path")
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        message = f"{path}: there is no such file"
        raise UnreadableFile(message) from None
    except IsADirectoryError:
        message = f"{path}: this is a directory, not a PTX file"
        raise UnreadableFile(message) from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        message = f"{path}: the file cannot be read ({reason})"
        raise UnreadableFile(message) from None
    return decoded(data, str(path))


def is_compiled(data: bytes) -> bool:
    """Whether the first bytes of a file are those of a compiled one."""
    return data.startswith(_COMPILED)


def decoded(data: bytes, name: str) -> str:
    """The text that bytes of a PTX file stand for; `name` is what the message calls them.

    Raises:
        UnreadableFile: They hold no text.
    """
    if is_compiled(data):
        message = f"{name}: this is a compiled file, not PTX text; `cuobjdump --dump-ptx` may find PTX in it"
        raise UnreadableFile(message)
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        message = f"{name}: this is UTF-16 text, as a redirection in PowerShell writes it; PTX is ASCII or UTF-8"
        raise UnreadableFile(message)
    zero = data.rstrip(b"\0").find(b"\0")
    if zero >= 0:
        message = f"{name}: this is a binary file, not PTX text (byte {zero} is zero)"
        raise UnreadableFile(message)
    try:
        return data.rstrip(b"\0").decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        message = f"{name}: this is not UTF-8 text (byte 0x{data[problem.start]:02x} in line {line})"
        raise UnreadableFile(message) from None
