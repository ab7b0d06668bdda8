"""`ptxloom query`: the instructions that match a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.cli.results.output import COULD_NOT_RUN, Outcome, style_for
from ptxloom.cli.sources.kernels import selection
from ptxloom.cli.verbs.reading.parse import read_modules
from ptxloom.isa import opcodes
from ptxloom.isa.spelling import near_misses
from ptxloom.source import title
from ptxloom.syntax.places import origins_in
from ptxloom.syntax.selection import placed
from ptxloom.syntax.tree import Instruction
from ptxloom.views.modules import matches
from ptxloom.views.modules.matches import Match

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.syntax import Module, Selection

NOTHING_FOUND: Final = 1


def run(options: Options) -> Outcome:
    """Search every file; as with grep, exit code 1 means that nothing was found."""
    modules, unread = read_modules(options)
    found = [m for module in modules for m in _matches(module, selection(module, options, options.pattern or "*"))]
    code = COULD_NOT_RUN if unread else 0 if found else NOTHING_FOUND
    number = f"{len(found)} instruction{'s' * (len(found) != 1)} in {len(modules)} file{'s' * (len(modules) != 1)}"
    hint = "" if found else _hint(options.pattern or "*")
    return Outcome(_text(found, options), code, f"{number}{hint}" if modules else "")


def _hint(pattern: str) -> str:
    """A suggestion if a pattern's opcode does not exist."""
    opcode = pattern.partition(".")[0]
    if opcode in opcodes() or set(opcode) & set("*?["):
        return ""
    near = near_misses(opcode, opcodes())
    return f"; {title(opcode)} is not an opcode" + (f": did you mean {near[0]}?" if near else "")


def _matches(module: Module, wanted: Selection) -> list[Match]:
    origins = origins_in(module)
    return [
        Match(node, function, origins.at(node.start))
        for function, node in placed(module, wanted)
        if isinstance(node, Instruction)
    ]


def _text(found: list[Match], options: Options) -> str:
    if options.count and options.output_format != "json":
        return matches.rendered(matches.counts(found), options.output_format, style_for(options))
    match options.output_format:
        case "json":
            return matches.as_json(found)
        case "concise":
            return matches.concise(found)
        case "full":
            return matches.full(found, style_for(options))
        case how:
            return matches.rendered(matches.table(found), how)
