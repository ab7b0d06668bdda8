"""`check --watch`: checks again whenever a file is changed, created or deleted."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import COULD_NOT_RUN, Outcome, deliver, is_terminal, talk
from ptxloom.cli.sources import project
from ptxloom.cli.sources.inputs import STDIN, files
from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.cli.command_line import Options

_BETWEEN_SECONDS: Final = 0.25
_CLEAR: Final = "\x1b[H\x1b[2J\x1b[3J"


def watched(options: Options, once: Callable[[Options], Outcome]) -> Outcome:
    """Run, show the outcome and wait for a change, until interrupted; returns the last outcome's exit code.

    Raises:
        PtxloomError: Standard input is among the files, which is read only once.
    """
    if STDIN in options.files:
        raise PtxloomError("--watch looks at files; standard input does not change")
    code = 0
    try:
        while True:
            seen = _state(options)
            code = _shown(options, once)
            talk("watching; Ctrl-C ends it")
            while _state(options) == seen:
                time.sleep(_BETWEEN_SECONDS)
            project.forget()
    except KeyboardInterrupt:
        return Outcome("", code)


def _shown(options: Options, once: Callable[[Options], Outcome]) -> int:
    """Check once, on a clean screen; an error now may be gone after the next change."""
    if is_terminal(options):
        print(_CLEAR, end="", flush=True)  # noqa: T201 - a result would be made harmless
    try:
        outcome = once(options)
    except PtxloomError as error:
        talk(f"ptxloom: {error}")
        return COULD_NOT_RUN
    deliver(outcome, options)
    return outcome.code


def _state(options: Options) -> tuple[tuple[str, int, int], ...]:
    """The files and their times of change, settings above them included."""
    try:
        names = files(options.files, endings=(".ptx", ".cu"))
    except PtxloomError:
        return ()
    return tuple(_stamp(Path(name)) for name in (*names, *project.settings_files(options.files)))


def _stamp(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size
