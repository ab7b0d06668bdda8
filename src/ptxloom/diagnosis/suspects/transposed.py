"""Accesses whose row and column are exchanged, wherever the address was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ptxloom.diagnosis.suspects.changes import READ, VALUE, Change, Rewrite, held, of_node
from ptxloom.diagnosis.suspects.sources import Kind
from ptxloom.machine.program.symbols import Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.suspects.operands import DefUse
    from ptxloom.machine.program.model import Op

CAUSE: Final = "order-exchanged"
_ADDRESS: Final = Kind(is_predicate=False, is_float=False, bits=64)
_AT: Final = "%ptxloom_at"
_PLACE: Final = "%ptxloom_place"
_ROW: Final = "%ptxloom_row"
_BASE: Final = "%ptxloom_base"
_PITCH: Final = "%ptxloom_pitch"
_HALF: Final = 16  # bits of one of two pitches in one number
_MOST: Final = 6  # pitches


def pitches_of(arrays: Sequence[NDArray[Any]], numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of pitches in elements: the one that an access uses for its row, and the right one.

    Args:
        arrays: Those that a launch passes.
        numbers: The integers that it passes.
    """
    extents = [one.shape[-1] for one in arrays if one.ndim > 1]
    found = [one for one in dict.fromkeys((*extents, *numbers)) if 1 < one < 1 << _HALF][:_MOST]
    return [(own, meant) for own in found for meant in found]


def transposed(op: Op, operands: DefUse, pitches: Sequence[tuple[int, int]]) -> Iterator[Change]:
    """An access to global memory at (column, row) of an array instead of (row, column).

    Args:
        op: The instruction.
        operands: The registers of the program.
        pitches: Pairs, as `pitches_of` returns them.
    """
    place = next((n for n, one in enumerate(op.operands) if isinstance(one, tree.Address)), None)
    if place is None or not op.types or op.has("v2", "v4", "v8", "param", "shared", "const"):
        return
    operand, size = op.operands[place], op.type.bits // 8
    if not isinstance(operand, tree.Address) or operand.extra or not isinstance(operand.base, tree.Name):
        return
    base = op.scope.find(operand.base.text)
    if not isinstance(base, Register) or base.type.bits != _ADDRESS.bits or not size:
        return
    other = op.node.replace(operands=(*op.operands[:place], tree.Address(tree.Name(_AT)), *op.operands[place + 1 :]))
    here = f"{operand.base.text}, {-operand.offset if operand.minus else operand.offset}"
    for one in operands.of_kind(op, _ADDRESS, 0):
        if not one.reading:
            continue
        for own, meant in pitches:
            found = Rewrite(
                (one.reading.replace(READ, _BASE), *_lines(here, _BASE, own, meant, size), *of_node(other).lines),
                (f"b64 {_AT}, {_BASE}", f"b32 {_PLACE}, {_ROW}, {_PITCH}"),
                (*_chosen(here, size), *of_node(other).lines),
            )
            value = meant << _HALF | own
            what = f"row and column exchanged, of `{one.name}` with {own} and {meant} in a row"
            yield Change(CAUSE, what, ((op, found),), 3, value, one.number, (one.number, value), "transposed")


def _lines(here: str, base: str, own: int | str, meant: int | str, size: int) -> tuple[str, ...]:
    return (
        f"add.s64 {_AT}, {here};",
        f"sub.s64 {_AT}, {_AT}, {base};",
        f"cvt.u32.u64 {_PLACE}, {_AT};",
        f"div.u32 {_PLACE}, {_PLACE}, {size};",
        f"div.u32 {_ROW}, {_PLACE}, {own};",
        f"rem.u32 {_PLACE}, {_PLACE}, {own};",
        f"mad.lo.u32 {_PLACE}, {_PLACE}, {meant}, {_ROW};",
        f"mul.wide.u32 {_AT}, {_PLACE}, {size};",
        f"add.s64 {_AT}, {_AT}, {base};",
    )


def _chosen(here: str, size: int) -> tuple[str, ...]:
    """The same with both pitches in the number of a trial."""
    first, *rest = _lines(here, held(64), _PITCH, _PITCH, size)
    at = next(n for n, line in enumerate(rest) if line.startswith("mad"))
    own = (f"and.b32 {_PITCH}, {VALUE}, {(1 << _HALF) - 1};", f"max.u32 {_PITCH}, {_PITCH}, 1;")
    return (first, *own, *rest[:at], f"shr.u32 {_PITCH}, {VALUE}, {_HALF};", *rest[at:])
