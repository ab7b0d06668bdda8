"""The statements parsed so far, by scope: braces that open, close, close too early, or never."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Diagnostic, Severity
from ptxloom.source import Span
from ptxloom.syntax.lexer import Problem
from ptxloom.syntax.node import ended
from ptxloom.syntax.tree import (
    AddressSize,
    Alias,
    Block,
    File,
    Function,
    Instruction,
    Malformed,
    Section,
    Target,
    Version,
)

if TYPE_CHECKING:
    from ptxloom.source import Source
    from ptxloom.syntax.tree import Attribute, Declaration, PerformanceDirective, Statement

MAX_SCOPES: Final = 100
"""The deepest nesting of scopes."""

_OUTSIDE: Final = (AddressSize, Alias, File, Function, Section, Target, Version)
"""Statements that are not legal in functions."""


@dataclass(slots=True)
class Header:
    """The header of a function, as far as it has been parsed."""

    linkage: str
    kind: str
    name: str
    attributes: tuple[Attribute, ...]
    returns: tuple[Declaration, ...]
    params: tuple[Declaration, ...] = ()
    directives: tuple[PerformanceDirective, ...] = ()


@dataclass(slots=True)
class _Scope:
    """An open brace: the start of its statement, its place, and the statements before it."""

    start: int
    brace: int
    outer: list[Statement]
    header: Header | None


class Scopes:
    """Collects parsed statements and diagnostics."""

    def __init__(self, source: Source) -> None:
        self.source: Final = source
        self.diagnostics: Final[list[Diagnostic]] = []
        self._scopes: Final[list[_Scope]] = []
        self._out: list[Statement] = []
        self._last = -1  # the index of the last closed function, at the top level
        self._flattened = 0  # open braces beyond MAX_SCOPES

    def _reopened(self, end: int) -> bool:
        """Move statements up to the brace at `end` into the last function, if an extra brace closed it too early.

        Returns:
            Whether it did; at most once per function, as all that follows is moved.
        """
        index, self._last = self._last, -1
        function = self._out[index] if index >= 0 else None
        if not isinstance(function, Function) or function.body is None:
            return False
        rest = tuple(self._out[index + 1 :])
        if not any(isinstance(one, Instruction) for one in rest) or any(isinstance(one, _OUTSIDE) for one in rest):
            return False
        early = function.body.end - 1
        self._report(
            Problem(
                "unmatched-brace",
                f"`}}` closes the body of `{function.name}`, and instructions follow",
                early,
                early + 1,
                "one brace too many, or one that opens is missing before",
            )
        )
        stray = Malformed("}", source=self.source, start=early, end=early + 1)
        statements = (*function.body.statements, stray, *rest)
        body = Block(statements, source=self.source, start=function.body.start, end=end)
        self._out[index:] = [ended(function.replace(body=body), end)]
        return True

    def _built(self, header: Header, body: Block | None, start: int, end: int) -> Function:
        return Function(
            header.linkage,
            header.kind,
            header.name,
            header.returns,
            header.params,
            header.directives,
            header.attributes,
            body,
            source=self.source,
            start=start,
            end=end,
        )

    def _open(self, start: int, brace: int, header: Header | None) -> None:
        if len(self._scopes) >= MAX_SCOPES:
            self._flattened += 1
            if self._flattened == 1:
                self._report(
                    Problem(
                        "nested-too-deeply",
                        f"scopes nest deeper than {MAX_SCOPES} levels",
                        brace,
                        brace + 1,
                        "deeper ones are read as part of this one",
                    )
                )
            return
        self._scopes.append(_Scope(start, brace, self._out, header))
        self._out = []

    def _close(self, end: int) -> None:
        if self._flattened:
            self._flattened -= 1
            return
        scope = self._scopes.pop()
        block = Block(tuple(self._out), source=self.source, start=scope.brace, end=end)
        self._out = scope.outer
        if scope.header is None:
            self._out.append(block)
        else:
            if not self._scopes:
                self._last = len(self._out)
            self._out.append(self._built(scope.header, block, scope.start, end))

    def _report(self, problem: Problem) -> None:
        self.diagnostics.append(
            Diagnostic(
                problem.rule,
                Severity.ERROR,
                problem.message,
                Span(self.source, problem.start, problem.end),
                problem.label,
                help=problem.remedy,
            )
        )

    def _unclosed(self, scope: _Scope) -> None:
        what = "a scope" if scope.header is None else f"the body of `{scope.header.name}`"
        self._report(Problem("unclosed-brace", f"{what} is not closed", scope.brace, scope.brace + 1, "it opens here"))
