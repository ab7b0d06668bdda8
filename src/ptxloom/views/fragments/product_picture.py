"""The operands of a matrix product as everybody draws them: A left, B above, C in the corner between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UnsupportedForm
from ptxloom.fragments import fragment, fragment_operands
from ptxloom.views.drawing.figure import Figure, Grid
from ptxloom.views.fragments.folding import block_of
from ptxloom.views.fragments.fragment_picture import matrix_grid, reading
from ptxloom.views.fragments.legends import legend
from ptxloom.views.fragments.prefaces import evidence

if TYPE_CHECKING:
    from ptxloom.fragments import Fragment

_TITLES: Final = {"a": "A", "b": "B", "c": "C and D", "d": "D"}


def drawable(spelling: str) -> bool:
    """Whether an instruction holds all of A, B and C (or D) in registers."""
    names = fragment_operands(spelling)
    return {"a", "b"} <= {*names} and bool({"c", "d"} & {*names})


def figure(spelling: str, colour_by: str = "lane") -> Figure:
    """The picture of a product whose operands are in registers.

    Raises:
        UnsupportedForm: It is not such a product.
    """
    if not drawable(spelling):
        raise UnsupportedForm(f"`{spelling}` holds not all of A, B and C in registers; name one operand of it")
    names = fragment_operands(spelling)
    a, b, c = (fragment(spelling, name) for name in ("a", "b", "d" if "d" in names else "c"))
    bands = ((None, _grid(b, colour_by)), (_grid(a, colour_by), _grid(c, colour_by)))
    folded = [f"{_TITLES[of.operand]}: {line}" for of in (a, b, c) for line in block_of(of).repeats]
    notes = (reading(c), *folded, evidence(c))
    return Figure(f"{a.spelling}: D = A B + C", bands, notes, legend(c, colour_by))


def _grid(of: Fragment, colour_by: str) -> Grid:
    bits = f"{of.width}-bit elements"
    return matrix_grid(of, 0, block_of(of), colour_by, named=f"{_TITLES[of.operand]}, {bits}")
