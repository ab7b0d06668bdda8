"""Finds what prevented loads of missing elements from being executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.diagnosis.lines.addresses import based_on
from ptxloom.diagnosis.lines.guards import guards_of
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord


def kept_from(load: Op, record: ProvenanceRecord) -> Op | None:
    """The comparison that prevented an array's loads on other lines; None if all were executed.

    Args:
        load: One that was executed.
        record: Of the run.
    """
    program = record.program
    ran = {int(site) for _, site in record.raw.paths[1:]} | set(np.unique(record.raw.nodes["site"]).tolist())
    own = based_on(load, program)
    alike = [
        op
        for op in program.ops
        if op.function is load.function and op.opcode == load.opcode and op.has("global") and own
    ]
    executed = [op for op in alike if op.site in ran]
    line_of = {op.site: home_line(program.module, op.node.start) for op in alike}
    lines = {line_of[op.site] for op in executed}
    missed = (op for op in alike if op.site not in ran and line_of[op.site] not in lines)
    idle = next((op for op in missed if based_on(op, program) == own), None)  # no copy that unrolling made
    if idle is None or None in lines:
        return None
    passed = {test.site for op in executed for test in guards_of(op, program)}
    return next((test for test in reversed([*guards_of(idle, program)]) if test.site not in passed), None)
