"""The required arrays of a launch file after the run: loads files, evaluates expressions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.cli.launch_files import arrays
from ptxloom.cli.launch_files.launch_file import BadLaunchFile
from ptxloom.comparison import Reference
from ptxloom.comparison.compare import must_compare
from ptxloom.comparison.expression import reference
from ptxloom.source import title

if TYPE_CHECKING:
    from ptxloom.cli.launch_files.launch_file import ExpectedArray, LaunchFile
    from ptxloom.machine import Kernel


def references(launch: LaunchFile, compiled: Kernel) -> dict[str | int, Reference]:
    """The required contents of each compared array, by its place, computed before the kernel runs.

    Raises:
        BadLaunchFile: A file cannot be loaded.
        BadExpression: An expression cannot be evaluated.
        UsageError: The shapes or types do not fit.
    """
    values = {a.name: a.value for a in launch.arguments if a.value is not None}
    places = {a.name: number for number, a in enumerate(launch.arguments)}
    names = tuple("" if a.name.isdecimal() else a.name for a in launch.arguments)
    found: dict[str | int, Reference] = {}
    for wanted in launch.comparisons:
        match wanted.wanted:
            case Path() as path:
                made = _loaded(path, wanted)
            case expected:
                tolerance = wanted.rtol, wanted.atol
                precision = compiled.precision
                made = reference(expected, values, precision, *tolerance, accumulate=wanted.accumulate)
        must_compare(wanted.array, values[wanted.array], made)
        found[places[wanted.array]] = replace(made, names=names)
    return found


def _loaded(path: Path, wanted: ExpectedArray) -> Reference:
    try:
        array = arrays.load(path)
    except arrays.NoArray as error:
        raise BadLaunchFile(f"cannot load {title(path)}: {error}") from error
    return Reference(array, wanted.rtol, wanted.atol, against=title(path), accumulate=wanted.accumulate)
