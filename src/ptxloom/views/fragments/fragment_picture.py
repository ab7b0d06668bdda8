"""A fragment as a picture: every matrix as a grid, each cell its holder, the address lane beside each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.style import LANES_PER_HUE
from ptxloom.views.core.svg import FILLS, Box, draw
from ptxloom.views.fragments.maps import evidence, title
from ptxloom.views.fragments.places import sentence

if TYPE_CHECKING:
    from ptxloom.fragments import Element, Fragment

CELL_WIDTH: Final = 52
CELL_HEIGHT: Final = 32
MARGIN: Final = 8
LEFT: Final = 96  # room for the address lane and the row number
TOP: Final = 46  # room for the headline and what the map rests on
GAP: Final = 28  # between matrices
PER_LINE: Final = 2  # matrices beside each other


def svg(fragment: Fragment) -> str:
    """The picture, with a tip on every cell that says it in words."""
    width = LEFT + CELL_WIDTH * fragment.columns
    height = TOP + CELL_HEIGHT * fragment.rows
    beside = min(PER_LINE, fragment.matrices)
    whole = beside * width + (beside - 1) * GAP
    boxes = [
        Box(MARGIN, MARGIN, max(whole, 7 * len(title(fragment)) + MARGIN), 18, (title(fragment),), bold=True),
        Box(MARGIN, MARGIN + 18, max(whole, 7 * len(evidence(fragment))), 16, (evidence(fragment),)),
    ]
    for matrix in range(fragment.matrices):
        x = MARGIN + matrix % PER_LINE * (width + GAP)
        y = MARGIN + 40 + matrix // PER_LINE * (height + GAP)
        boxes += _matrix(fragment, matrix, x, y)
    return draw(boxes, f"{title(fragment)}: which lane holds which element")


def _matrix(fragment: Fragment, matrix: int, x: int, y: int) -> list[Box]:
    """One matrix, its upper left corner at (x, y)."""
    boxes = [Box(x + LEFT, y, CELL_WIDTH * fragment.columns, 18, (f"matrix {matrix}",), bold=True)]
    if fragment.addressed:
        boxes.append(Box(x, y + 18, 62, 18, ("address",)))
    boxes += [Box(x + LEFT + CELL_WIDTH * c, y + 18, CELL_WIDTH, 18, (str(c),)) for c in range(fragment.columns)]
    for number in range(fragment.rows):
        top = y + 38 + CELL_HEIGHT * number
        if fragment.addressed:
            lane = fragment.address_lane(matrix=matrix, row=number)
            tip = f"lane {lane} passes the address of row {number} of matrix {matrix}"
            boxes.append(Box(x + 8, top + 5, 46, CELL_HEIGHT - 10, (f"T{lane}",), _fill(lane), tip=tip))
        boxes.append(Box(x + 62, top, 30, CELL_HEIGHT, (str(number),)))
        held = (fragment.holder(matrix=matrix, row=number, column=c) for c in range(fragment.columns))
        boxes += [_cell(fragment, e, x + LEFT + CELL_WIDTH * e.column, top) for e in held]
    return boxes


def _cell(fragment: Fragment, element: Element, x: int, y: int) -> Box:
    """One element: the lane above, its value and register below."""
    thread, _, place = fragment.label(element).partition(" ")
    tip = sentence(fragment, element)
    return Box(x, y, CELL_WIDTH, CELL_HEIGHT, (thread, place), _fill(element.lane), tip=tip)


def _fill(lane: int) -> str:
    """The colour of a lane's group of four."""
    return FILLS[lane // LANES_PER_HUE % len(FILLS)]
