"""The legends of pictures of fragments: what the colours of `colouring` stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.isa.limits import BANKS, LANES
from ptxloom.views.core.palette import HUES, hue
from ptxloom.views.core.style import LANES_PER_HUE
from ptxloom.views.drawing.figure import Legend
from ptxloom.views.fragments.colouring import BANKS_PER_HUE, rows_together
from ptxloom.views.fragments.prefaces import axis_names, matrix_title

if TYPE_CHECKING:
    from ptxloom.fragments import Fragment


def legend(fragment: Fragment, by: str) -> Legend:
    """What colours stand for."""
    match by:
        case "register":
            names = [f"R{at}" for at in range(min(len(HUES), fragment.registers))]
            again = f"; R{len(HUES)} is as R0, and so on" if fragment.registers > len(HUES) else ""
            return _legend(f"a colour for each register{again}", names)
        case "matrix":
            names = [matrix_title(fragment, at) for at in range(fragment.matrices)]
            return _legend("a colour for each matrix", names)
        case "bank":
            first = range(0, BANKS, BANKS_PER_HUE)
            names = [f"banks {at}–{at + BANKS_PER_HUE - 1}" for at in first]
            return _legend("a colour for four banks, were the matrices dense in shared memory, row after row", names)
        case _ if fragment.in_tensor_memory:
            return tensor_rows(fragment)
        case _:
            return lanes(fragment.lane_count)


def tensor_rows(fragment: Fragment) -> Legend:
    """Groups of rows of what tensor memory holds: copies of a row have its colour."""
    height = rows_together(fragment)
    name = axis_names(fragment)[0]
    names = [
        f"{name} {at}–{at + height - 1}" if height > 1 else f"{name} {at}" for at in range(0, fragment.rows, height)
    ]
    return _legend("a colour for rows, so that copies look alike", names)


def lanes(count: int) -> Legend:
    """Groups of four lanes or threads; those of other warps have the colours of the first."""
    names = [f"T{at}–T{at + LANES_PER_HUE - 1}" for at in range(0, min(count, LANES), LANES_PER_HUE)]
    again = f"; T{LANES} is as T0, and so on" if count > LANES else ""
    return _legend(f"a colour for four {'threads' if count > LANES else 'lanes'}{again}", names)


def _legend(title: str, names: list[str]) -> Legend:
    return Legend(title, tuple((hue(at), name) for at, name in enumerate(names)))
