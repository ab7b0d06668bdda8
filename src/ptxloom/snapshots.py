"""Profiles held to what they were: a file a snapshot, beside the test, as pytest's `--ptxloom-update` writes it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from ptxloom.diagnostics import UsageError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.limited import MOST_SETTINGS, content
from ptxloom.files.writing import inside, replace_file
from ptxloom.machine import LaunchResult, Profile
from ptxloom.names.demangling import demangled
from ptxloom.source import title
from ptxloom.views.runs import profiles
from ptxloom.views.runs.summary import CostChange

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER: Final = "__ptxloom__"
_LONGEST_NAME: Final = 160  # characters; beside it stand an ending and, while it is written, some more
_HELD: Final = (
    "executions",
    "wavefronts",
    "conflicts",
    "sectors",
    "divergent",
    "bulk_global_bytes",
    "bulk_shared_bytes",
)
"""What must not grow, of the fields of `Counts`."""


def held_against(
    given: LaunchResult | Profile,
    file: str,
    test: str,
    name: str = "",
    *,
    update: bool,
    note: Callable[[CostChange], None] | None = None,
) -> str:
    """Compare a profile with its snapshot, or write the snapshot.

    Args:
        given: The profile, or the result of a launch that has one.
        file: The file of the test.
        test: The name of the test.
        name: Distinguishes the snapshots of one test.
        update: Write the snapshot.
        note: Called with the costs, and those of the snapshot.

    Returns:
        The message if it costs more or there is no snapshot; empty if all is well.

    Raises:
        UsageError: The launch was not profiled.
    """
    profile = given.profile if isinstance(given, LaunchResult) else given
    if not isinstance(profile, Profile):
        raise UsageError("profile", given, "that of a launch with `profile=True`")
    path = Path(file).parent / FOLDER / Path(file).stem / f"{_file_name(test, name)}.json"
    totals = asdict(profile.totals)
    costs = {what: int(totals[what]) for what in _HELD}
    before = None if update else _known(path)
    if note is not None:
        note(CostChange(profile.kernel, path.stem, before, costs))
    if update:
        return _written(path, Path(file).parent, json.dumps({"kernel": profile.kernel, **costs}, indent=1) + "\n")
    if before is None:
        what = "this is no snapshot" if path.exists() else "there is no such snapshot yet"
        return f"{title(path)}: {what}; `pytest --ptxloom-update` writes it"
    grown = [
        f"{what} grew from {before[what]:,} to {now:,}" for what, now in costs.items() if now > before.get(what, now)
    ]
    if not grown:
        return ""
    return f"{demangled(profile.kernel)}: {', '.join(grown)} ({path.name})\n\n{profiles.full(profile)}"


def _known(path: Path) -> dict[str, int] | None:
    """The costs that a snapshot holds; None without a snapshot."""
    try:
        told: object = json.loads(content(path, MOST_SETTINGS))
    except (OSError, OutOfReach, ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    costs = cast("dict[str, object]", told)
    return {what: cost for what in _HELD if isinstance(cost := costs.get(what), int)}


def _written(path: Path, folder: Path, text: str) -> str:
    """Write a snapshot below the test's folder; returns a message if it cannot be written, or would be elsewhere."""
    try:
        place = inside(folder, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, lambda file: file.write(text.encode()))
    except OutOfReach as error:
        return f"{title(path)}: {error}"
    except OSError as error:
        return f"{title(path)}: it cannot be written ({error.strerror or error})"
    return ""


def _file_name(test: str, name: str) -> str:
    """A name that every file system takes."""
    whole = f"{test}.{name}" if name else test
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", whole).strip("-")
    if len(plain) <= _LONGEST_NAME:
        return plain
    return f"{plain[:_LONGEST_NAME]}-{sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
