"""`ptxloom check`: is it legal?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ptxloom.checker import Selection, check
from ptxloom.cli.findings import render, verdict
from ptxloom.cli.inputs import each, files
from ptxloom.cli.mistakes import strangers
from ptxloom.cli.output import CLEAN, COULD_NOT_RUN, FINDINGS, Outcome, talk
from ptxloom.cli.repairs import Repairs
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ptxloom.cli.arguments import Options
    from ptxloom.diagnostics import Diagnostic


def run(options: Options) -> Outcome:
    """Judge every file, repaired where that is asked for; one that cannot be read does not keep the others back."""
    repairs = Repairs(options) if options.fix or options.diff else None
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
        judge = partial(_judged, name=source.name, told=told, options=options)
        found += judge(source.text) if repairs is None else repairs.of(source, judge)
    if repairs is not None and repairs.shown is not None:
        code = FINDINGS if repairs.fixes else CLEAN
        return Outcome(repairs.shown, COULD_NOT_RUN if unread else code, repairs.remark, verbatim=True)
    code, remark = verdict(found, len(names) - unread)
    if repairs is not None:
        remark = f"{repairs.remark}; {remark}" if remark else repairs.remark
    return Outcome(render(found, options, complete=not unread), COULD_NOT_RUN if unread else code, remark)


def _judged(text: str, name: str, told: Selection, options: Options) -> Sequence[Diagnostic]:
    """What is told of one text."""
    hints = told.asks_for_hints
    module = parse(text, name)
    return told.of_interest(check(module, target=options.target, ptx_version=options.ptx_version, hints=hints))
