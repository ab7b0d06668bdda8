"""`ptxloom where`: the elements of a lane, or the lanes that hold a row or an element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.results.output import Outcome, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.sources.instruction import fragment_of
from ptxloom.diagnostics import PtxloomError
from ptxloom.views.fragments import places

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.fragments import Element, Fragment


def run(options: Options) -> Outcome:
    """Look up the lane or the place that the options name.

    Raises:
        PtxloomError: They name neither or both.
    """
    found = fragment_of(options)
    of_lane, of_place = (options.lane, options.register, options.bit), (options.row, options.column)
    by_lane = options.lane is not None and of_place == (None, None)
    by_place = options.row is not None and of_lane == (None, None, None)
    if by_lane == by_place:
        raise PtxloomError(
            "give either `--lane` (what does it hold?), or `--row` and optionally `--column` (which lanes hold it?)"
        )
    elements = _of_lane(found, options) if by_lane else _at_place(found, options)
    if wanted(options):
        from ptxloom.views.fragments import fragment_picture  # noqa: PLC0415 - only pictures need it

        return drawn(fragment_picture.figure(found, options.colour_by, frozenset(elements)), options)
    return Outcome(_shown(found, elements, options, by_lane=by_lane))


def _shown(found: Fragment, elements: tuple[Element, ...], options: Options, *, by_lane: bool) -> str:
    """The result in the requested format."""
    formats = {
        "concise": places.concise,
        "csv": places.as_csv,
        "markdown": places.markdown,
        "json": places.as_json,
    }
    if options.output_format in formats:
        return formats[options.output_format](found, elements)
    if by_lane:
        return places.full_lane(found, elements, style_for(options))
    if options.column is None:
        return places.full_row(found, elements, style_for(options))
    return places.full_holder(found, elements[0], style_for(options))


def _of_lane(found: Fragment, options: Options) -> tuple[Element, ...]:
    """The elements of a lane, or of one register or one bit of it."""
    lane = options.lane or 0
    if options.bit is not None:
        return (found.where(lane=lane, register=options.register or 0, bit=options.bit),)
    held = found.held_by(lane)
    if options.register is None:
        return held
    found.where(lane=lane, register=options.register)  # the fragment reports a register that does not exist
    return tuple(e for e in held if e.register == options.register)


def _at_place(found: Fragment, options: Options) -> tuple[Element, ...]:
    """The element at a row and a column, or those of the whole row."""
    columns = range(found.columns) if options.column is None else (options.column,)
    row = options.row or 0
    if found.in_tensor_memory and options.column is None:  # every lane that has the row
        return tuple(e for column in columns for e in found.holders(matrix=options.matrix, row=row, column=column))
    return tuple(found.holder(matrix=options.matrix, row=row, column=column) for column in columns)
