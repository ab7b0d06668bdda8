"""`check --fix`: files repaired in place, each as a whole or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.checker.findings.repairs import repaired
from ptxloom.cli.results.output import rewrite, talk
from ptxloom.cli.sources.inputs import STDIN
from ptxloom.views.core.line_diffs import unified

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ptxloom.cli.command_line import Options
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.source import Source


class Repairs:
    """The repairs of one run.

    Attributes:
        fixes: The number of repairs.
        shown: The standard output in place of findings: a diff, or repaired standard input.
    """

    def __init__(self, options: Options) -> None:
        self._unsafe: bool = options.unsafe_fixes
        self._diff: bool = options.diff
        self._named: Sequence[str] = options.files
        self.fixes = 0
        self._files = 0
        self._hidden = 0
        self.shown: str | None = "" if self._diff else None

    def of(self, source: Source, file: str, judge: Callable[[str], Sequence[Diagnostic]]) -> Sequence[Diagnostic]:
        """Repair one text, and its file if it has one; returns the findings that remain.

        PTX that was compiled from a file, or is one part of a file, is not repaired: it has no file of its own.
        """
        if file not in {STDIN, source.name}:
            return self._untouched(source, judge)
        done = repaired(source.text, judge, unsafe=self._unsafe)
        writes = done.text != source.text and not self._diff and file != STDIN
        if writes and not rewrite(source.name, done.text, self._named):
            return judge(source.text)
        self.fixes += done.fixes
        self._files += done.text != source.text
        self._hidden += sum(d.fix is not None and not d.fix.is_safe for d in done.left) if not self._unsafe else 0
        if self._diff:
            told = unified(source.text, done.text, source.title, f"{source.title} (repaired)")
            self.shown = (self.shown or "") + told
        elif file == STDIN:
            self.shown = done.text
        return done.left

    def _untouched(self, source: Source, judge: Callable[[str], Sequence[Diagnostic]]) -> Sequence[Diagnostic]:
        found = judge(source.text)
        if any(d.fix is not None for d in found):
            talk(f"ptxloom: {source.title}: only PTX files are repaired; this text is inside of another file")
        return found

    @property
    def remark(self) -> str:
        """A sentence about what was done."""
        made = f"{self.fixes} fix{'es' * (self.fixes != 1)} in {self._files} file{'s' * (self._files != 1)}"
        verb = "would be made" if self._diff else "made"
        more = f" ({self._hidden} more with --unsafe-fixes)" if self._hidden else ""
        return f"{made} {verb}{more}"
