"""`ptxloom check`: is it legal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker import Selection, check
from ptxloom.cli.findings import render, verdict
from ptxloom.cli.inputs import each, files
from ptxloom.cli.mistakes import strangers
from ptxloom.cli.output import COULD_NOT_RUN, Outcome, talk
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.cli.arguments import Options
    from ptxloom.diagnostics import Diagnostic


def run(options: Options) -> Outcome:
    """Judge every file; one that cannot be read does not keep the others from being judged."""
    found: list[Diagnostic] = []
    told = Selection.of(options.select, options.ignore)
    names = files(options.files)
    unread = 0
    for remark in strangers(options):
        talk(f"ptxloom: {remark}")
    for source in each(names, options.target):
        if source is None:
            unread += 1
            continue
        module = parse(source.text, source.name)
        hints = told.asks_for_hints
        found += told.of_interest(check(module, target=options.target, ptx_version=options.ptx_version, hints=hints))
    code, remark = verdict(found, len(names) - unread)
    return Outcome(render(found, options, complete=not unread), COULD_NOT_RUN if unread else code, remark)
