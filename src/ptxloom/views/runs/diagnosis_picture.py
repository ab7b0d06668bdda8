"""Why a result is wrong as a picture: an operand as its lanes hold it, and as they should, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.palette import Role, hue
from ptxloom.views.drawing.figure import Cell, Figure, Grid

if TYPE_CHECKING:
    from ptxloom.diagnosis import Diagnosis, Picture

_MOST: Final = 16  # rows and columns of a picture
_NAMES: Final = {"a": ("m ↓", "k →"), "b": ("k ↓", "n →")}


def figure(diagnosis: Diagnosis) -> Figure:
    """The operand of one product, left as it is, right as it should be; a heavy edge marks what is wrong.

    A colour stands for the row of the matrix that an element comes from, so that a transposed or shifted operand is
    seen before a label is read.
    """
    picture = diagnosis.picture
    certain = "" if diagnosis.certain else " (not certain)"
    place = f"line {diagnosis.line}"
    place = f"{diagnosis.origin.told} (PTX {place})" if diagnosis.origin else place
    notes = [diagnosis.detail, f"{place}: {diagnosis.instruction}"]
    if diagnosis.repair is not None:
        notes += ["repair:", *str(diagnosis.repair).split("\n")]
    whose = f" of {diagnosis.array}" if diagnosis.array else ""
    title = f"{diagnosis.cause}{certain}: {diagnosis.wrong:,} of {diagnosis.total:,} elements{whose} wrong"
    if picture is None:
        return Figure(title, (), tuple(notes))
    x, y, z = picture.cta
    named = diagnosis.array or "the matrix"
    notes.append(
        f"CTA ({x}, {y}, {z}), warp {picture.warp}. A cell is the row,column of {named}; a colour is a row of it."
    )
    axes = _NAMES.get(diagnosis.operand, ("row ↓", "column →"))
    bands = ((_grid(picture, "as it is", axes, held=True), _grid(picture, "as it should be", axes, held=False)),)
    return Figure(title, bands, tuple(notes))


def _grid(picture: Picture, title: str, axes: tuple[str, str], *, held: bool) -> Grid:
    """The part of the operand with the most wrong elements."""
    shown = picture.held if held else picture.wanted
    rows, columns = min(len(shown), _MOST), min(len(shown[0]), _MOST)
    top, left = picture.window(rows, columns)
    cells = {
        (row, column): _cell(
            shown[top + row][left + column].tolist(), picture.wanted[top + row][left + column].tolist()
        )
        for row in range(rows)
        for column in range(columns)
    }
    last = top + rows - 1, left + columns - 1
    part = f", rows {top} to {last[0]}, columns {left} to {last[1]}" * ((rows, columns) != shown.shape[:2])
    names = tuple(map(str, range(top, top + rows))), tuple(map(str, range(left, left + columns)))
    return Grid(f"{title}{part}", *names, cells, *axes)


def _cell(place: list[int], wanted: list[int]) -> Cell:
    row, column = place
    if row < 0:
        return Cell(("-",), Role.OTHER, "from elsewhere", place != wanted)
    wrong = place != wanted
    tip = f"row {row}, column {column}" + f", where row {wanted[0]}, column {wanted[1]} belongs" * wrong
    return Cell((f"{row},{column}",), hue(row), tip, wrong)
