"""Proofs about the ISA data: the laws of every file, as findings with file and line."""

from __future__ import annotations

from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING

from ptxloom.isa.form import Form
from ptxloom.isa.notation import DataError
from ptxloom.isa.pages.meanings import meaning
from ptxloom.isa.spec import Condition
from ptxloom.isa.target import targets
from ptxloom.isa.types import is_type
from ptxloom.isa.vectors import looks, split_length
from ptxloom.isa.version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.notation import SyntaxLine
    from ptxloom.isa.spec import InstructionSpec, OperandRule


def prove(spec: InstructionSpec) -> tuple[DataError, ...]:
    """Everything that is wrong with the data of one instruction; empty if it is sound.

    Every qualifier is described, in the file or in the glossary; every description, operand and feature is used;
    every constraint removes something that no other one removes; every spelling has a target that knows it;
    no two syntax lines make the same spelling; every form states in one word what it does at each address.
    """
    return tuple(
        finding for proof in (_described, _used, _constraints, _features, _distinct, _done) for finding in proof(spec)
    )


MOST_FILLINGS = 4000
"""Of a syntax line with more choices than this, a fixed sample is checked."""


def some_forms(spec: InstructionSpec, *, lax: bool = False) -> Iterator[Form]:
    """The forms of an instruction: all of a syntax line's, or an even part of them if there are very many.

    Args:
        spec: The instruction.
        lax: Whether to also yield forms that only the manual forbids.
    """
    for line in spec.lines:
        for filling in _fillings(line, Condition()):
            if all((lax and constraint.lax) or constraint.admits(filling) for constraint in spec.constraints):
                yield Form(spec, line, filling)


def _fillings(line: SyntaxLine, when: Condition) -> Iterator[dict[str, str]]:
    """The fillings of a line that meet a condition, or an even part of them."""
    allowed = dict(when.allowed)
    rows = [tuple(value for value in slot.choices if value in allowed.get(slot.name, (value,))) for slot in line.slots]
    if allowed.keys() - {slot.name for slot in line.slots}:
        return
    total = prod(map(len, rows))
    step = 1 if total <= MOST_FILLINGS else (total // MOST_FILLINGS) | 1
    names = [slot.name for slot in line.slots]
    for choice in islice(product(*reversed(rows)), 0, None, step):  # the first slot varies fastest
        yield dict(zip(names, reversed(choice), strict=True))


def is_place(rule: OperandRule) -> bool:
    """Whether an operand is a place in memory: an address, a texture or a surface."""
    return rule.kind == "address" or (rule.kind == "symbol" and rule.type in {"texture", "sampler", "surface"})


def _described(spec: InstructionSpec) -> Iterator[DataError]:
    for line in spec.lines:
        for slot in line.slots:
            if not meaning(spec, slot.name):
                yield DataError(spec.file, line.line, f"`.{slot.name}` is described neither here nor in the glossary")


def _used(spec: InstructionSpec) -> Iterator[DataError]:
    slots = {slot.name for line in spec.lines for slot in line.slots}
    operands = {name for line in spec.lines for slot in line.operands for name in slot.names}
    for name in spec.qualifiers.keys() - slots:
        yield DataError(spec.file, 1, f"`.{name}` is described, and no syntax line has it")
    for name, rule in spec.operands.items():
        if name not in operands:
            yield DataError(spec.file, 1, f"operand `{name}` is described, and no syntax line has it")
        length, _, _ = split_length(rule.length)
        for slot in (rule.type.removesuffix("*2"), length, rule.space, f".{rule.when}" if rule.when else ""):
            if slot.startswith(".") and slot[1:] not in slots:
                yield DataError(spec.file, 1, f"operand `{name}` depends on `{slot}`, which is not a qualifier")


def _constraints(spec: InstructionSpec) -> Iterator[DataError]:
    for constraint in spec.constraints:
        others = [each for each in spec.constraints if each is not constraint and (constraint.lax or not each.lax)]
        removes = any(
            not constraint.admits(filling) and all(other.admits(filling) for other in others)
            for line in spec.lines
            for filling in _fillings(line, constraint.when)
        )
        if not removes:
            yield DataError(spec.file, constraint.line, f"the constraint ({constraint.why}) removes nothing")


def _features(spec: InstructionSpec) -> Iterator[DataError]:
    forms = tuple(some_forms(spec, lax=True))
    for feature in spec.features:
        if not any(feature in form.features for form in forms):
            yield DataError(spec.file, feature.line, f"no spelling uses the feature {feature.name}")
    for form in forms:
        if not form.features:
            yield DataError(spec.file, form.line.line, f"{form.spelling} belongs to no feature")
        lasting = [feature for feature in form.features if feature.gone is None]
        if not any(all(each.available(NEWEST, target) for each in lasting) for target in targets()):
            yield DataError(spec.file, form.line.line, f"no target knows {form.spelling}")


def _distinct(spec: InstructionSpec) -> Iterator[DataError]:
    seen: dict[tuple[object, ...], str] = {}
    for form in some_forms(spec):
        # The order decides the meaning of words that fit several places.
        ordered = tuple(word for word in form.words if is_type(word) or len(form.line.slots_of[word]) > 1)
        alike = tuple(looks(form, count) for count in form.counts)
        key = (*sorted(word for word in form.words if word not in ordered), ordered, alike)
        if key in seen:
            yield DataError(spec.file, form.line.line, f"{form.spelling} is the same as {seen[key]}")
        seen[key] = form.spelling


def _done(spec: InstructionSpec) -> Iterator[DataError]:
    for name, rule in spec.operands.items():
        if rule.does and not is_place(rule):
            yield DataError(spec.file, 1, f"operand `{name}` has `does`, but is not an address")
    for form in some_forms(spec, lax=True):
        for slot in form.line.operands:
            for rule in (spec.operands[name] for name in (slot.name, *slot.extra)):
                said = {word for word, when in rule.does if when.holds(form.filling, absent="")}
                if rule.kind == "address" and len(said) != 1:
                    problem = f"what {form.spelling} does at `{rule.name}` is not one word"
                    yield DataError(spec.file, form.line.line, problem)
