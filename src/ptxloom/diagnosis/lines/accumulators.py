"""Products that overwrite instead of adding, and the operand that selects it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptxloom.binding.effects import destinations
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.results.provenance import Kind
from ptxloom.readings.effects import goes_by_async_proxy
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.machine.program.model import Op
    from ptxloom.machine.results.provenance import ProvenanceRecord


def started_anew(products: Sequence[Op], record: ProvenanceRecord) -> Op | None:
    """The instruction that sets the predicate by which a product in a loop never accumulates.

    Args:
        products: Instructions that multiply the same arrays.
        record: Knows what they added to.
    """
    for op in products:
        flag = _flag(op)
        numbers = np.flatnonzero(record.raw.events["site"] == op.site)
        if flag is None or not len(numbers):
            continue
        _, times = np.unique(record.raw.events[["cta", "warp"]][numbers], return_counts=True)
        if times.max() > 1 and not (record.operands(numbers, "c")["kind"] == Kind.PRODUCT).any():
            return _writer(op, flag, record) or op
    return None


def _flag(op: Op) -> str | None:
    """The predicate that selects whether an asynchronous product adds."""
    names = [one.text for one in op.operands if isinstance(one, tree.Name)] if goes_by_async_proxy(op.node) else []
    return next((name for name in names if _is_predicate(op, name)), None)


def _is_predicate(op: Op, name: str) -> bool:
    found = op.scope.find(name)
    return isinstance(found, Register) and found.type.kind == "p"


def _writer(op: Op, name: str, record: ProvenanceRecord) -> Op | None:
    """The last instruction before `op` that writes a predicate."""
    before = (one for one in reversed(record.program.ops[: op.site]) if one.function is op.function)
    return next((one for one in before if any(out.text == name for out, _ in destinations(one.node))), None)
