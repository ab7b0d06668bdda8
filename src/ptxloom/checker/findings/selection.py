"""Which rules are reported: those selected, minus those ignored, each by its id or by a pattern such as `missing-*`."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ptxloom.checker.pages import HINTS, rules
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.isa.spelling import near_misses

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.diagnostics import Diagnostic


@dataclass(frozen=True, slots=True)
class Selection:
    """Rules, by id or pattern: `select` empty means all; `ignore` wins.

    Example:
        >>> some = Selection.of(select=["missing-*"], ignore=["missing-directive"])
        >>> some.hears("missing-trans"), some.hears("missing-directive"), some.hears("no-form")
        (True, False, False)
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    @classmethod
    def of(cls, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Selection:
        """The selection that ids and patterns make.

        Raises:
            UsageError: One of them fits no rule.
        """
        return cls(tuple(_fitting("select", select)), tuple(_fitting("ignore", ignore)))

    @property
    def asks_for_hints(self) -> bool:
        """Whether a rule is selected that reports only on request."""
        return bool(self.select) and self.hears_hints

    @property
    def hears_hints(self) -> bool:
        """Whether a finding of such a rule would be reported."""
        return any(map(self.hears, HINTS))

    def hears(self, rule: str) -> bool:
        """Whether findings of a rule are to be reported."""
        return (not self.select or _any(rule, self.select)) and not _any(rule, self.ignore)

    def of_interest(self, findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The findings to report, in their order."""
        return tuple(finding for finding in findings if self.hears(finding.rule))


def _any(rule: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(rule, pattern) for pattern in patterns)


def _fitting(argument: str, patterns: Iterable[str]) -> Iterable[str]:
    for pattern in patterns:
        if not any(fnmatchcase(rule, pattern) for rule in rules()):
            near = near_misses(pattern, rules())
            hint = f"; did you mean `{near[0]}`?" if near else "; `ptxloom explain` lists them"
            raise UsageError(argument, pattern, f"a rule's id or a pattern that fits one{hint}")
        yield pattern
