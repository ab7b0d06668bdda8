"""`ptxloom check`: is it legal?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ptxloom.checker.verdicts import Question
from ptxloom.cli.judging import findings
from ptxloom.cli.mistakes import strangers
from ptxloom.cli.repairs import Repairs
from ptxloom.cli.results.findings import render, statistics, verdict
from ptxloom.cli.results.output import CLEAN, COULD_NOT_RUN, FINDINGS, Outcome, talk
from ptxloom.cli.results.progress import counted
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import STDIN, files, sources
from ptxloom.cli.sources.project import Project
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.source import Source
from ptxloom.views.findings.summary import summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.cli.sources.project import Terms
    from ptxloom.diagnostics import Diagnostic


class _Text(NamedTuple):
    """A text to judge, the file that it came from, the settings that apply, and how to judge it."""

    source: Source
    file: str
    path: Path
    terms: Terms

    def question(self, text: str | None = None) -> Question:
        """The question about it, or about another text in its place if one is given."""
        source = self.source if text is None else Source(text, self.source.name, self.source.written)
        return Question(source, self.terms.target, self.terms.ptx_version, self.terms.selection.asks_for_hints)


def run(options: Options) -> Outcome:
    """Judge every file; with `--watch` again and again.

    Raises:
        PtxloomError: Options or settings hold an illegal value, or `--watch` is given standard input.
    """
    if options.jobs is not None and options.jobs < 1:
        raise UsageError("jobs", options.jobs, "a whole number of 1 or more")
    for remark in strangers(options):
        talk(f"ptxloom: {remark}")
    if options.watch:
        from ptxloom.cli.watching import watched  # noqa: PLC0415 - only this watches

        return watched(options, once)
    return once(options)


def once(options: Options) -> Outcome:
    """Judge every file, repaired if requested; an unreadable file does not stop the others."""
    project = Project(options)
    names = files(options.files, project.leaves_out, (".ptx", ".cu"))
    texts: list[_Text] = []
    unread = 0
    for found in _texts(names, project, options):
        if found is None:
            unread += 1
        else:
            texts.append(found)
    if options.fix or options.diff:
        repairs = Repairs(options)
        found = _repaired(texts, repairs)
        if repairs.shown is not None:
            code = FINDINGS if repairs.fixes else CLEAN
            return Outcome(repairs.shown, COULD_NOT_RUN if unread else code, repairs.remark, verbatim=True)
        told = repairs.remark
    else:
        every = findings([one.question() for one in texts], options.jobs, options)
        found = [d for one, all_ in zip(texts, every, strict=True) for d in project.heard(one.path, all_)]
        told = ""
    code, remark = verdict(found, len(names) - unread)
    remark = "; ".join(filter(None, (told, remark, project.remark_on_settings)))
    shown = statistics(found, options) if options.statistics else render(found, options, complete=not unread)
    markdown = summary("ptxloom check", found, remark) if options.summary else ""
    return Outcome(shown, COULD_NOT_RUN if unread else code, remark, summary=markdown)


def _texts(names: Sequence[str], project: Project, options: Options) -> Iterator[_Text | None]:
    """Every PTX text in each file in turn; None for a file that cannot be read, after the reason is printed."""
    called = options.stdin_filename
    for name in counted(names, len(names), "files read"):
        path = Path(called or name if name == STDIN else name)
        terms = project.terms(path)
        try:
            flags = flags_for(options, str(path), target=terms.target)
            yield from (_Text(source, name, path, terms) for source in sources(name, terms.target, called, flags))
        except PtxloomError as error:
            talk(f"ptxloom: {error}")
            yield None


def _repaired(texts: Sequence[_Text], repairs: Repairs) -> list[Diagnostic]:
    """The findings that remain after repairs."""
    found: list[Diagnostic] = []
    for one in texts:

        def judge(text: str, one: _Text = one) -> Sequence[Diagnostic]:
            return one.terms.selection.of_interest(findings([one.question(text)], jobs=1)[0])

        found += repairs.of(one.source, one.file, judge)
    return found
