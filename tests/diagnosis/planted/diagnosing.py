"""What the diagnosis says of a kernel of the catalogue, right or broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from diagnosis.planted.launching import launch
from ptxloom.diagnosis import diagnose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis.planted.model import Argument, PlantedBug, RightKernel
    from ptxloom.diagnosis import Diagnosis


def diagnosed(case: RightKernel, text: str, arguments: Sequence[Argument]) -> tuple[Diagnosis, ...]:
    """The diagnoses of a kernel's text; words say what is computed, as in a launch file."""
    record = launch(case, text, arguments, provenance=True).provenance
    assert record is not None
    return diagnose(record, case.says, names=dict(enumerate(case.names)))


def diagnoses_of(bug: PlantedBug) -> tuple[Diagnosis, ...]:
    """The diagnoses of a broken kernel."""
    return diagnosed(bug.kernel, bug.text, (bug.make or bug.kernel.make)())


def named(bug: PlantedBug, found: Sequence[Diagnosis]) -> str | None:
    """What the first diagnosis gets wrong; nothing if it names the cause, the operand and a line."""
    if not found:
        return "no law is said to be broken"
    first = found[0]
    if first.cause not in {bug.cause, *bug.other_causes}:
        return f"{first.cause} instead of {bug.cause}"
    if bug.operand and first.operand != bug.operand:
        return f"operand {first.operand} instead of {bug.operand}"
    if first.line not in bug.lines:
        return f"line {first.line} instead of one of {sorted(bug.lines)}"
    return None
