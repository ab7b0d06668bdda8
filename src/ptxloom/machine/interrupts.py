"""Ctrl-C while the machine works: kept until a place is reached where it cannot get lost.

A signal's handler runs between any two bytecodes of the main thread. What it raises inside a finalizer (llvmlite frees
LLVM's values in such) or a callback is printed and dropped, and the run would go on. So while code is `guarded`, the
handler only notes the signal; `check` then calls the handler that was there before, which may raise or not.
"""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from types import FrameType

_IMPATIENT: Final = 3  # so many signals that nobody asked about: raise wherever it is


class Guard:
    """What stands between SIGINT and the handler of before; does nothing outside the main thread, or within another."""

    def __init__(self) -> None:
        self._before: Any = None
        self._noted = 0
        self._frame: FrameType | None = None

    def __enter__(self) -> None:
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is threading.main_thread() and callable(before) and not _ACTIVE:
            self._before = before
            signal.signal(signal.SIGINT, self._note)
            _ACTIVE.append(self)

    def __exit__(self, *_: object) -> None:
        if self in _ACTIVE:
            _ACTIVE.clear()
            signal.signal(signal.SIGINT, self._before)
            self.check()

    def _note(self, _: int, frame: FrameType | None) -> None:
        self._noted += 1
        self._frame = frame
        if self._noted >= _IMPATIENT:
            self.check()

    def check(self) -> None:
        """Let the handler of before have the signal that came meanwhile."""
        if self._noted:
            self._noted, frame, self._frame = 0, self._frame, None
            self._before(signal.SIGINT, frame)


_ACTIVE: Final[list[Guard]] = []  # at most one: a process has one handler


def guarded() -> Guard:
    """A context in which Ctrl-C waits for `check`, or for its end."""
    return Guard()


def check() -> None:
    """Raise what SIGINT's handler raises, if the signal came while this thread was guarded."""
    if _ACTIVE and threading.current_thread() is threading.main_thread():
        _ACTIVE[0].check()
