"""`ptxloom parse`: the parsed text, as a summary, a tree or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.results.findings import render, verdict
from ptxloom.cli.results.output import COULD_NOT_RUN, Outcome, style_for, talk
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import files, sources
from ptxloom.cli.sources.kernels import selection
from ptxloom.diagnostics import PtxloomError
from ptxloom.survey import survey
from ptxloom.syntax import Selection, select
from ptxloom.syntax.parser import parse_source
from ptxloom.views.core.cells import harmless
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import Ink
from ptxloom.views.findings import finding_reports
from ptxloom.views.modules import parsed, surveys, trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.syntax import Module
    from ptxloom.views.core.style import Style
    from ptxloom.views.modules.parsed import ParsedRecord


def run(options: Options) -> Outcome:
    """Read every file; an unreadable one does not stop the others."""
    if options.schema:
        from ptxloom.cli.json_schemas import schema  # noqa: PLC0415 - only this asks for it

        return Outcome(to_text(schema("parse")))
    modules, unread = read_modules(options)
    found = [d for m in modules for d in m.diagnostics]
    code, remark = verdict(found, len(modules))
    chosen = [(m, selection(m, options, options.pattern)) for m in modules]
    if chosen and not chosen[0][1].everything and not any(True for m, wanted in chosen for _ in select(m, wanted)):
        talk("ptxloom: no statement matches --function, --lines and --pattern")
    return Outcome(_text(chosen, options), COULD_NOT_RUN if unread else code, remark if found else "")


def read_modules(options: Options) -> tuple[list[Module], int]:
    """The modules of every file that is named, and how many files could not be read."""
    if not options.files:
        raise PtxloomError("FILE is missing: name PTX files, folders of them, or - for standard input")
    modules: list[Module] = []
    unread = 0
    for name in files(options.files):
        try:
            modules += [parse_source(one) for one in sources(name, flags=flags_for(options, name))]
        except PtxloomError as error:
            talk(f"ptxloom: {error}")
            unread += 1
    return modules, unread


def _text(modules: Sequence[tuple[Module, Selection]], options: Options) -> str:
    """The modules in the requested format."""
    with_tree = options.tree or any(not wanted.everything for _, wanted in modules)
    match options.output_format:
        case "json":
            return to_text([_record(m, wanted if with_tree else None) for m, wanted in modules])
        case "full":
            style = style_for(options)
            if not with_tree:
                return "\n".join(_full(m, None, style) for m, _ in modules)
            shown = [(m.source.title, _full(m, wanted, style)) for m, wanted in modules]
            if len(modules) == 1:
                return shown[0][1]
            return "\n".join(f"{style.paint(harmless(name), Ink.BOLD)}\n{text}" for name, text in shown if text)
        case _:
            return render([d for m, _ in modules for d in m.diagnostics], options)


def _full(module: Module, wanted: Selection | None, style: Style) -> str:
    shown = surveys.full(survey(module), style) if wanted is None else trees.text(module, select(module, wanted))
    said = finding_reports.full(module.diagnostics, style)
    return shown + ("\n" + said if said else "")


def _record(module: Module, wanted: Selection | None) -> ParsedRecord:
    return parsed.record(module, None if wanted is None else tuple(select(module, wanted)))
