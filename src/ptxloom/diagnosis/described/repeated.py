"""Where k is read twice: descriptors that do not advance, though shared memory holds what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.descriptors.matrix import START
from ptxloom.diagnosis.slicing.makers import parts_of
from ptxloom.machine.results.provenance import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord


def unmoved(products: Sequence[Op], record: ProvenanceRecord) -> tuple[Op, ...]:
    """The instructions that compute the unchanged descriptors of products that repeat earlier ones."""
    return tuple(dict.fromkeys(_unmoved(products, record)))


def _unmoved(products: Sequence[Op], record: ProvenanceRecord) -> Iterator[Op]:
    raw, program = record.raw, record.program
    first: dict[int, tuple[int, ...]] = {}
    for op in products:
        numbers = np.flatnonzero(raw.events["site"] == op.site)[:1]
        words = [record.descriptors(numbers, name) for name in "ab"]
        if all(one is not None for one in words):
            first[op.site] = tuple(int(one[0]) for one in words if one is not None)
    seen: set[tuple[int, ...]] = set()
    for op in products:
        if op.site in first and first[op.site] in seen:
            for place in (1, 2):
                yield from [part.op for part in parts_of(op, op.operands[place], program)][:1]
        seen.add(first.get(op.site, ()))
    if len(set(first.values())) == len(first):  # each is what it was an iteration before
        for op in products[:1]:
            left, right = ([part.op for part in parts_of(op, op.operands[place], program)] for place in (1, 2))
            yield from (maker for maker in left if maker in right)


def common_makers(role: str, products: Sequence[Op], record: ProvenanceRecord) -> tuple[Op, ...]:
    """The instructions that put constants into a factor's start addresses, the same for all products."""
    made = [
        [part for part in parts_of(op, op.operands["dab".index(role)], record.program) if part.operand >= 0]
        for op in products
    ]
    shared = [part for part in made[0] if all(part in others for others in made)]
    return tuple(part.op for part in shared if not part.bits & ~START.mask)


def start_makers(role: str, products: Sequence[Op], record: ProvenanceRecord) -> tuple[Op, ...]:
    """The instructions that compute a factor's start addresses but not the other factor's; the nearest first.

    Args:
        role: The factor.
        products: The products.
        record: Knows the instructions.
    """
    made = [
        tuple(parts_of(op, op.operands["dab".index(name)], record.program) for name in (role, "ab".replace(role, "")))
        for op in products
    ]
    others = {part.op.site for _, parts in made for part in parts}
    shared = [part for part in made[0][0] if all(part.op in {one.op for one in own} for own, _ in made)]
    own = [part.op for part in shared if part.op.site not in others and not part.bits & ~START.mask]
    return tuple(dict.fromkeys(own))


def is_described(op: Op, role: str, record: ProvenanceRecord) -> bool:
    """Whether a factor of a product is in shared memory, given by a descriptor."""
    own = (known for known in record.raw.sites if known.site == op.site)
    return any(dict(zip("ab", known.factors, strict=True)).get(role) is not None for known in own)


def is_held(number: int, site: int, record: ProvenanceRecord) -> bool:
    """Whether shared memory held elements of an array as the first CTA came to an instruction."""
    if 0 not in record.raw.kept or site not in record.raw.moments:
        return False
    held = record.shared(0, site)
    return held is not None and bool(((held["array"] == number) & (held["kind"] == Kind.EXACT)).any())
