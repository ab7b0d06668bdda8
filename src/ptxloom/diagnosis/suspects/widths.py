"""Products that were cut to 32 bits before they were divided, shifted or widened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import OWN, Change, Rewrite
from ptxloom.diagnosis.suspects.confusions import meant
from ptxloom.diagnosis.suspects.sources import results_of
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ptxloom.machine.program.model import Op

CAUSE: Final = "wrong-operation"
_OWN: Final = (f"b64 {OWN}, %o", "b32 %n")


def wider(op: Op, written_by: Mapping[tuple[int, str], Op | None]) -> Iterator[Change]:
    """An instruction that takes a product of 32 bits, with the whole product of 64 bits in its place.

    Args:
        op: The instruction.
        written_by: What `writers` returns.
    """
    taken = op.operands[1] if len(op.operands) > 1 else None
    maker = written_by.get((op.function.number, taken.text)) if isinstance(taken, tree.Name) else None
    for entry in meant("wide") if maker is not None else ():
        found = re.fullmatch(entry["of"], op.node.spelling)
        if maker is not None and found and re.fullmatch(entry["product"], maker.node.spelling):
            _, a, b = (print_operand(one) for one in maker.operands)
            operands = [print_operand(one) for one in op.operands]
            lines = tuple(line.format(*operands, a=a, b=b, **found.groupdict()) for line in entry["to"])
            yield Change(CAUSE, "all 64 bits of the product", ((op, Rewrite(lines, _OWN)),), 1, told=maker)


def writers(ops: Iterable[Op]) -> dict[tuple[int, str], Op | None]:
    """The one instruction that writes each register, by function and name; None for a register that several write."""
    found: dict[tuple[int, str], Op | None] = {}
    for op in ops:
        for name, _ in results_of(op):
            key = op.function.number, name
            found[key] = None if key in found else op
    return found
