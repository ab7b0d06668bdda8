"""Delivers results: to standard output or to a file, which is written as a whole; remarks go to standard error."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import DistrustWarning, PtxloomError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.writing import inside, replace_file
from ptxloom.source import title

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.views.core.style import Style

CLEAN: Final = 0
FINDINGS: Final = 1
COULD_NOT_RUN: Final = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a verb: the result, the exit code, and a remark for people on standard error.

    Attributes:
        verbatim: Whether the result is the user's text, which must reach another program unchanged.
        data: The result if it is the bytes of a file: a picture.
        summary: The result in a few lines of Markdown, for `--summary`.
    """

    text: str
    code: int = CLEAN
    remark: str = ""
    verbatim: bool = False
    data: bytes = b""
    summary: str = ""


class CannotWrite(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A result cannot be written."""


def deliver(outcome: Outcome, options: Options) -> None:
    """Write the result to the destination that the options select, then the remark."""
    if outcome.data and is_terminal(options) and b"\0" in outcome.data:
        raise CannotWrite("a terminal cannot show a picture: name a file with `-o`")
    text = outcome.text if outcome.verbatim and not is_terminal(options) else _harmless(outcome.text, options)
    if options.output:
        write_whole(Path(options.output), outcome.data or text)
    else:
        _print(outcome.data or text.encode("utf-8", "surrogateescape"))
    if options.summary and outcome.summary:
        _append(Path(options.summary), outcome.summary)
    if outcome.remark and not options.quiet:
        talk(outcome.remark)


def _append(path: Path, text: str) -> None:
    """Write to the end of a file that several commands add to.

    Raises:
        CannotWrite: With the path and the reason.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        raise CannotWrite(f"cannot write {title(path)}: {reason(error)}") from error


def _harmless(text: str, options: Options) -> str:
    """A result without terminal control sequences, except for our own colours."""
    from ptxloom.views.core.cells import page  # noqa: PLC0415 - heavy work of a verb starts here

    return page(text, painted=style_for(options).colour)


def is_terminal(options: Options) -> bool:
    """Whether the result goes to a terminal."""
    return not options.output and has_output() and sys.stdout.isatty()


def told_progress(started: int, total: int) -> None:
    """Show the progress of a long run in a line on the terminal."""
    sys.stderr.write(f"\r{started:,} of {total:,} blocks started\x1b[K\r")
    sys.stderr.flush()


def talk(text: str) -> None:
    """Print a sentence on standard error; it is lost if that is closed."""
    from ptxloom.views.core.cells import harmless  # noqa: PLC0415 - heavy work of a verb starts here

    stream: TextIO | None = sys.stderr
    if stream is not None:
        with suppress(OSError):
            stream.write(f"{harmless(text)}\n")
            stream.flush()


@contextmanager
def warnings_told() -> Generator[None]:
    """Print ptxloom's warnings as sentences, and leave other warnings to Python."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if issubclass(category, DistrustWarning):
                talk(f"ptxloom: {message}")
            else:
                shown(message, category, *where, **more)

        warnings.showwarning = show
        warnings.simplefilter("default", DistrustWarning)
        yield


def _print(data: bytes) -> None:
    """Write bytes to standard output, if there are any; a reader that stops early is not an error."""
    if not data:
        return
    if not has_output():
        raise CannotWrite("cannot write to standard output: it is closed")
    try:
        sys.stdout.flush()
        buffer = getattr(sys.stdout, "buffer", None)
        if buffer is None:  # a test's or a notebook's stand-in
            sys.stdout.write(data.decode("utf-8", "surrogateescape"))
        else:
            buffer.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at exit; give it a place where that succeeds.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise CannotWrite(f"cannot write to standard output: {reason(error)}") from error


def has_output() -> bool:
    """Whether the process was started with a standard output; in Python it is `None` if it was closed."""
    stream: object = sys.stdout
    return stream is not None


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that the user has named, so that it holds either its old bytes or all the new ones; follows links.

    Raises:
        CannotWrite: With the path and the reason.
    """
    try:
        data = _bytes(content)
        if path.exists() and not path.is_file():  # a device or a pipe: there is nothing to replace, no name to follow
            path.write_bytes(data)
            return
        replace_file(path.resolve(), lambda file: file.write(data))
    except (OSError, ValueError) as error:
        raise CannotWrite(f"cannot write {title(path)}: {reason(error)}") from error


def write_below(folder: Path, path: Path, content: str | bytes) -> None:
    """As `write_whole`, for a file that the user has not named: links are replaced, so it stays below its folder.

    Raises:
        CannotWrite: With the path and the reason.
    """
    try:
        data = _bytes(content)
        replace_file(inside(folder, path), lambda file: file.write(data))
    except (OSError, ValueError, OutOfReach) as error:
        raise CannotWrite(f"cannot write {title(path)}: {reason(error)}") from error


def rewrite(name: str, content: str, named: Sequence[str]) -> bool:
    """Rewrite a file that was named, or found in a named folder; a link that leads out of the folder is left alone.

    Returns:
        Whether it was written; if not, a remark is printed.

    Raises:
        CannotWrite: With the path and the reason.
    """
    path = Path(name)
    if name not in named:
        try:
            path = path.resolve()
        except RuntimeError:  # links in a circle
            return _left(name)
        if not any(path.is_relative_to(Path(folder).resolve()) for folder in named):
            return _left(name)
    write_whole(path, content)
    return True


def _left(name: str) -> bool:
    talk(f"ptxloom: {title(name)}: this is a link that leads out of the folder; name the file itself to rewrite it")
    return False


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def reason(error: OSError | ValueError | OutOfReach) -> str:
    """Why a file could not be read or written, as part of a sentence."""
    match error:
        case OutOfReach():
            return str(error)
        case OSError():
            return (error.strerror or type(error).__name__).lower()
        case UnicodeDecodeError():
            return "it is not UTF-8 text"
        case _:
            return "no file can have this name"


def style_for(options: Options, *, heed_columns: bool = False) -> Style:
    """The style of a result: whether it is coloured (on request, or for a terminal), and the width.

    Without an option for colour, `NO_COLOR` and `FORCE_COLOR` decide.

    Args:
        options: Of the command line.
        heed_columns: Whether `COLUMNS` sets the width of a result that no terminal shows.
    """
    from ptxloom.views.core.style import Style  # noqa: PLC0415 - heavy work of a verb starts here

    match options.color:
        case "always":
            colour = True
        case "never":
            colour = False
        case _:
            shown = is_terminal(options) and os.environ.get("TERM") != "dumb"
            colour = not os.environ.get("NO_COLOR") and (shown or bool(os.environ.get("FORCE_COLOR")))
    sized = is_terminal(options) or (heed_columns and not options.output and "COLUMNS" in os.environ)
    return Style(colour, shutil.get_terminal_size().columns if sized else None)
