"""Instructions that are confused with each other, as listed in `meant.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnosis.suspects.changes import OWN, Change, Rewrite, of_node
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.program.model import Op

_FILE: Final = Path(__file__).parent / "meant.toml"
_LONGEST: Final = 4  # elements of a vector whose order is tried


def confusions(op: Op) -> Iterator[Change]:
    """Possible intentions of one instruction: others with the same operands, or these in another order."""
    spelling = op.node.spelling
    for entry in _table()["qualifier"]:
        if re.fullmatch(entry["of"], spelling):
            yield from _qualifiers(op, entry["words"], entry["cause"])
    for entry in _table()["operation"]:
        found = re.fullmatch(entry["of"], spelling)
        if found:
            for lines in entry["to"]:
                yield _operation(op, lines, found["t"])
    yield from _orders(op)


def joined(kind: str) -> list[str]:
    """How numbers of a kind, `f` or `s`, are joined."""
    words: list[str] = _table()["joined"][0][kind]
    return words


def lacks(op: Op) -> list[list[str]]:
    """How another value may be missing in each operand of an instruction; the last for all that follow."""
    found: list[list[str]] = []
    for one in _table()["lacking"]:
        if re.fullmatch(one["of"], op.node.spelling):
            found = one["words"]
    return found


def meant(section: str) -> list[dict[str, Any]]:
    """The entries of a section of `meant.toml`."""
    return _table()[section]


@cache
def _table() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(_FILE.read_text("utf-8"))


def _qualifiers(op: Op, words: list[str], cause: str) -> Iterator[Change]:
    for at, word in enumerate(op.node.qualifiers):
        if word in words:
            for other in words:
                if other != word:
                    qualifiers = (*op.node.qualifiers[:at], other, *op.node.qualifiers[at + 1 :])
                    new = of_node(op.node.replace(qualifiers=qualifiers))
                    yield Change(cause, f"`.{word}` -> `.{other}`", ((op, new),))


def _operation(op: Op, lines: list[str], type_: str) -> Change:
    bits = type_.lstrip("fsub")
    own = (f"{type_} {OWN}",) if any(OWN in line for line in lines) else ()
    operands = [print_operand(one) for one in op.operands]
    made = tuple(line.format(*operands, t=type_, b=bits) for line in lines)
    names = " and ".join(line.format(*("dabcd"), t=type_, b=bits).rstrip(";") for line in lines)
    return Change("wrong-operation", f"`{names}`", ((op, Rewrite(made, own)),), 1)


def _orders(op: Op) -> Iterator[Change]:
    """The elements of a vector with two of them exchanged."""
    for place, operand in enumerate(op.operands):
        if isinstance(operand, tree.Vector) and 1 < len(operand.elements) <= _LONGEST:
            for first in range(len(operand.elements)):
                for second in range(first + 1, len(operand.elements)):
                    elements = list(operand.elements)
                    elements[first], elements[second] = elements[second], elements[first]
                    operands = (
                        *op.operands[:place],
                        operand.replace(elements=tuple(elements)),
                        *op.operands[place + 1 :],
                    )
                    new = of_node(op.node.replace(operands=operands))
                    yield Change("wrong-operand", f"elements {first} and {second} exchanged", ((op, new),), 1)
