"""`ptxloom fmt`: PTX in canonical form; no text is lost and no file is left half-written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.cli.results.output import CLEAN, COULD_NOT_RUN, FINDINGS, Outcome, rewrite, talk
from ptxloom.cli.sources.inputs import STDIN, files, read
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.syntax.parser import parse_source
from ptxloom.views.core.line_diffs import unified
from ptxloom.views.findings.finding_reports import concise
from ptxloom.views.modules.formatted import formatted

if TYPE_CHECKING:
    from ptxloom.cli.command_line import Options
    from ptxloom.source import Source


class CannotFormat(PtxloomError):  # noqa: N818 - reads as the sentence it prints
    """A text has errors, and printing its readable part would lose the rest."""


def run(options: Options) -> Outcome:
    """Format every file, or list those that would change.

    Raises:
        PtxloomError: Both `--write` and `--output` are given.
    """
    if options.write and options.output:
        raise PtxloomError("`--write` puts each result into its file, and leaves nothing for `--output`")
    out: list[str] = []
    code = CLEAN
    changed = 0
    names = files(options.files)
    for name in names:
        try:
            source = read(name)
            text = canonical(source)
        except PtxloomError as error:
            talk(f"ptxloom: {error}")
            code = max(code, FINDINGS if isinstance(error, CannotFormat) else COULD_NOT_RUN)
            continue
        differs = text != source.text
        changed += differs
        if differs and options.write and source.name in {name, "<stdin>"}:
            code = max(code, CLEAN if _rewrite(name, text, options) else COULD_NOT_RUN)
        elif differs and options.write:
            talk(f"ptxloom: {source.title}: only PTX files are rewritten; this text is inside another file")
            code = COULD_NOT_RUN
        out.append(_shown(source, text, options))
    if options.check or options.diff:
        code = max(code, FINDINGS if changed else CLEAN)
    return Outcome("".join(out), code, _remark(options, changed, len(names)), verbatim=True)


def canonical(source: Source) -> str:
    """A source's canonical text; lines end as they do in the source.

    Raises:
        CannotFormat: It has syntax errors.
    """
    module = parse_source(source)
    errors = [d for d in module.diagnostics if d.severity is Severity.ERROR]
    if errors:
        raise CannotFormat(
            f"{source.title} is left as it is, because it has syntax errors:\n{concise(errors)}".rstrip()
        )
    text = formatted(module)
    if text is None:
        raise CannotFormat(f"{source.title} is left as it is: it cannot be printed again without a change of meaning")
    return text.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in source.text else text


def _shown(source: Source, text: str, options: Options) -> str:
    """What goes to standard output for one file."""
    if options.write:
        return ""
    if options.check:
        return f"{source.title}\n" if text != source.text else ""
    if options.diff:
        return unified(source.text, text, source.title, f"{source.title} (formatted)")
    return text


def _rewrite(name: str, text: str, options: Options) -> bool:
    """Replace the file by the formatted text; returns whether it was written.

    Raises:
        PtxloomError: There is no file to put it in.
    """
    if name == STDIN:
        raise PtxloomError("cannot write standard input back; leave out `--write` to print the result")
    return rewrite(name, text, options.files)


def _remark(options: Options, changed: int, number: int) -> str:
    """A sentence for people, if the output does not contain it."""
    if options.write:
        return f"{changed} of {number} files rewritten"
    if options.check or options.diff:
        return f"{changed} of {number} files would change"
    return ""
