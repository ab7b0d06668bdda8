"""The line because of which a convolution takes other elements than it should."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.culprits import copies_of
from ptxloom.diagnosis.findings import source_of
from ptxloom.diagnosis.lines.guards import guard_of
from ptxloom.diagnosis.lines.loops import ends_of
from ptxloom.diagnosis.lines.terms import Line, at_index, line_of
from ptxloom.diagnosis.model import Diagnosis
from ptxloom.diagnosis.sums.laws import ROLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.diagnosis.sums.convolutions import Convolved
    from ptxloom.diagnosis.sums.laws import Broken
    from ptxloom.diagnosis.sums.terms import Terms
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord, TracedArray


def of_convolution(
    one: Broken, slid: Convolved, terms: Terms, arrays: Sequence[TracedArray], record: ProvenanceRecord
) -> Diagnosis:
    """The diagnosis of terms that break a law of convolutions; never certain, as the intended steps are inferred.

    Args:
        one: What is wrong.
        slid: How the arrays are read.
        terms: The terms.
        arrays: The first factor's, the second's, and the result's.
        record: Of the run.
    """
    ops = record.program.ops
    sites: list[int] = np.unique(terms.site[one.wrong]).tolist()
    products = tuple(ops[site] for site in sites)
    line = Line(products[0], products)
    array = arrays[2]
    if one.role:
        side = ROLES.index(one.role)
        array = arrays[side]
        line = line_of(terms.factors["path"][:, side], one.wrong, record, leaves_tile=True)
        line = at_index(line, record, array.number)
    elif one.named.cause == "k-missing":
        loads = copies_of(terms.factors["path"][:, 1 - slid.way.side].astype(np.int64), record)
        ends = ends_of(products[-1], loads, record.program)
        test = guard_of(products[-1], record.program) or (None if ends is None else ends.test)
        line = line if test is None else Line(_branch(test, ops), (test, *products))
    at = int(np.argmax(one.wrong))
    numbers = (*terms.factors["element"][at].tolist(), int(terms.result[at]))
    first, second, result = (f"{one.name}{list(one.index(n))}" for one, n in zip(arrays, numbers, strict=True))
    concerned = dict.fromkeys((*line.concerned, *products))
    return Diagnosis(
        one.law, one.role, array.name, one.named.cause, f"{one.named.detail}: {result} takes {first} times {second}",
        False, one.others, line.op.line, line.op.text, source_of(line.op, record),
        tuple(dict.fromkeys(op.line for op in concerned)), one.wrongs, one.total,
    )  # fmt: skip


def _branch(test: Op, ops: Sequence[Op]) -> Op:
    """The branch that a comparison decides: of an unrolled loop, only the branch has the line of the loop."""
    decided = (name.text for name, _ in destinations(test.node))
    name = next(decided, "")
    after = (op for op in ops[test.site + 1 :] if op.function is test.function and op.node.predicate is not None)
    return next((op for op in after if op.node.predicate is not None and op.node.predicate.name == name), test)
