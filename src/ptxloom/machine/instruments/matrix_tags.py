"""The elements that tags of matrices describe: rows and registers of matrix moves, operands of products."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.fragments.derive import fragment
from ptxloom.isa.limits import LANES
from ptxloom.isa.matrix import MOVES, matrix_move
from ptxloom.machine.runtime.structs.trail import BIT_SHIFT, STAGE, UNPACKED
from ptxloom.syntax import tree
from ptxloom.syntax.constants import constant

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.program.model import Op, Program


ROW_TAGS: Final = 16  # that are staged for a row of a matrix


_WARP_ROWS: Final = 16  # of a warpgroup's matrix that a warp holds


_TRANSPOSABLE: Final = ("f16", "bf16")  # in shared memory


@cache
def lane_map(spelling: str) -> tuple[int, ...]:
    """For each byte of the registers of a matrix move, by register and lane, the staged tag that it receives.

    For an element of fewer than 8 bits, also that, and the bit at which it starts in its byte.

    Rows are staged 16 tags each, in the order of the lanes that name them; the register of `movmatrix` by lane.
    """
    move = matrix_move(spelling)
    if not move.address_lanes:
        source = fragment(spelling, "a")
        held = fragment(spelling, "d")
        found = {(e.lane, e.register, e.bit): source.holder(row=e.row, column=e.column) for e in held}
        starts = {key: 4 * e.lane + e.bit // 8 for key, e in found.items()}
    else:
        held = fragment(move)
        bits = (move.destination if move.stores else move.source).bits
        starts = {
            (e.lane, e.register, e.bit): ROW_TAGS * held.address_lane(matrix=e.matrix, row=e.row) + e.column * bits // 8
            | (UNPACKED | e.column * bits % 8 << BIT_SHIFT if bits < 8 else 0)
            for e in held
        }
    result = [STAGE] * (4 * LANES * held.registers)
    for (lane, register, bit), start in starts.items():
        for n in range(max(held.width // 8, 1)):
            result[4 * (LANES * register + lane) + bit // 8 + n] = start + n
    return tuple(result)


def lane_maps(program: Program) -> tuple[dict[str, int], list[int]]:
    """The start of each matrix move's map in the program's table, and the table."""
    starts: dict[str, int] = {}
    table: list[int] = []
    for op in program.ops:
        if op.opcode in MOVES and op.spelling not in starts:
            starts[op.spelling] = len(table)
            table += lane_map(op.spelling)
    return starts, table


def element_bytes(form: MatrixForm, operand: str) -> int:
    """The bytes per tag of a product's operand: those of an element, at least one."""
    return max(form.container_bits(operand) // 8, 1)


class Factor(NamedTuple):
    """A factor of `wgmma` in shared memory, as a warp reads it: its core matrices.

    Attributes:
        lines: Along M or N, 8 rows each.
        parts: Along K, 16 bytes each, or 8 rows if it is stored along M or N.
        across: Whether it is stored along M or N.
    """

    lines: int
    parts: int
    across: bool


def factors_of(op: Op, form: MatrixForm) -> tuple[Factor | None, Factor | None]:
    """A and B of a product in shared memory; None if in registers."""
    if form.warps == 1:
        return None, None
    in_registers = isinstance(op.operands[1], tree.Vector)
    numbers = [constant(operand) for operand in op.operands[6 if form.sparse else 4 :]]
    across = [bool(number) for number in numbers[2:]] if form.a_type in _TRANSPOSABLE else []
    across = ([False] if in_registers else []) + across
    a, b = (*across, False, False)[:2]
    parts = [extent * form.container_bits(name) // 128 for name, extent in (("a", form.stored_k), ("b", form.k))]
    first = None if in_registers else Factor(_WARP_ROWS // 8, parts[0], a)
    return first, Factor(form.n // 8, parts[1], b)
