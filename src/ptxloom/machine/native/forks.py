"""Locks that a child process finds free: a process does not fork while another thread holds one."""

from __future__ import annotations

import os
from threading import RLock
from typing import Final

from ptxloom.machine.native import interrupts

_LOOK_SECONDS: Final = 0.02  # between two looks at the clock and for signals, while another thread holds it


class Lock:
    """A lock for as long as the process lives, which `os.fork` waits for; waiting respects the time limit and Ctrl-C.

    What it guards (such as LLVM's state) must not be half-changed at a fork: a child has only the thread that forked.
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
    """Let `os.fork` wait for a lock; those named later are taken earlier."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
