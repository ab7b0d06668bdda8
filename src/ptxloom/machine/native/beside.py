"""Code made by a process of its own, while a kernel runs on in the code that it has: one such process at a time.

The process reads a request, a line, from input, and writes the code to output, between two marks that the request
names: what else is written there, by a Python that is set up to greet, or by a process that was ended, is nothing. Its
input stays open for as long as this process wants the code, and lives: when that ends, so does the process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import subprocess
import threading
from pathlib import Path
from typing import Final, Protocol

from ptxloom import own_python

_MARK_BYTES: Final = 16
_KINDNESS: Final = 5  # by which others go first
_SACRIFICE: Final = Path("/proc/self/oom_score_adj")  # Linux: who is ended first where memory runs out
_FIRST: Final = "1000"


class Request(Protocol):
    """What a process is asked for."""

    @property
    def maker(self) -> str:
        """The module that serves it."""
        ...

    @property
    def mark(self) -> str:
        """What stands before and behind the code, in hexadecimal digits."""
        ...

    def packed(self) -> bytes:
        """As the process reads it: a line."""
        ...


def new_mark() -> str:
    """A mark that nothing was marked with before."""
    return secrets.token_hex(_MARK_BYTES)


def marked(mark: str, code: bytes) -> bytes:
    """What the process writes."""
    return bytes.fromhex(mark) + code + bytes.fromhex(mark)


def found(mark: str, said: bytes) -> bytes | None:
    """The code in what a process has written; None if it is not all there."""
    _, first, rest = said.partition(bytes.fromhex(mark))
    code, last, _ = rest.partition(bytes.fromhex(mark))
    return code if first and last else None


def stand_back() -> None:
    """Let others go first, and be ended before them where the host is short of memory: in such a process."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    with contextlib.suppress(OSError):
        _SACRIFICE.write_text(_FIRST, encoding="ascii")


class Making:
    """A process that makes code.

    Attributes:
        content: The code that it has made; None if it has failed, or has not ended.
        is_over: Whether it has ended, or could not be started.
    """

    def __init__(self, request: Request) -> None:
        """Start it, if there is a Python, and room for a process and a thread."""
        self.content: bytes | None = None
        self.is_over = not own_python.is_there()
        self._owner = os.getpid()
        if self.is_over:
            return
        pipe, run, places = subprocess.PIPE, own_python.serving(request.maker), own_python.environment()
        try:
            self._process = subprocess.Popen(
                run, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=places, start_new_session=True
            )
        except OSError:
            self.is_over = True
            return
        self._talker = threading.Thread(target=self._talk, args=(request,), daemon=True)
        try:
            self._talker.start()
        except RuntimeError:
            self._process.kill()
            with self._process:
                self.is_over = True

    def _talk(self, request: Request) -> None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError), process:  # it may have ended before it has read all
            process.stdin.write(request.packed())
            process.stdin.flush()
            self.content = found(request.mark, process.stdout.read())
        self.is_over = True

    @property
    def is_ours(self) -> bool:
        """Whether this process started it: a forked child cannot learn of its end."""
        return self._owner == os.getpid()

    def end(self) -> None:
        """End it, if it has not."""
        if self.is_ours and not self.is_over:
            self._process.kill()
            self._talker.join()


_AT_WORK: Final[list[Making]] = []  # at most one
_LOCK: Final = threading.Lock()
_OVER: Final = threading.Event()  # from which on this process ends


def is_free() -> bool:
    """Whether a process could be started, as far as others are concerned."""
    return not _OVER.is_set() and all(one.is_over or not one.is_ours for one in _AT_WORK)


def started(request: Request) -> Making | None:
    """A process that makes what is asked for; None while another one is at work."""
    if not _LOCK.acquire(blocking=False):
        return None
    try:
        if not is_free():
            return None
        _AT_WORK[:] = [Making(request)]
        return _AT_WORK[0]
    finally:
        _LOCK.release()


@atexit.register
def _end() -> None:
    _OVER.set()
    for one in _AT_WORK:
        one.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)
