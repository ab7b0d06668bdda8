"""Selects statements of a module: by function, by line, by an instruction's spelling."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.syntax.module import A_MODULE, Module
from ptxloom.syntax.tree import Block, Function
from ptxloom.syntax.visitor import instructions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.syntax.tree import Statement


@dataclass(frozen=True, slots=True)
class Selection:
    """A selection of a module's statements; None selects everything.

    Attributes:
        function: A function's name; `*` and `?` stand for any characters and for one. Or several names.
        lines: The (first, last) line.
        pattern: A pattern for `instructions`, such as `ldmatrix.*.trans`.
    """

    function: str | tuple[str, ...] | None = None
    lines: tuple[int, int] | None = None
    pattern: str | None = None

    @property
    def everything(self) -> bool:
        """Whether it selects everything."""
        return self.function is None and self.lines is None and self.pattern is None


def select(module: Module, wanted: Selection) -> tuple[Statement, ...]:
    r"""The selected statements of a module, in order; whole functions unless lines or a pattern are given.

    Example:
        >>> from ptxloom.syntax import parse
        >>> m = parse(".func f() { ret; }\n.func g() { trap; ret; }")
        >>> [s.span.line for s in select(m, Selection(function="g", pattern="ret"))]
        [2]
    """
    must_be(Module, "module", module, A_MODULE)
    must_be(Selection, "wanted", wanted, "a Selection")
    return tuple(one for _, one in placed(module, wanted))


def placed(module: Module, wanted: Selection) -> Iterator[tuple[Function | None, Statement]]:
    """The selected statements, each with its function."""
    for statement in module.statements:
        function = statement if isinstance(statement, Function) else None
        if wanted.function is not None and (function is None or not _is_named(function, wanted.function)):
            continue
        if wanted.lines is None and wanted.pattern is None:
            yield function, statement
        elif wanted.pattern is not None:
            for found in instructions(statement, wanted.pattern):
                if _meets(found, wanted.lines):
                    yield function, found
        else:
            yield from ((function, one) for one in _leaves(statement) if _meets(one, wanted.lines))


def _is_named(function: Function, wanted: str | tuple[str, ...]) -> bool:
    return fnmatchcase(function.name, wanted) if isinstance(wanted, str) else function.name in wanted


def _leaves(statement: Statement) -> Iterator[Statement]:
    """The statements without scopes in them."""
    waiting = [statement]
    while waiting:
        match waiting.pop():
            case Function(body=Block(inside)) | Block(inside):
                waiting += reversed(inside)
            case leaf:
                yield leaf


def _meets(statement: Statement, lines: tuple[int, int] | None) -> bool:
    if lines is None:
        return True
    span = statement.span
    return span.line <= lines[1] and lines[0] <= span.end_line
