"""Code compiled by a background process while a kernel keeps running its present code: one such process at a time.

The process reads a request, one line, from input, and writes the code to output, between two marks that the request
names: any other output, of a Python that prints at startup, or of a killed process, is ignored. Its
input stays open while this process lives and wants the code: when it closes, the process ends.
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
_KINDNESS: Final = 5  # the niceness of the process
_SACRIFICE: Final = Path("/proc/self/oom_score_adj")  # Linux: which process is killed first when memory runs out
_FIRST: Final = "1000"


class Request(Protocol):
    """A request to the process."""

    @property
    def maker(self) -> str:
        """The module that serves it."""
        ...

    @property
    def mark(self) -> str:
        """The mark before and after the code, in hexadecimal digits."""
        ...

    def packed(self) -> bytes:
        """The request as one line of the process's input."""
        ...


def new_mark() -> str:
    """A unique mark."""
    return secrets.token_hex(_MARK_BYTES)


def marked(mark: str, code: bytes) -> bytes:
    """The output of the process."""
    return bytes.fromhex(mark) + code + bytes.fromhex(mark)


def found(mark: str, said: bytes) -> bytes | None:
    """The code in the output of a process; None if it is incomplete."""
    _, first, rest = said.partition(bytes.fromhex(mark))
    code, last, _ = rest.partition(bytes.fromhex(mark))
    return code if first and last else None


def stand_back() -> None:
    """In such a process, run at low priority, and be the first to be killed if memory runs out."""
    if hasattr(os, "nice"):
        os.nice(_KINDNESS)
    with contextlib.suppress(OSError):
        _SACRIFICE.write_text(_FIRST, encoding="ascii")


class Making:
    """A process that compiles code.

    Attributes:
        content: The compiled code; None if it has failed, or has not ended.
        is_over: Whether it has ended, or could not be started.
    """

    def __init__(self, request: Request) -> None:
        """Start it, if there is a Python, and the system allows a process and a thread."""
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
        with contextlib.suppress(OSError), process:  # it may end before it has read everything
            process.stdin.write(request.packed())
            process.stdin.flush()
            self.content = found(request.mark, process.stdout.read())
        self.is_over = True

    @property
    def is_ours(self) -> bool:
        """Whether this process started it: a forked child cannot wait for it."""
        return self._owner == os.getpid()

    def end(self) -> None:
        """End it, if it has not."""
        if self.is_ours and not self.is_over:
            self._process.kill()
            self._talker.join()


_AT_WORK: Final[list[Making]] = []  # at most one
_LOCK: Final = threading.Lock()
_OVER: Final = threading.Event()  # set when this process ends


def is_free() -> bool:
    """Whether no such process is running."""
    return not _OVER.is_set() and all(one.is_over or not one.is_ours for one in _AT_WORK)


def started(request: Request) -> Making | None:
    """Start a process for a request; None while another one is running."""
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
