"""`ptxloom graph`: the control flow of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.results.output import CLEAN, COULD_NOT_RUN, Outcome, style_for
from ptxloom.cli.results.pictures import drawn, wanted
from ptxloom.cli.verbs.reading.parse import read_modules
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.flow import flow_graphs
from ptxloom.names.resolving import listed, named
from ptxloom.views.flow import graphs

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.flow import FlowGraph


def run(options: Options) -> Outcome:
    """Draw the selected functions."""
    modules, unread = read_modules(options)
    pattern = options.function or "*"
    named_so = [(m, named(pattern, tuple(m.functions))) for m in modules]
    chosen = [g for m, names in named_so for g in flow_graphs(m, marks=False) if g.function.name in names]
    names = [f.name for m in modules for f in m.functions.values() if f.body is not None]
    if modules and not names:
        raise PtxloomError(f"{', '.join(m.source.title for m in modules)}: no function here has a body")
    if modules and not chosen:
        raise UsageError("--function", options.function, f"one of {listed(names)}")
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
        names = listed([g.function.name for g in chosen]) or "this file has none"
        raise PtxloomError(f"a picture shows one function; choose it with --function: {names}")
    return drawn(scene(chosen[0], code=options.code), options, code)


def _text(chosen: list[FlowGraph], options: Options) -> str:
    match options.output_format:
        case "dot":
            return graphs.dot(chosen, code=options.code)
        case "json":
            return graphs.as_json(chosen)
        case _:
            style = style_for(options)
            return "\n".join(graphs.full(one, code=options.code, style=style) for one in chosen)
