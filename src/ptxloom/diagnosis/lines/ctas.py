"""Mistakes of whole CTAs: the deciding part of their index, and the term of an address that contains it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.addresses import made_alone, made_of
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.readings.computed import resizes, scales
from ptxloom.readings.effects import loads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.provenance import ProvenanceRecord

_FIELDS: Final = "xyz"
_OF_LANES: Final = ("%tid.", "%laneid")


def ctas_of(numbers: Integers, record: ProvenanceRecord) -> list[tuple[str, Integers]]:
    """The components of the CTA indices of products, each with its name."""
    across, down, _ = record.raw.grid
    block = record.raw.events["cta"][numbers].astype(np.int64)
    return list(zip(_FIELDS, (block % across, block // across % down, block // (across * down)), strict=True))


def deciding(numbers: Integers, wrong: Truth, record: ProvenanceRecord) -> str:
    """The part of the CTA's index, `x`, `y` or `z`, that decides which products are wrong; empty if there is none.

    Args:
        numbers: (products,) their numbers.
        wrong: (products,) whether each is.
        record: Knows their CTAs.
    """
    for field, values in reversed(ctas_of(numbers, record)):
        bad, good = np.unique(values[wrong]), np.unique(values[~wrong])
        if len(bad) and len(good) and not len(np.intersect1d(bad, good)):
            return field
    return ""


def own_term_of(op: Op, field: str, program: Program, *, shared: bool = False) -> Op | None:
    """The instruction that scales a part of the CTA's index for one array's address, if the other addresses are right.

    It is the first that no address of another array uses, before lanes enter the computation.

    Args:
        op: What uses the address.
        field: The part.
        program: Their program.
        shared: Whether an instruction that also serves other addresses is allowed if there is no separate one:
            compilers merge equal computations.
    """
    ops = sorted({one for one in made_of(op, program) if one.function is op.function}, key=lambda one: one.site)
    of_lanes = _from(ops, _OF_LANES)
    chain = [one for one in _from(ops, (f"%ctaid.{field}",)) if one not in of_lanes and not resizes(one.node)]
    alone = set(made_alone(op, program))
    own = next((one for one in chain if one in alone), None)
    if own is not None or not shared:
        return own
    return next((one for one in reversed(chain) if scales(one.node)), None)


def _from(ops: Sequence[Op], specials: Sequence[str]) -> list[Op]:
    """Those of some instructions, in order, whose results are computed from the given special registers."""
    names: set[str] = set()
    found: list[Op] = []
    for one in ops:
        if any(special in one.text for special in specials) or any(read.text in names for _, read in names_read(one)):
            found.append(one)
            names |= {name.text for name, _ in destinations(one.node)}
    return found


def term_of(op: Op, field: str, program: Program) -> Op | None:
    """The instruction that scales a part of the CTA's index on the way to an address."""
    ops = [one for one in made_of(op, program) if one.function is op.function]
    names = {_written(one) for one in ops if f"%ctaid.{field}" in one.text}
    return _scaled(ops, names)


def term_of_others(op: Op, field: str, program: Program) -> Op | None:
    """The term of another component of the CTA's index in an array's own address, which lacks one component."""
    if not loads(op.node):
        return None  # a copy of a box, whose coordinates are operands of their own
    others = (own_term_of(op, other, program) for other in reversed(_FIELDS) if other != field)
    return next((term for term in others if term is not None), None)


def base_of(op: Op, field: str, program: Program) -> Op | None:
    """The instruction that scales a part of the CTA's index on the way to an address, or a substitute for it.

    If the address does not use the part at all, the substitute is the last addition if the part is `x`, which most
    often moves within rows, else the first.
    """
    own = term_of(op, field, program)
    others = [term for other in _FIELDS if other != field and (term := term_of(op, other, program)) is not None]
    if own is not None or not others:
        return own
    return others[0] if field == _FIELDS[0] else others[-1]


def _scaled(ops: Sequence[Op], names: set[str]) -> Op | None:
    """The first that multiplies one of some registers, which may have been moved and converted before."""
    for _ in range(len(_FIELDS)):
        using = [one for one in ops if any(read.text in names for _, read in names_read(one))]
        found = next((one for one in using if scales(one.node)), None)
        if found is not None:
            return found
        names = names | {_written(one) for one in using if resizes(one.node)}
    return None


def _written(op: Op) -> str:
    return op.text.partition(" ")[2].partition(",")[0].strip()
