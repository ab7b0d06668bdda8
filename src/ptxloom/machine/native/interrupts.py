"""Ctrl-C while the machine works: deferred to a place where it cannot get lost.

A signal's handler runs between any two bytecodes of the main thread. An exception inside a finalizer (llvmlite frees
LLVM's values there) or a callback is printed and dropped, and the run would continue. So while code is `guarded`, the
handler only records the signal; `check` then calls the previous handler, which may raise.

A time limit is checked at the same places: `until` sets it.
"""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingImports]
import os
import signal
import threading
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnostics import PtxloomError

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager
    from types import FrameType

_SIGINT: Final = int(signal.SIGINT)
#: The module behind `signal`, whose wrappers look up handlers in enums, which takes a tenth of a launch.
_SIGNAL: Final[Any] = _signal
_IMPATIENT: Final = 3  # after this many unchecked signals: raise anywhere


class Guard:
    """The guard between SIGINT and the previous handler.

    Does nothing outside the main thread, or within another guard.
    """

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self._before: Any = None
        self._noted = 0
        self._frame: FrameType | None = None

    def __enter__(self) -> None:
        if _ACTIVE or self.thread != threading.main_thread().ident:
            return
        before = _SIGNAL.getsignal(_SIGINT)
        if callable(before):
            self._before = before
            _SIGNAL.signal(_SIGINT, self._note)
            _ACTIVE.append(self)

    def __exit__(self, *_: object) -> None:
        if self in _ACTIVE:
            self.leave()
            self.check()

    def leave(self) -> None:
        """Restore the previous handler of SIGINT."""
        _ACTIVE.clear()
        _SIGNAL.signal(_SIGINT, self._before)

    def _note(self, _: int, frame: FrameType | None) -> None:
        self._noted += 1
        self._frame = frame
        if self._noted >= _IMPATIENT:
            self.check()

    def check(self) -> None:
        """Pass a deferred signal to the previous handler."""
        if self._noted:
            self._noted, frame, self._frame = 0, self._frame, None
            self._before(signal.SIGINT, frame)


_ACTIVE: Final[list[Guard]] = []  # at most one: a process has one handler


def guarded() -> Guard:
    """A context in which Ctrl-C waits for `check`, or for its end."""
    return Guard()


def check() -> None:
    """Call SIGINT's handler, which may raise, if the signal came while this thread was guarded.

    Raises:
        TimeIsUp: This thread has reached its time limit.
    """
    if _ACTIVE and threading.current_thread() is threading.main_thread():
        _ACTIVE[0].check()
    if _LIMIT.deadline is not None and time.monotonic() > _LIMIT.deadline:
        raise TimeIsUp


class TimeIsUp(PtxloomError):  # noqa: N818 - names its cause
    """A kernel could not be prepared within its time limit."""

    def __init__(self) -> None:
        super().__init__("the time limit came before the kernel was translated and compiled")


class _Limit(threading.local):
    deadline: float | None = None


_LIMIT: Final = _Limit()


def is_limited() -> bool:
    """Whether this thread has a time limit."""
    return _LIMIT.deadline is not None


def until(deadline: float | None) -> AbstractContextManager[None]:
    """A context in which `check` raises once the clock (`time.monotonic`) is past a deadline; never if that is None."""
    return nullcontext() if deadline is None else _until(deadline)


@contextmanager
def _until(deadline: float) -> Generator[None]:
    before = _LIMIT.deadline
    _LIMIT.deadline = deadline if before is None else min(before, deadline)
    try:
        yield
    finally:
        _LIMIT.deadline = before


def _forked() -> None:
    """In a child: the guarded thread does not exist, unless it is the one that forked."""
    if _ACTIVE and _ACTIVE[0].thread != threading.get_ident():
        _ACTIVE[0].leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
