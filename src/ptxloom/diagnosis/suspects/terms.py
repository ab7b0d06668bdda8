"""Missing terms and factors: a result with one more value added, subtracted or multiplied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import OWN, READ, Change, Rewrite, held, of_node
from ptxloom.diagnosis.suspects.confusions import joined, lacks
from ptxloom.machine.program.mentions import written
from ptxloom.readings.effects import loads
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.diagnosis.suspects.operands import DefUse
    from ptxloom.machine.program.model import Op

CAUSE: Final = "missing-term"
_NEAREST: Final = 16  # registers that are tried
_NEAREST_OF_OPERANDS: Final = 8


def missing_terms(op: Op, operands: DefUse) -> Iterator[Change]:
    """An instruction whose result is combined with another available value."""
    if len(op.operands) < 2 or not isinstance(op.operands[0], tree.Name) or not op.types:
        return
    kind = {"f": "f", "s": "s", "u": "s"}.get(op.type.kind)
    results = written(op)
    if kind is None or len(results) != 1 or results[0].type.bits != op.type.bits or op.type.bits < 32:
        return
    if kind == "s" and not loads(op.node):
        return
    result, type_ = op.operands[0].text, f"{kind}{op.type.bits}"
    own = of_node(op.node).lines
    for one in operands.sources(op, result, _NEAREST):
        for word in joined(kind):
            low = ".lo" if word == "mul" and kind == "s" else ""
            taken = READ if one.reading else one.name
            lines, common = (
                (*own, f"{word}{low}.{type_} {result}, {result}, {name};") for name in (taken, held(op.type.bits))
            )
            rewrite = Rewrite(lines, shared=common)
            if one.reading:
                rewrite = Rewrite((one.reading, *lines), (f"b{op.type.bits} {READ}",), common)
            what = f"`{word}` with `{one.name}`"
            yield Change(CAUSE, what, ((op, rewrite),), 3, source=one.number, key=(word, one.number), slot=word)


def missing_in_operands(op: Op, operands: DefUse) -> Iterator[Change]:
    """An instruction one of whose operands lacks a factor, itself among these; or a term, if it is a factor itself."""
    lacking = lacks(op)
    if not lacking:
        return
    bits = op.type.bits
    for place, operand in enumerate(op.operands[1:], 1):
        if not isinstance(operand, tree.Name):
            continue
        words = lacking[min(place, len(lacking)) - 1]
        other = op.node.replace(operands=(*op.operands[:place], tree.Name(OWN), *op.operands[place + 1 :]))
        made, name = of_node(other).lines, operand.text
        own = [operands.register(op, name)] if len(words) == 1 else []
        for one in (*own, *operands.sources(op, name, _NEAREST_OF_OPERANDS)):
            for word in words:
                lines, common = (
                    (f"{word}.f{bits} {OWN}, {name}, {taken};", *made)
                    for taken in (READ if one.reading else one.name, held(bits))
                )
                registers = (f"f{bits} {OWN}", f"b{bits} {READ}") if one.reading else (f"f{bits} {OWN}",)
                rewrite = Rewrite((*([one.reading] if one.reading else []), *lines), registers, common)
                what = f"`{name}` {word} `{one.name}`"
                key, slot = (word, place, one.number), (word, place)
                yield Change(CAUSE, what, ((op, rewrite),), 3, source=one.number, key=key, slot=slot)
