"""Locks that are free in a child process: a process does not fork while another thread holds one."""

from __future__ import annotations

import os
from threading import RLock
from typing import Final

from ptxloom.machine.native import interrupts

_LOOK_SECONDS: Final = 0.02  # between checks of the clock and of signals, while another thread holds it


class Lock:
    """A lock for the life of the process, for which `os.fork` waits; waiting respects the time limit and Ctrl-C.

    The guarded state (such as LLVM's) must be consistent at a fork: a child has only the thread that forked.
    """

    def __init__(self) -> None:
        self._lock = RLock()
        wait_at_fork(self._lock)

    def __enter__(self) -> None:
        if self._lock.acquire(blocking=False):
            return
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            interrupts.check()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def wait_at_fork(lock: RLock) -> None:
    """Let `os.fork` wait for a lock; those registered later are acquired earlier."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
