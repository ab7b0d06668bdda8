"""How `wmma` is built on `mma`: the `mma`s of a `wmma.mma`, and so the place of each element of its fragments.

The manual leaves the layout open (PTX ISA 9.7.14.4.1). This one was found on an H200 with `wmma.load` and `wmma.store`,
and is the same for `.row` and `.col`, which only describe memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.fragments.model import Axis, Evidence, Fragment
from ptxloom.fragments.products import product_fragment
from ptxloom.fragments.tiles import digits

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm


@dataclass(frozen=True, slots=True)
class Tiling:
    """How a `wmma.mma` is made of `mma`s.

    Attributes:
        base: The `mma`.
        exchanged: Whether its A is the `wmma`'s B and the other way round, all matrices transposed.
        moves_a: Whether the `mma`s take other parts of their A and share their B; else it is the other way round.
        count: How many `mma`s there are.
    """

    base: MatrixForm
    exchanged: bool
    moves_a: bool
    count: int

    @property
    def tiles(self) -> tuple[tuple[int, int, int, int], ...]:
        """For each `mma`, where its registers of D, A, B and C start among the `wmma`'s."""
        d, a, b, c = self.base.vector_lengths
        a, b = (a, 0) if self.moves_a else (0, b)
        return tuple((tile * d, tile * a, tile * b, tile * c) for tile in range(self.count))


def tiling(form: MatrixForm) -> Tiling:
    """The `mma`s of a `wmma.mma`: `m16n8` side by side, or one above the other."""
    exchanged = form.m < form.n
    a_type, b_type = (form.b_type, form.a_type) if exchanged else (form.a_type, form.b_type)
    m = 16 if max(form.m, form.n) >= 16 else 8
    base = replace(form, opcode="mma", m=m, n=8, a_layout="row", b_layout="col", a_type=a_type, b_type=b_type)
    return Tiling(base, exchanged, exchanged or form.m > m, form.m * form.n // (m * 8))


@cache
def wmma_fragment(form: MatrixForm, operand: str, spelling: str) -> Fragment:
    """Where the elements of an operand of `wmma.mma`, `wmma.load` or `wmma.store` are.

    Halves of A and B have eight registers whatever the shape: what is not needed repeats the others.

    Args:
        form: The product, or what stands for it where it is loaded or stored.
        operand: "a", "b", "c" or "d".
        spelling: The instruction.
    """
    plan = tiling(form)
    own = {"a": "b", "b": "a"}.get(operand, operand) if plan.exchanged else operand
    held = product_fragment(plan.base, own)
    lanes, values = held.lanes, held.values
    if plan.exchanged:
        exchange = {Axis.ROW: Axis.COLUMN, Axis.COLUMN: Axis.ROW}
        lanes, values = (tuple(d._replace(axis=exchange[d.axis]) for d in each) for each in (lanes, values))
    if own in ("c", "d") or (own == "a") is plan.moves_a:
        extent = plan.base.m if plan.moves_a else plan.base.n
        axis = Axis.ROW if plan.moves_a is not plan.exchanged else Axis.COLUMN
        values += digits(axis, extent, extent * plan.count)
    name = operand if spelling.startswith("wmma.mma") else "r"
    found = replace(held, spelling=spelling, operand=name, lanes=lanes, values=values, confirmed=Evidence.SILICON)
    copies = form.registers(operand) // found.registers
    return replace(found, values=(*values, *digits(Axis.COPY, 1, copies)))
