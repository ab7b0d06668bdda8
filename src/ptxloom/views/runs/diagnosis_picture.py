"""Why a result is wrong as a picture: an operand as its lanes hold it, and as they should, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.views.core.palette import Role, hue
from ptxloom.views.drawing.figure import Cell, Figure, Grid

if TYPE_CHECKING:
    from ptxloom.diagnosis import Diagnosis, Picture
    from ptxloom.diagnosis.origins.tiles import Integers

_MOST: Final = 16  # rows and columns of a picture
_NAMES: Final = {"a": ("m", "k"), "b": ("k", "n")}


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
    places = not picture.axes
    colours = f" A cell is the row,column of {diagnosis.array or 'the matrix'}; a colour is a row of it." * places
    notes.append(f"{picture.about.partition(':')[0] if places else picture.about}.{colours}")
    axes = picture.axes or _NAMES.get(diagnosis.operand, ("row", "column"))
    bands = ((_grid(picture, "as it is", axes, held=True), _grid(picture, "as it should be", axes, held=False)),)
    return Figure(title, bands, tuple(notes))


def _grid(picture: Picture, title: str, axes: tuple[str, str], *, held: bool) -> Grid:
    """The part with the most wrong cells."""
    shown = picture.held if held else picture.wanted
    rows, columns = min(len(shown), _MOST), min(len(shown[0]), _MOST)
    top, left = picture.window(rows, columns)
    cells = {
        (row, column): _cell(picture, shown[top + row, left + column], picture.wanted[top + row, left + column])
        for row in range(rows)
        for column in range(columns)
    }
    named = _named(picture.rows, top, rows), _named(picture.columns, left, columns)
    shares = ", ".join(f"{axis} {_span(names)}" for axis, names in zip(axes, named, strict=True))
    part = f", {shares}" if (rows, columns) != shown.shape[:2] else ""
    return Grid(f"{title}{part}", *named, cells, f"{axes[0]} ↓", f"{axes[1]} →")


def _named(names: tuple[str, ...], first: int, count: int) -> tuple[str, ...]:
    return names[first : first + count] if names else tuple(map(str, range(first, first + count)))


def _span(names: tuple[str, ...]) -> str:
    """The first and the last of names, or the only one."""
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def _cell(picture: Picture, held: Integers, wanted: Integers) -> Cell:
    said, meant = picture.says(held), picture.says(wanted)
    wrong = said != meant
    if held[0] < 0:
        return Cell((said,), Role.OTHER, "from elsewhere", wrong)
    tip = said if picture.axes else "row {}, column {}".format(*held.tolist())
    belongs = meant if picture.axes or wanted[0] < 0 else "row {}, column {}".format(*wanted.tolist())
    return Cell((said,), hue(int(held[0])), tip + f", where {belongs} belongs" * wrong, wrong)
