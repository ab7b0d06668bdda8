"""The report on the kernels that a program ran: hazards as they happen, a summary at the end."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TextIO

from ptxloom.names.demangling import demangled, missed

if TYPE_CHECKING:
    from collections.abc import Sequence

DESTROYS: Final = ("context", "kernel")
"""What a terminated kernel destroys: its context, in which later calls return its error, or nothing."""
MOST_TOLD: Final = 10
"""The most reports of one kernel."""
_NO_LINES: Final = (
    "ptxloom: lines are those of the PTX; where it was compiled with line information (`nvcc -lineinfo`, "
    "`@cuda.jit(lineinfo=True)`) reports name the source's, too"
)
_RACES: Final = {"shared": "racecheck", "global": "racecheck:global"}
"""The tool that looks for races, by where the memory is."""
STOPPED: Final = 86
"""The exit status of a program that a hazard has ended."""


class Report:
    """The findings in all processes of a program.

    Args:
        on_hazard: One of `environment.ON_HAZARD`.
        destroys: One of `DESTROYS`.
        checks: The active tools, if the summary must mention undetected kinds of races.

    Attributes:
        on_hazard: The same.
        destroys: The same.
        launches: The number of launches.
        hazards: The number of launches with hazards.
    """

    def __init__(
        self, on_hazard: str = "report", destroys: str = "context", checks: Sequence[str] | None = None
    ) -> None:
        self.on_hazard = on_hazard
        self.destroys = destroys
        self._unwatched = _unwatched(checks)
        self.launches = 0
        self.hazards = 0
        self._missing: dict[str, int] = {}
        self._kept: list[str] = []
        self._told: dict[str, set[str]] = {}  # of each kernel
        self._left_out = 0
        self._lacks_lines = False
        self._lock = threading.Lock()

    def launched(self) -> None:
        """A kernel has run."""
        with self._lock:
            self.launches += 1

    def missing(self, name: str) -> None:
        """Record a call of a function that this driver does not have."""
        with self._lock:
            self._missing[name] = self._missing.get(name, 0) + 1

    def refused(self, text: str) -> None:
        """Report why the driver refused a call, where CUDA's error does not express the reason."""
        if self.on_hazard != "ignore":
            say(text)

    def found(self, kernel: str, what: str, *, has_lines: bool = True) -> bool:
        """Report a hazard of a kernel; repeated ones, and those above the limit of one kernel, are only counted.

        Args:
            kernel: The kernel's name.
            what: The report.
            has_lines: Whether its PTX records the source lines that it comes from.

        Returns:
            Whether the program must end.
        """
        text = f"ptxloom: kernel {demangled(kernel)}:\n{what}"
        with self._lock:
            self.hazards += 1
            self._lacks_lines |= not has_lines
            told = self._told.setdefault(kernel, set())
            if text in told or len(told) == MOST_TOLD:
                self._left_out += 1
            else:
                told.add(text)
                if self.on_hazard == "end":
                    self._kept.append(text)
                elif self.on_hazard != "ignore":
                    say(text)
        return self.on_hazard == "stop"

    def summary(self) -> str:
        """The summary after the program has ended; may be empty."""
        lines = list(self._kept)
        if self.hazards and self.on_hazard != "ignore":
            left_out = f"; {self._left_out:,} reports were left out" if self._left_out else ""
            if self._lacks_lines:
                lines.append(_NO_LINES)
            lines.append(f"ptxloom: {self.hazards:,} of {self.launches:,} launches had hazards{left_out}")
        if self._unwatched and self.launches and self.on_hazard != "ignore":
            lines.append(f"ptxloom: {self._unwatched}")
        if self.hazards and self.on_hazard != "ignore" and (sentence := missed()):
            lines.append(f"ptxloom: {sentence}")
        if self._missing:
            told = ", ".join(f"{name} ({count:,})" for name, count in sorted(self._missing.items()))
            lines.append(f"ptxloom: functions of the driver that are missing, and how often they were called: {told}")
        return "\n".join(lines)


def _unwatched(checks: Sequence[str] | None) -> str:
    """A sentence on the kinds of races that no tool looked for; empty if there are none, or `checks` is None."""
    missing = [space for space, tool in _RACES.items() if checks is not None and tool not in checks]
    if not missing:
        return ""
    where = f" in {missing[0]} memory" if len(missing) < len(_RACES) else ""
    asked = "all" if len(missing) == len(_RACES) else f"all,{_RACES['global']}"
    return f"no tool looked for races{where}; `--checks {asked}` looks for them, too"


def say(text: str) -> None:
    """Print a sentence on standard error; it is lost if that is closed or full."""
    stream: TextIO | None = sys.stderr
    if stream is not None:
        with suppress(OSError):
            stream.write(text.rstrip("\n") + "\n")
            stream.flush()
