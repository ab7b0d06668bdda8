"""Launches that are meant to reach their time limit: on a machine with other work, too, it is the kernel that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine import LaunchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.machine import LaunchResult

_BEFORE_IT_RAN: Final = "before the kernel was translated and compiled"
_MOST: Final = 300.0  # seconds


def launched_late(launch: Callable[[float], LaunchResult], seconds: float) -> LaunchResult:
    """Launch within a time limit, and again within a longer one where compiling alone took it.

    Args:
        launch: Launches within a number of seconds.
        seconds: The limit of the first try; each further one has four times as many.

    Raises:
        LaunchError: The kernel was ended, having begun.
    """
    while True:
        try:
            return launch(seconds)
        except LaunchError as error:
            if _BEFORE_IT_RAN not in str(error) or seconds > _MOST:
                raise
        seconds *= 4
