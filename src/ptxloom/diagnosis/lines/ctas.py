"""Mistakes that are made by whole CTAs: which part of their index decides, and the term of an address that has it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnosis.lines.addresses import made_of
from ptxloom.machine.analysis.definite_assignment import names_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.tiles import Integers, Truth
    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.results.provenance import ProvenanceRecord

_FIELDS: Final = "xyz"
_TERMS: Final = ("mul", "mad", "shl", "fma", "mul24", "mad24", "div", "shr", "rem", "and")


def ctas_of(numbers: Integers, record: ProvenanceRecord) -> list[tuple[str, Integers]]:
    """The parts of the indices of the CTAs that have made products, each with its name."""
    across, down, _ = record.raw.grid
    block = record.raw.events["cta"][numbers].astype(np.int64)
    return list(zip(_FIELDS, (block % across, block // across % down, block // (across * down)), strict=True))


def deciding(numbers: Integers, wrong: Truth, record: ProvenanceRecord) -> str:
    """The part of the CTA's index, `x`, `y` or `z`, by which products are wrong or right; empty if it is none.

    Args:
        numbers: (products,) which they are.
        wrong: (products,) whether each is.
        record: Knows their CTAs.
    """
    for field, values in reversed(ctas_of(numbers, record)):
        bad, good = np.unique(values[wrong]), np.unique(values[~wrong])
        if len(bad) and len(good) and not len(np.intersect1d(bad, good)):
            return field
    return ""


def term_of(op: Op, field: str, program: Program) -> Op | None:
    """The instruction that scales a part of the CTA's index on the way to an address."""
    ops = [one for one in made_of(op, program) if one.function is op.function]
    names = {_written(one) for one in ops if f"%ctaid.{field}" in one.text}
    return _scaled(ops, names)


def _scaled(ops: Sequence[Op], names: set[str]) -> Op | None:
    """The first that multiplies one of some registers, which may have been moved and converted before."""
    for _ in range(len(_FIELDS)):
        using = [one for one in ops if any(read.text in names for _, read in names_read(one))]
        found = next((one for one in using if one.opcode in _TERMS), None)
        if found is not None:
            return found
        names = names | {_written(one) for one in using if one.opcode in ("mov", "cvt", "cvta")}
    return None


def _written(op: Op) -> str:
    return op.text.partition(" ")[2].partition(",")[0].strip()
