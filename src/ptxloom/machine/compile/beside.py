"""Hot code made by a process of its own, while a kernel runs on in the code that it has: one such process at a time."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import threading
from typing import Final, NamedTuple

from ptxloom import own_python

_MAKER: Final = "ptxloom.machine.plan.hot_maker"


class HotRequest(NamedTuple):
    """What is to be made.

    Attributes:
        text: A module.
        name: A kernel of it.
        cores: Whose tensor cores compute.
        fused: Whether products and sums are fused before.
        checks: The tools that watch.
    """

    text: str
    name: str
    cores: str
    fused: bool
    checks: tuple[str, ...]

    def packed(self) -> bytes:
        """As the process reads it."""
        return json.dumps(self._asdict()).encode("utf-8", "surrogatepass")

    @classmethod
    def unpacked(cls, content: bytes) -> HotRequest:
        """As it was packed."""
        return cls(**json.loads(content.decode("utf-8", "surrogatepass")))


class Making:
    """A process that makes hot code.

    Attributes:
        content: What it has made, as it is kept; None if it has failed, or has not ended.
        is_over: Whether it has ended.
    """

    def __init__(self, request: HotRequest) -> None:
        """Start it."""
        self.content: bytes | None = None
        self.is_over = False
        self._owner = os.getpid()
        run, places = own_python.command("-m", _MAKER), own_python.environment()
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            run, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=places, start_new_session=True
        )
        threading.Thread(target=self._wait, args=(request.packed(),), daemon=True).start()

    def _wait(self, request: bytes) -> None:
        made, _ = self._process.communicate(request)
        if self._process.returncode == 0:
            self.content = made
        self.is_over = True

    @property
    def is_ours(self) -> bool:
        """Whether this process started it: a child of this one will hear nothing of it."""
        return self._owner == os.getpid()

    def end(self) -> None:
        """End it, if it has not."""
        if self.is_ours and not self.is_over:
            self._process.kill()
            self._process.wait()


_AT_WORK: Final[list[Making]] = []  # at most one
_LOCK: Final = threading.Lock()


def started(request: HotRequest) -> Making | None:
    """A process that makes what is asked for; None while another one is at work, or where there is no Python to run."""
    if not sys.executable or not _LOCK.acquire(blocking=False):
        return None
    try:
        if any(one.is_ours and not one.is_over for one in _AT_WORK):
            return None
        _AT_WORK[:] = [Making(request)]
        return _AT_WORK[0]
    except OSError:  # no room for a process: the code that there is will do
        return None
    finally:
        _LOCK.release()


@atexit.register
def _end() -> None:
    for one in _AT_WORK:
        one.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release)
