"""Accesses off by an index: its product with the array's stride is missing in an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import OWN, READ, VALUE, Change, Rewrite, held, of_node
from ptxloom.diagnosis.suspects.sources import INDEX
from ptxloom.diagnosis.suspects.terms import CAUSE
from ptxloom.machine.program.symbols import Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ptxloom.diagnosis.suspects.operands import DefUse
    from ptxloom.machine.program.model import Op

_NEAREST: Final = 16  # indices that are tried
_WIDE: Final = 64


def missing_indices(op: Op, operands: DefUse, strides: Collection[int]) -> Iterator[Change]:
    """The access, with an index times a stride added to or subtracted from its address.

    Args:
        op: The instruction.
        operands: The registers of the program.
        strides: Bytes.
    """
    for place, operand in enumerate(op.operands):
        if not isinstance(operand, tree.Address) or operand.extra or not isinstance(operand.base, tree.Name):
            continue
        base = op.scope.find(operand.base.text)
        if not isinstance(base, Register) or base.type.bits not in (32, _WIDE):
            continue
        access = op.node.replace(
            operands=(*op.operands[:place], operand.replace(base=tree.Name(OWN)), *op.operands[place + 1 :])
        )
        made, bits = of_node(access).lines, base.type.bits
        word = "mad.wide.s32" if bits == _WIDE else "mad.lo.s32"
        common = f"{word} {OWN}, {held(32)}, {VALUE}, {operand.base.text};", *made
        for one in operands.of_kind(op, INDEX, _NEAREST):
            index = READ if one.reading else one.name
            read = (one.reading,) if one.reading else ()
            own = (f"b{bits} {OWN}", f"b32 {READ}") if read else (f"b{bits} {OWN}",)
            for stride in strides:
                lines = *read, f"{word} {OWN}, {index}, {stride}, {operand.base.text};", *made
                what = f"the address {abs(stride)} times `{one.name}` {'further' if stride > 0 else 'nearer'}"
                rewrite, key = Rewrite(lines, own, common), (place, stride, one.number)
                yield Change(CAUSE, what, ((op, rewrite),), 3, stride, one.number, key, ("address", place))
