"""Proofs about the ISA data: what every file must keep, said as findings with file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.forms import expand, fillings
from ptxloom.isa.load import glossary
from ptxloom.isa.notation import DataError
from ptxloom.isa.target import targets
from ptxloom.isa.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.spec import InstructionSpec


def prove(spec: InstructionSpec) -> tuple[DataError, ...]:
    """Everything that is wrong with the data of one instruction; empty if it is sound.

    Every qualifier is described, in the file or in the glossary; every description, operand and feature is used;
    every constraint removes something that no other one removes; every spelling has a target that knows it;
    no two syntax lines make the same spelling.
    """
    return tuple(
        finding for proof in (_described, _used, _constraints, _features, _distinct) for finding in proof(spec)
    )


def _described(spec: InstructionSpec) -> Iterator[DataError]:
    words = {**glossary(), **spec.qualifiers}
    for line in spec.lines:
        for slot in line.slots:
            if slot.name not in words:
                yield DataError(spec.file, line.line, f"`.{slot.name}` is described neither here nor in the glossary")


def _used(spec: InstructionSpec) -> Iterator[DataError]:
    slots = {slot.name for line in spec.lines for slot in line.slots}
    operands = {slot.name for line in spec.lines for slot in line.operands}
    for name in spec.qualifiers.keys() - slots:
        yield DataError(spec.file, 1, f"`.{name}` is described, and no syntax line has it")
    for name, rule in spec.operands.items():
        if name not in operands:
            yield DataError(spec.file, 1, f"operand `{name}` is described, and no syntax line has it")
        if rule.type.startswith(".") and rule.type[1:] not in slots:
            yield DataError(spec.file, 1, f"operand `{name}` takes its type from `{rule.type}`, which is no qualifier")


def _constraints(spec: InstructionSpec) -> Iterator[DataError]:
    for constraint in spec.constraints:
        others = [each for each in spec.constraints if each is not constraint]
        removes = any(
            not constraint.admits(filling) and all(other.admits(filling) for other in others)
            for filling, _ in fillings(spec)
        )
        if not removes:
            yield DataError(spec.file, constraint.line, f"the constraint ({constraint.why}) removes nothing")


def _features(spec: InstructionSpec) -> Iterator[DataError]:
    forms = tuple(expand(spec))
    for feature in spec.features:
        if not any(feature.when.holds(form.filling) for form in forms):
            yield DataError(spec.file, feature.line, f"no spelling uses the feature {feature.name}")
    for form in forms:
        if not form.features:
            yield DataError(spec.file, form.line.line, f"{form.spelling} belongs to no feature")
        if not any(all(each.available(NEWEST, target) for each in form.features) for target in targets()):
            yield DataError(spec.file, form.line.line, f"no target knows {form.spelling}")


def _distinct(spec: InstructionSpec) -> Iterator[DataError]:
    seen: dict[tuple[object, ...], str] = {}
    for form in expand(spec):
        key = (*sorted(form.words), len(form.line.operands))
        if key in seen:
            yield DataError(spec.file, form.line.line, f"{form.spelling} is {seen[key]} once more")
        seen[key] = form.spelling
