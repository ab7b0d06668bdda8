"""Waiting for the process that makes code beside."""

from __future__ import annotations

import time
from typing import Final

from ptxloom.machine.native import beside

ENDED: Final = 300.0  # seconds in which a process has surely ended, however busy the host is


def wait() -> None:
    """Wait until it has ended."""
    ends = time.monotonic() + ENDED
    while not beside._AT_WORK[0].is_over and time.monotonic() < ends:
        time.sleep(0.02)
    assert beside._AT_WORK[0].is_over
