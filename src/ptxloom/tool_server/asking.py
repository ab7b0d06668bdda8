"""A verb of the command line in a process of its own, which ends in time and takes no more memory than it may."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from typing import TYPE_CHECKING, Final

from ptxloom import own_python
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import BinaryIO

_MOST_WRITTEN: Final = 1 << 26
_CODES: Final = {0: "clean", 1: "findings"}
COULD_NOT_RUN: Final = "could not run"


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a request.

    Attributes:
        seconds: The time until its process is ended.
        memory_bytes: The memory of the process.
        characters: The length of its output.
    """

    seconds: float = 60.0
    memory_bytes: int = 8 << 30
    characters: int = 8000


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a verb.

    Attributes:
        outcome: `clean`, `findings`, or `could not run`.
        text: What it printed, or why it could not run, as a sentence.
        is_cut: Whether there was more.
    """

    outcome: str
    text: str
    is_cut: bool = False


def asked(words: Sequence[str], limits: Limits, folder: str, given: str = "") -> Answer:
    """Run a verb.

    Args:
        words: The command line, without `ptxloom`.
        limits: What it may take.
        folder: Where it is run.
        given: Its standard input.
    """
    command = own_python.command("-m", "ptxloom", *words)
    with tempfile.TemporaryFile() as into, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as talk:
        into.write(given.encode("utf-8", "replace"))
        into.seek(0)
        environment = own_python.environment() | {"NO_COLOR": "1", "COLUMNS": "120"}
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdin=into, stdout=out, stderr=talk, start_new_session=True
        ) as process:
            _limit(process.pid, limits)
            try:
                code = process.wait(limits.seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return Answer(
                    COULD_NOT_RUN, f"it took longer than its time limit of {limits.seconds:g} seconds, and was ended"
                )
        text, is_cut = _read(out, limits.characters)
        said, _ = _read(talk, limits.characters)
    if code < 0:
        what = (
            "it needs more memory, time or room than it may have" if code != -signal.SIGSEGV else "its process crashed"
        )
        return Answer(COULD_NOT_RUN, f"{what} (signal {-code})")
    outcome = _CODES.get(code, COULD_NOT_RUN)
    return Answer(outcome, (text or said) if outcome != COULD_NOT_RUN else (said or text), is_cut)


def _limit(process: int, limits: Limits) -> None:
    """Limit a process that has just begun; one that is over already needs no limits."""
    for kind, most in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, _MOST_WRITTEN),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.prlimit(process, kind, (most, most))
        except ProcessLookupError:
            return


def _read(file: BinaryIO, characters: int) -> tuple[str, bool]:
    """The beginning of what was written, up to the end of a line, and whether there is more."""
    file.seek(0)
    text = file.read(4 * characters + 1).decode("utf-8", "replace")
    if len(text) <= characters:
        return text.rstrip("\n"), False
    kept = text[:characters]
    return kept[: kept.rfind("\n") + 1].rstrip("\n") or kept, True
