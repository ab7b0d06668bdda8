"""The ISA data as the explorer's checker takes it: forms, constraints, operands, availability; the opcodes of PTX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa import instruction_classes, instruction_spec, judged, opcodes, targets, versions
from ptxloom.isa.resolution.mismatch import SCOPES
from ptxloom.isa.spaces import MEMORY, SPACES
from ptxloom.isa.spelling import CALLED
from ptxloom.isa.target import RENAMED

if TYPE_CHECKING:
    from ptxloom.isa import Condition, Feature, InstructionSpec, Need, OperandRule, SyntaxLine

_Row = list[object]


def instruction_facts() -> dict[str, object]:
    """Everything that the page's `forms.js`, `mismatch.js` and `check.js` ask."""
    specs = {opcode: _spec(instruction_spec(opcode)) for opcode in opcodes() if judged(opcode)}
    return {
        "specs": specs,
        "opcodes": list(instruction_classes()),
        "targets": [str(target) for target in targets()],
        "versions": [str(version) for version in versions()],
        "renamed": RENAMED,
        "spaces": list(SPACES),
        "memory": list(MEMORY),
        "elsewhere": CALLED,
        "scopes": SCOPES,
    }


def _spec(spec: InstructionSpec) -> _Row:
    tolerance = spec.tolerance
    return [
        spec.section,
        [_line(line) for line in spec.lines],
        {name: _operand(rule) for name, rule in spec.operands.items()},
        [[_condition(c.when), _condition(c.require), c.why, int(c.lax)] for c in spec.constraints],
        [_feature(feature) for feature in spec.features],
        [sorted(spec.repeatable), tolerance.ignores, tolerance.misreads, tolerance.leads, tolerance.ignores_in],
    ]


def _line(line: SyntaxLine) -> _Row:
    slots = [[slot.name, slot.values, int(slot.optional)] for slot in line.slots]
    operands = [
        [each.name, int(each.bracketed), int(each.optional), each.partner, each.extra, each.spare, int(each.alone)]
        for each in line.operands
    ]
    return [slots, operands]


_SPARE: Final = "spare"


def _operand(rule: OperandRule) -> _Row:
    """[kind, length, the slot that brings it along, where it may be missing though the manual has it]."""
    return [rule.kind, rule.length, rule.when, int(any(trait == _SPARE for trait, _ in rule.traits))]


def _condition(condition: Condition) -> _Row:
    return [[name, values] for name, values in condition.allowed]


def _feature(feature: Feature) -> _Row:
    gone = _need(feature.gone) if feature.gone else None
    return [feature.name, _condition(feature.when), list(map(_need, feature.needs)), feature.operand, gone]


def _need(need: Need) -> list[str]:
    """[PTX version, targets in the notation of the ISA data; empty for all of them]."""
    at = need.targets
    return [str(need.version), "" if at is None else f"{at.base}{'+af' * at.any_suffix}"]
