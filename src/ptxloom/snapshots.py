"""Profiles held to what they were: a file a snapshot, beside the test, as pytest's `--ptxloom-update` writes it."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import Final

from ptxloom.diagnostics import UsageError
from ptxloom.files.errors import OutOfReach
from ptxloom.files.writing import inside, replace_file
from ptxloom.machine import LaunchResult, Profile
from ptxloom.source import title
from ptxloom.views.runs import profiles

FOLDER: Final = "__ptxloom__"
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


def held_against(given: LaunchResult | Profile, file: str, test: str, name: str = "", *, update: bool) -> str:
    """Hold a profile against its snapshot, or write that.

    Args:
        given: The profile, or the result of a launch that has one.
        file: Where the test stands.
        test: What it is called.
        name: Tells the snapshots of one test apart.
        update: Write the snapshot.

    Returns:
        What to say if it costs more or there is no snapshot; nothing if all is well.

    Raises:
        UsageError: The launch was not profiled.
    """
    profile = given.profile if isinstance(given, LaunchResult) else given
    if profile is None:
        raise UsageError("profile", given, "that of a launch with `profile=True`")
    path = Path(file).parent / FOLDER / Path(file).stem / f"{_file_name(test, name)}.json"
    totals = asdict(profile.totals)
    costs = {what: int(totals[what]) for what in _HELD}
    if update:
        return _written(path, Path(file).parent, json.dumps({"kernel": profile.kernel, **costs}, indent=1) + "\n")
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return f"{title(path)}: there is no such snapshot yet; `pytest --ptxloom-update` writes it"
    except ValueError:
        return f"{title(path)}: this is no snapshot; `pytest --ptxloom-update` writes it anew"
    grown = [
        f"{what} grew from {known[what]:,} to {now:,}" for what, now in costs.items() if now > known.get(what, now)
    ]
    if not grown:
        return ""
    return f"{profile.kernel}: {', '.join(grown)} ({path.name})\n\n{profiles.full(profile)}"


def _written(path: Path, folder: Path, text: str) -> str:
    """Write a snapshot below the test's folder; gives what to say if a link leads out of that."""
    try:
        place = inside(folder, path)
    except OutOfReach as error:
        return f"{title(path)}: {error}"
    place.parent.mkdir(parents=True, exist_ok=True)
    replace_file(place, lambda file: file.write(text.encode()))
    return ""


def _file_name(test: str, name: str) -> str:
    """A name that every file system takes."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", f"{test}.{name}" if name else test).strip("-")
