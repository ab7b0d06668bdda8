"""`ptxloom diff`: the differences of two PTX files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ptxloom.cli.results.output import CLEAN, FINDINGS, Outcome, style_for
from ptxloom.cli.sources.cuda_flags import flags_for
from ptxloom.cli.sources.inputs import STDIN, read
from ptxloom.cli.sources.source_texts import source_texts
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.difference import compare
from ptxloom.syntax.parser import parse_source
from ptxloom.views.findings.finding_reports import concise
from ptxloom.views.modules import difference_records, differences
from ptxloom.views.runs.source_lines import no_source

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.syntax import Module


class CannotCompare(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A file with syntax errors cannot be compared."""


def run(options: Options) -> Outcome:
    """Compare; exit 1 if they differ, as `diff` does.

    Raises:
        PtxloomError: A file cannot be read, or has syntax errors.
    """
    if options.file == options.other == STDIN:
        raise CannotCompare("standard input can be one of the two files, not both")
    found = compare(_module(options.file, options), _module(options.other, options))
    code = CLEAN if found.same else FINDINGS
    match options.output_format:
        case "json":
            return Outcome(difference_records.as_json(found), code)
        case "concise":
            return Outcome(differences.concise(found), code)
        case _:
            texts = [source_texts(Path(one.source.name), options) for one in (found.a, found.b)]
            sources = (texts[0].line, texts[1].line) if options.source else (no_source, no_source)
            text = differences.full(found, style_for(options), every=options.all, sources=sources)
            for one in texts:
                one.tell()
            return Outcome(text, code)


def _module(name: str, options: Options) -> Module:
    source = read(name, flags=flags_for(options, name))
    module = parse_source(source)
    errors = [d for d in module.diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise CannotCompare(
            f"{source.title} cannot be compared, because it has syntax errors:\n{concise(errors)}".rstrip()
        )
    return module
