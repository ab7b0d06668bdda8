"""The rules of an instruction as sentences: legal combinations, versions and targets."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ptxloom.isa.spec import Condition, alternatives

if TYPE_CHECKING:
    from ptxloom.isa.spec import Constraint, Feature, InstructionSpec, Need


def needs(feature: Feature) -> str:
    """What a feature needs, as a phrase; targets of one version together."""
    parts = [_together(list(same)) for _, same in groupby(feature.needs, lambda need: need.version)]
    gone = f", up to before PTX {_lost(feature.gone)}" if feature.gone else ""
    return "; or ".join(parts) + gone


def _together(rows: list[Need]) -> str:
    """The needs of one version: families are listed."""
    first, *others = rows
    if not others:
        return str(first)
    return f"{first}{''.join(f', or {need.targets}' for need in others)}"


def _lost(gone: Need) -> str:
    """The version that removed a feature, and the targets concerned."""
    return f"{gone.version}" + (f" on {gone.targets}" if gone.targets else "")


def rule_words(spec: InstructionSpec, constraint: Constraint) -> str:
    """A constraint as a sentence."""
    when = _condition(spec, constraint.when)
    lax = " (by the manual; ptxas does not enforce it)" if constraint.lax else ""
    [(name, _), *others] = constraint.require.allowed
    forbidden = [values for slot, values in constraint.when.allowed if slot == name and not others]
    if forbidden:
        elsewhere = Condition(tuple(row for row in constraint.when.allowed if row[0] != name))
        head = f"Where {_condition(spec, elsewhere)}" if elsewhere.allowed else "Always"
        return f"{head}: `.{name}` is not {alternatives(forbidden[0])}; {constraint.why}{lax}."
    head = f"Where {when}" if when else "Always"
    return f"{head}: {_condition(spec, constraint.require)}; {constraint.why}{lax}."


def _condition(spec: InstructionSpec, condition: Condition) -> str:
    """A condition in words; if a qualifier may have any of its values, that it is present."""
    every: dict[str, set[str]] = {}
    for line in spec.lines:
        for slot in line.slots:
            every.setdefault(slot.name, set()).update(slot.values)
    return " and ".join(
        f"`.{name}` is present" if {*allowed} == every[name] else str(Condition(((name, allowed),)))
        for name, allowed in condition.allowed
    )
