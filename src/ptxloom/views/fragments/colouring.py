"""The meaning of a colour in a picture of a fragment: a lane, a register, a matrix, or the bank of a dense tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.diagnostics import UsageError
from ptxloom.fragments import Axis
from ptxloom.isa.limits import BANK_BYTES, BANKS
from ptxloom.views.core.palette import HUES
from ptxloom.views.core.style import LANES_PER_HUE

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment

COLOUR_BY: Final = ("lane", "register", "matrix", "bank")
QUARTER_DIGITS: Final = 5  # of the number of a lane within what a warp reaches
BANKS_PER_HUE: Final = 4
"""Banks that share a colour: the 16 bytes of a row."""


def group_of(fragment: Fragment, element: Element, by: str) -> int:
    """The number of the group that an element belongs to.

    Raises:
        UsageError: There are no such groups.
    """
    match by:
        case "lane" if fragment.in_tensor_memory:
            return element.row // rows_together(fragment)
        case "lane":
            return element.lane // LANES_PER_HUE
        case "register":
            return element.register
        case "matrix":
            return element.matrix
        case "bank":
            return bank(fragment, element) // BANKS_PER_HUE
        case _:
            raise UsageError("colour_by", by, f"one of {', '.join(COLOUR_BY)}")


def bank(fragment: Fragment, element: Element) -> int:
    """The bank of an element if the matrices were dense in shared memory, row by row."""
    place = (element.matrix * fragment.rows + element.row) * fragment.columns + element.column
    return place * fragment.width // (8 * BANK_BYTES) % BANKS


def band_height(fragment: Fragment) -> int:
    """The number of tensor-memory lanes that a picture merges: those of one run of rows, a quarter at most."""
    height = 1
    for digit in fragment.lanes[:QUARTER_DIGITS]:
        if digit.axis is not Axis.ROW or digit.weight != height:
            break
        height *= 2
    return height if height > 1 else 1 << QUARTER_DIGITS


def rows_together(fragment: Fragment) -> int:
    """The number of rows per colour in tensor memory: those of a band, or an eighth of all."""
    lanes = filter(fragment.reaches, range(band_height(fragment)))
    first = range(min(fragment.values_per_lane, -(-fragment.register_bits // fragment.stride)))  # values of a register
    shown = {fragment.at(lane, value).row for lane in lanes for value in first}
    return max(len(shown), -(-fragment.rows // len(HUES)))
