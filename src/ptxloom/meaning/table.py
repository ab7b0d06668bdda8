"""All rows whose results depend only on their operands, by opcode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ptxloom.meaning import moves
from ptxloom.meaning.arithmetic import (
    approximate,
    bits,
    comparison,
    conversion,
    extended,
    floating,
    half,
    integer,
    logic,
    narrow,
    products,
    video,
)
from ptxloom.meaning.family import Row
from ptxloom.meaning.words import Op, Words

if TYPE_CHECKING:
    from ptxloom.meaning.family import Family

PureRow: TypeAlias = Row[Words[Any], Op]

FAMILIES: Final[tuple[Family, ...]] = (
    moves.family,
    extended.family,
    integer.family,
    products.family,
    bits.family,
    video.family,
    logic.family,
    comparison.family,
    conversion.family,
    narrow.family,
    approximate.family,
    floating.family,
    half.family,
)
ROWS: Final[dict[str, tuple[PureRow, ...]]] = {
    opcode: tuple(row for family in FAMILIES for row in family.rows.get(opcode, ()))
    for opcode in {opcode for family in FAMILIES for opcode in family.rows}
}
"""The rows by opcode, in the order in which they are tried."""


def find(op: Op) -> PureRow | None:
    """The row for an instruction's results; None if it does more than compute them, or is unknown."""
    return next((row for row in ROWS.get(op.opcode, ()) if row.fits(op)), None)
