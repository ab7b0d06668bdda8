"""An array held against what it should be: as text for people, or as JSON."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

from ptxloom.records import Natural, Record, taken
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.numbers import few_digits
from ptxloom.views.core.style import PLAIN, Ink, Style

if TYPE_CHECKING:
    from ptxloom.comparison import Comparison, Difference, Downgrade


def full(found: Comparison, style: Style = PLAIN) -> str:
    """One line if it is right; else how many differ, what they have in common, the first and the largest."""
    shape = " x ".join(map(str, found.shape)) or "one"
    what = harmless(f"{found.name}, {shape} {found.dtype}, against {found.against}")
    if found.passed:
        return f"{style.paint('right', Ink.GREEN)}: {what}: {_near(found)}\n"
    share = f"{found.wrong:,} of {found.total:,} elements ({100 * found.wrong / found.total:.3g} %) differ"
    beyond = "" if found.tolerance.is_exact else f" by more than {found.tolerance}"
    head = "WRONG" if found.downgrade is None else "DOWNGRADE"
    lines = [f"{style.paint(head, Ink.RED)}: {what}: {share}{beyond}"]
    lines += [] if found.downgrade is None else [f"  {'rounded':7}  {downgrade(found.downgrade)}"]
    lines += [f"  pattern  {pattern.sentence}" for pattern in found.patterns]
    lines += [f"  {name:7}  {_difference(one)}" for name, one in _extremes(found)]
    lines += [f"  {'from' * (not number):7}  {sentence}" for number, sentence in enumerate(found.trail)]
    if found.nans or found.infinities:
        lines.append(f"  of them  {found.nans:,} NaN and {found.infinities:,} infinite, where a number should be")
    return "\n".join(lines) + "\n"


def downgrade(found: Downgrade) -> str:
    """What a coarser type of sums would explain, and how to declare it if it is intended."""
    allowed = few_digits(found.allowed, 3)
    return (
        f"its sums are in {found.sums}, not in {found.wanted}: that explains it ({allowed} would be allowed of the "
        f'largest); if it is intended, write `accumulate = "{found.sums}"`, or rtol and atol'
    )


def _near(found: Comparison) -> str:
    if found.tolerance.is_exact:
        return "equal in every bit"
    if found.largest is None:
        return "no number differs"
    most = found.largest
    if most.error == 0:
        return "no element differs"
    off, allowed = few_digits(most.error, 3), few_digits(most.allowed, 3)
    return f"largest difference {off} at {list(most.index)}, {allowed} allowed ({found.tolerance})"


def _extremes(found: Comparison) -> list[tuple[str, Difference]]:
    named = (("first", found.first), ("largest", found.largest))
    return [(name, one) for name, one in named if one is not None]


def _difference(one: Difference) -> str:
    allowed = ""
    if isfinite(one.error) and one.allowed:
        allowed = f" ({few_digits(one.error, 3)} off, {few_digits(one.allowed, 3)} allowed)"
    return f"{list(one.index)} is {_number(one.got)}, should be {_number(one.wanted)}{allowed}"


def _number(value: complex) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


Number: TypeAlias = float | str
"""What JSON has no number for, is text."""


class ToleranceRecord(Record):
    """How near an element must be."""

    rtol: float | None
    atol: float | None
    sums: str
    terms: Natural


class DifferenceRecord(Record):
    """An element that differs."""

    index: tuple[Natural, ...]
    got: Number
    wanted: Number
    error: Number
    allowed: Number


class DowngradeRecord(Record):
    """A coarser type of sums, which explains what differs."""

    sums: str
    wanted: str
    allowed: Number


class PatternRecord(Record):
    """What the elements that differ have in common."""

    kind: str
    sentence: str


class ComparisonRecord(Record):
    """An array held against what it should be."""

    array: str
    against: str
    dtype: str
    shape: tuple[Natural, ...]
    passed: bool
    tolerance: ToleranceRecord
    total: Natural
    wrong: Natural
    nan: Natural
    infinite: Natural
    first: DifferenceRecord | None
    largest: DifferenceRecord | None
    downgrade: DowngradeRecord | None
    patterns: tuple[PatternRecord, ...]
    trail: tuple[str, ...]


def record(found: Comparison) -> ComparisonRecord:
    """The same for programs."""
    return taken(
        ComparisonRecord,
        found,
        array=found.name,
        tolerance=taken(ToleranceRecord, found.tolerance),
        nan=found.nans,
        infinite=found.infinities,
        first=found.first and taken(DifferenceRecord, found.first),
        largest=found.largest and taken(DifferenceRecord, found.largest),
        downgrade=found.downgrade and taken(DowngradeRecord, found.downgrade),
        patterns=tuple(taken(PatternRecord, pattern) for pattern in found.patterns),
    )
