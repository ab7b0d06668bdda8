"""`ptxloom graph`: where control goes in functions."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from ptxloom.cli.output import CLEAN, COULD_NOT_RUN, Outcome, style_for
from ptxloom.cli.pictures import drawn, wanted
from ptxloom.cli.verbs.parse import read_modules
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.flow import flow_graphs
from ptxloom.views.flow import graphs

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.flow import FlowGraph

_MOST_NAMES: Final = 12


def run(options: Options) -> Outcome:
    """Draw the functions that are asked for."""
    modules, unread = read_modules(options)
    chosen = [
        g for m in modules for g in flow_graphs(m, marks=False) if fnmatchcase(g.function.name, options.function or "*")
    ]
    names = [f.name for m in modules for f in m.functions.values() if f.body is not None]
    if modules and not names:
        raise PtxloomError(f"{', '.join(m.source.title for m in modules)}: no function here has a body")
    if modules and not chosen:
        raise UsageError("--function", options.function, f"one of {_some(names)}")
    code = COULD_NOT_RUN if unread else CLEAN
    if wanted(options):
        return _picture(chosen, options, code)
    return Outcome(_text(chosen, options), code)


def _picture(chosen: list[FlowGraph], options: Options, code: int) -> Outcome:
    """One function, drawn.

    Raises:
        PtxloomError: There are several, or none.
    """
    from ptxloom.views.flow.graph_picture import scene  # noqa: PLC0415 - only a picture needs a layout

    if len(chosen) != 1:
        names = _some([g.function.name for g in chosen]) or "there is none here"
        raise PtxloomError(f"a picture shows one function; choose it with --function: {names}")
    return drawn(scene(chosen[0], code=options.code), options, code)


def _some(names: list[str]) -> str:
    """The first names of many."""
    rest = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")


def _text(chosen: list[FlowGraph], options: Options) -> str:
    match options.output_format:
        case "dot":
            return graphs.dot(chosen, code=options.code)
        case "json":
            return graphs.as_json(chosen)
        case _:
            style = style_for(options)
            return "\n".join(graphs.full(one, code=options.code, style=style) for one in chosen)
