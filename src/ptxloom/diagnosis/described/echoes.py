"""Consequences of a wrong descriptor: what it reads beyond its array is not a separate cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.model import Diagnosis


def without_echoes(found: Sequence[Diagnosis]) -> list[Diagnosis]:
    """The diagnoses, without those of an operand of the same products that a wrong descriptor explains."""
    told = [one for one in found if one.certain and one.cause == "descriptor"]
    return [one for one in found if not any(_echoes(one, cause) for cause in told)]


def _echoes(one: Diagnosis, cause: Diagnosis) -> bool:
    """Whether a diagnosis is of the same operand of the same instructions, of fewer elements, from elsewhere."""
    if one is cause or one.operand != cause.operand or one.array == cause.array or one.wrong > cause.wrong:
        return False
    return not set(one.lines).isdisjoint(cause.lines)
