"""The options of a launch beside its shape and its arguments, validated before anything runs."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from ptxloom.diagnostics import TOOLS, UsageError, must_be, must_be_several
from ptxloom.isa.limits import MOST_MULTIPROCESSORS, MULTIPROCESSORS
from ptxloom.machine.instruments.wanted import VARIABLES
from ptxloom.machine.launch.launch_limits import whole
from ptxloom.machine.launch.launch_state import LEAKS
from ptxloom.machine.memory.foreign_arrays import host_array
from ptxloom.machine.memory.tensor_map import MappedArray
from ptxloom.machine.results.provenance_choice import Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PRINTF_BYTES = 1 << 20
DEFAULT_CHECKS = ("memcheck", "synccheck")
CHECKS = (
    "memcheck", VARIABLES, LEAKS, "synccheck", "racecheck", "racecheck:global", "racecheck:fences", "initcheck",
    "initcheck:global",
)  # fmt: skip
AS_WRITTEN = "as written"
FUSED = "fused"
THREADS_LIMIT = 1024
PRINTF_LIMIT = 1 << 30
MEMORY_LIMIT = 1 << 48
_MULTIPROCESSORS = "PTXLOOM_MULTIPROCESSORS"


def multiprocessors() -> int:
    """How many multiprocessors a device says that it has: persistent kernels start as many CTAs, or a multiple.

    Raises:
        UsageError: The variable that says so holds no such number.
    """
    text = os.environ.get(_MULTIPROCESSORS) or str(MULTIPROCESSORS)
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_MULTIPROCESSORS)) else 0
    if not 1 <= number <= MOST_MULTIPROCESSORS:
        raise UsageError(_MULTIPROCESSORS, text, f"a number from 1 to {MOST_MULTIPROCESSORS:,}")
    return number


def unwritten_arrays(named: Sequence[object], args: Sequence[object]) -> list[NDArray[Any]]:
    """The arrays that hold nothing yet, named by themselves or by their places among the arguments.

    Raises:
        UsageError: Something else is named.
    """
    found: list[NDArray[Any]] = []
    must_be_several("uninitialised", named, "arrays among args, or their places there")
    for item in named:
        named_so = host_array(item, "uninitialised", "initcheck to watch")
        number = whole(item) if named_so is None else None
        if number is not None and 0 <= number < len(args):
            one = args[number]
            named_so = one.array if isinstance(one, MappedArray) else host_array(one, f"args[{number}]", "initcheck")
        elif isinstance(item, MappedArray):
            named_so = item.array
        if named_so is None:
            raise UsageError("uninitialised", item, "an array among args, or its place there")
        found.append(named_so)
    return found


def known_checks(checks: Sequence[str]) -> None:
    """Refuse a tool that does not exist.

    Raises:
        UsageError: There is no such tool; the message lists those that exist.
    """
    must_be_several("checks", checks, "names of tools")
    for name in checks:
        if name not in CHECKS:
            raise UsageError("checks", name, f"any of {', '.join(CHECKS)}")


def read_checks(text: str | None, argument: str = "--checks") -> tuple[str, ...]:
    """The tools that a text names, comma-separated; `all` stands for the four. The usual ones if there is no text.

    Raises:
        UsageError: There is no such tool; the sentence is about `argument`.
    """
    if text is None:
        return DEFAULT_CHECKS
    names: list[str] = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name != "all" and name not in CHECKS:
            raise UsageError(argument, name, f"a list of {', '.join(CHECKS)}, or all")
        names += (*TOOLS, VARIABLES) if name == "all" else [name]
    return tuple(dict.fromkeys(names))


def wanted_provenance(provenance: bool | Provenance) -> Provenance | None:
    """What is to be followed, if anything.

    Raises:
        UsageError: It is neither a bool nor a `Provenance`.
    """
    if isinstance(provenance, Provenance):
        return provenance
    must_be(bool, "provenance", provenance, "True, False or a `Provenance`")
    return Provenance() if provenance else None


def known_contract(contract: str) -> str:
    """Refuse what does not name a way to round a product and a sum.

    Raises:
        UsageError: It is not one of the two; the message names both.
    """
    if contract not in {AS_WRITTEN, FUSED}:
        raise UsageError("contract", contract, f'"{AS_WRITTEN}" or "{FUSED}"')
    return contract


def integer(argument: str, value: object, low: int | None = None, high: int | None = None, note: str = "") -> int:
    """An argument as a number from `low` to `high`.

    Raises:
        UsageError: It is not such a number.
    """
    number = whole(value)
    if number is None or (low is not None and number < low) or (high is not None and number > high):
        legal = "an integer" if low is None else f"{low} or more" if high is None else f"{low} to {high}{note}"
        raise UsageError(argument, value, legal)
    return number


def deadline_of(timeout: object) -> float | None:
    """When a time limit that starts now ends, on `time.monotonic`.

    Raises:
        UsageError: It is not a time.
    """
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout >= 0:
        raise UsageError("timeout", timeout, "a number of seconds, or None")
    return time.monotonic() + timeout
