"""Missing bounds checks: a comparison of one more index, or 0 beyond the end of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import READ, VALUE, Change, Rewrite, held, of_node
from ptxloom.diagnosis.suspects.sources import INDEX
from ptxloom.machine.program.mentions import written
from ptxloom.readings.effects import loads, stores, updates_memory
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.diagnosis.suspects.operands import DefUse
    from ptxloom.machine.program.model import Op

CAUSE: Final = "tail-not-masked"
_NEAREST: Final = 12  # indices that are tried
_INSIDE: Final = "%ptxloom_inside"
_NOTHING: Final = {"0": 0, "-inf": 0xFF800000}  # what stands for what is not there, as bits of a float


def bounds(op: Op, operands: DefUse, numbers: Sequence[int]) -> Iterator[Change]:
    """The instruction with a check that an index is below a number of the launch.

    Args:
        op: The instruction: one that decides, or one that loads or computes a number of 32 bits.
        operands: The registers of the program.
        numbers: Those of the launch.
    """
    rank = 3 if any(one.type.kind == "p" for one in written(op)) else 4  # where others are checked
    for what, more in _minding(op):
        own = of_node(op.node).lines
        for one in operands.of_kind(op, INDEX, _NEAREST):
            for bound in numbers:
                tested = f"setp.lt.s32 {_INSIDE}, {READ if one.reading else one.name}, {bound};"
                common = f"setp.lt.s32 {_INSIDE}, {held(32)}, {VALUE};"
                registers = (f"pred {_INSIDE}", f"b32 {READ}") if one.reading else (f"pred {_INSIDE}",)
                read = (one.reading,) if one.reading else ()
                rewrite = Rewrite((*read, tested, *own, *more), registers, (common, *own, *more))
                said = what.format(f"`{one.name}`", bound)
                key = what, one.number, bound
                yield Change(CAUSE, said, ((op, rewrite),), rank, bound, one.number, key, ("bound", what))


def _minding(op: Op) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A possible intention in words, and the instructions that implement it after the original."""
    results = written(op)
    if stores(op.node) or updates_memory(op.node) or len(results) != 1 or not isinstance(op.operands[0], tree.Name):
        return
    name, kind = op.operands[0].text, results[0].type.kind
    if kind == "p":
        yield "the condition that {} is below {}, too,", (f"and.pred {name}, {name}, {_INSIDE};",)
        negated = f"not.pred {_INSIDE}, {_INSIDE};"
        yield "the condition or that {} is not below {}", (negated, f"or.pred {name}, {name}, {_INSIDE};")
    elif results[0].type.bits == 32 and (kind == "f" or (loads(op.node) and not op.has("param"))):
        for word, bits in _NOTHING.items() if kind == "f" else [("0", 0)]:
            yield f"{word} where {{}} is not below {{}}", (f"selp.b32 {name}, {name}, {bits}, {_INSIDE};",)
