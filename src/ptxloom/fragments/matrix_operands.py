"""Which operands of an instruction hold matrices, and the part that one warp holds."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.fragments import fragment
from ptxloom.isa import matrix_form
from ptxloom.isa.limits import LANES
from ptxloom.isa.types import is_type
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.fragments import Fragment

_MULTIPLIED: Final = ("d", "a", "b", "c")
_OPERANDS: Final = {
    "mma": _MULTIPLIED,
    "wmma.mma": _MULTIPLIED,
    "wmma.load": ("r",),
    "wmma.store": ("", "r"),
    "wgmma.mma_async": ("d", "a"),
    "movmatrix": ("d", "a"),
    "ldmatrix": ("r",),
    "stmatrix": ("", "r"),
}
"""By the start of the spelling: what the operands are called, in their order; "" holds no matrix."""


@dataclass(frozen=True, slots=True)
class MatrixOperand:
    """An operand that is a matrix in registers.

    Attributes:
        name: `a`, `b`, `c`, `d`, or `r` if the instruction has only one.
        place: Which operand of the instruction it is.
        fragment: Which lane of a warp holds what; if four warps hold it together, the rows of one of them.
        type: The type of its elements in the instruction; "" if it only moves bits.
        warps: How many warps hold it together.
    """

    name: str
    place: int
    fragment: Fragment
    type: str
    warps: int = 1

    def first_row(self, warp: int) -> int:
        """The row that the first row of a warp's part is of the whole."""
        return warp % self.warps * self.fragment.rows


def matrix_operands(node: tree.Instruction) -> tuple[MatrixOperand, ...]:
    """The matrices in registers that an instruction has; those of `wgmma` in shared memory do not count.

    Example:
        >>> from ptxloom.syntax import parse
        >>> text = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, p, 1, 1, 0, 0;"
        >>> [(one.name, one.type, one.fragment.rows, one.warps) for one in matrix_operands(parse(text).statements[0])]
        [('d', 'f32', 16, 4)]
    """
    spelling = node.spelling
    names = next((found for start, found in _OPERANDS.items() if f"{spelling}.".startswith(f"{start}.")), ())
    if ".sp" in spelling:
        names = names if node.opcode == "mma" else names[:1]
    try:
        return tuple(
            _operand(spelling, name, place)
            for place, name in enumerate(names[: len(node.operands)])
            if name and (node.opcode != "wgmma" or isinstance(node.operands[place], tree.Vector))
        )
    except PtxloomError:
        return ()


def _operand(spelling: str, name: str, place: int) -> MatrixOperand:
    whole = fragment(spelling, None if name == "r" else name)
    warps = whole.lane_count // LANES
    return MatrixOperand(name, place, _of_one_warp(whole), _type(spelling, name), warps)


def _of_one_warp(whole: Fragment) -> Fragment:
    """The part of the first 32 lanes."""
    digits = whole.lanes
    while prod(digit.radix for digit in digits) > LANES:
        digits = digits[:-1]
    return replace(whole, lanes=digits)


def _type(spelling: str, name: str) -> str:
    """The type of an operand, by its instruction."""
    opcode, *words = spelling.split(".")
    if opcode in {"mma", "wgmma"} or words[0] == "mma":
        form = matrix_form(spelling)
        return {"d": form.d_type, "a": form.a_type, "b": form.b_type, "c": form.c_type}[name]
    types = [word for word in words if is_type(word)]
    return types[-1] if opcode == "wmma" and types else ""
