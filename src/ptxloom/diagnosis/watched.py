"""Examines each launch of a program, a test, or Triton."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.diagnose import examine
from ptxloom.diagnosis.examination import ELEMENTS, Examination, Unjudged
from ptxloom.diagnostics import BEFORE_LAWS, PtxloomError
from ptxloom.machine.launch.watching import watch_always
from ptxloom.names.demangling import demangled

if TYPE_CHECKING:
    from ptxloom.machine.results.hazard import Hazards
    from ptxloom.machine.results.outcome import LaunchResult
    from ptxloom.machine.results.provenance import ProvenanceRecord
    from ptxloom.syntax.origins import SourceLine

VARIABLE: Final = "PTXLOOM_WHY"
REPORTS: Final = "PTXLOOM_WHY_REPORTS"  # the file to which a program that `why` runs reports its own launches
_MOST_GAPS: Final = 4


class Seen(NamedTuple):
    """The outcome of a launch.

    Attributes:
        kernel: The kernel's name.
        examined: The verdict of the laws.
        hazards: The findings of the tools.
    """

    kernel: str
    examined: Examination
    hazards: Hazards

    @property
    def is_wrong(self) -> bool:
        """Whether a tool or a law found anything."""
        return bool(self.hazards or self.examined.found)

    def __str__(self) -> str:
        """What is wrong, a paragraph each; else what was judged."""
        parts = [str(self.hazards)] if self.hazards else []
        parts += [f"{one.cause}: {one.sentence}{_of(one.origin)}" for one in self.examined.found]
        if not parts:
            judged = self.examined.products or self.examined.terms or self.examined.elements
            parts.append("no law that could be checked is broken" if judged else "could not judge")
        parts += [f"not judged: {one.sentence}" for one in self.examined.unjudged[:_MOST_GAPS]]
        return "\n".join(parts)


class Told(NamedTuple):
    """A launch that a program made in its own process.

    Attributes:
        kernel: The kernel's name.
        wrong: Whether a tool or a law found anything.
        text: What is wrong, else what was judged; empty if an equal outcome was reported before.
    """

    kernel: str
    wrong: bool
    text: str


def _examined(record: ProvenanceRecord) -> Examination:
    """The verdict of the laws; if they cannot be checked, that nothing was judged and why: no launch is skipped."""
    try:
        return examine(record)
    except PtxloomError as error:
        return Examination((), 0, 0, (Unjudged(ELEMENTS, 0, 0, (), "", None, "", str(error)),))


def _of(origin: SourceLine | None) -> str:
    return f" ({origin.told})" if origin else ""


@cache
def asked_for() -> Watcher | None:
    """The watcher of this process, if `PTXLOOM_WHY` is set."""
    return Watcher() if os.environ.get(VARIABLE) else None


@cache
def tell_of_all() -> None:
    """If `PTXLOOM_WHY` is set, report on standard error what is wrong with each launch from now on."""
    watcher = asked_for()
    if watcher is None:
        return

    watch_always(BEFORE_LAWS, lambda kernel, result: report(watcher, kernel, result))


def report(watcher: Watcher, kernel: str, result: LaunchResult) -> None:
    """Examine a launch of this process, and report its outcome unless an equal one was reported.

    The report goes to standard error; if `why` runs this program, to its file, in which each launch is a line.

    Args:
        watcher: Which examines it.
        kernel: The kernel's name.
        result: That of the launch.
    """
    seen = watcher.tell(kernel, result)
    if place := os.environ.get(REPORTS):
        told = Told(kernel, seen is not None and seen.is_wrong, "" if seen is None else str(seen))
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
    elif seen is not None:
        sys.stderr.write(f"ptxloom why: kernel {demangled(kernel)}:\n{seen}\n")


def reported(place: Path) -> list[Told]:
    """The launches that programs reported to a file."""
    if not place.exists():
        return []
    return [Told(*json.loads(line)) for line in place.read_text(encoding="utf-8").splitlines()]


class Watcher:
    """Examines every launch; equal outcomes of the same kernel are kept once.

    Attributes:
        seen: Their outcomes, in order.
        launches: The number of launches.
    """

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.launches = 0
        self._known: set[object] = set()
        self._lock = Lock()

    def tell(self, kernel: str, result: LaunchResult) -> Seen | None:
        """Examine a launch; returns the outcome, unless an equal one has been seen."""
        self.launches += 1
        if result.provenance is None:
            return None
        examined = _examined(result.provenance)
        if result.hazards:  # what was followed is one order of accesses that might have come in another
            examined = replace(examined, found=tuple(replace(one, certain=False) for one in examined.found))
        seen = Seen(kernel, examined, result.hazards)
        causes = tuple((one.cause, one.line, one.operand) for one in examined.found)
        key = kernel, causes, tuple(hazard.likeness for hazard in result.hazards), examined.verdict
        with self._lock:
            if key in self._known:
                return None
            self._known.add(key)
            self.seen.append(seen)
        return seen
