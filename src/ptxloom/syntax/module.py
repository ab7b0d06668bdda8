"""A whole PTX module: its statements, the errors in the text, and the values of its directives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.display import mimebundle
from ptxloom.lazy import cached_property
from ptxloom.source import Source, Span
from ptxloom.syntax.lexer import comments
from ptxloom.syntax.printer import print_statements
from ptxloom.syntax.tree import AddressSize, Function, Target, Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Statement


A_MODULE: Final = "a module, as `ptxloom.parse(text)` and `ptxloom.load(path)` give"
"""The expected argument, in an error about another one."""


class Module:
    """A parsed PTX text. Two modules are equal if their statements are.

    Attributes:
        source: The text it was read from.
        statements: Its statements in order.
        diagnostics: The parts that could not be read, in the order of the text.
        is_as_read: Whether the statements are those of the text, as the parser read them.

    Example:
        >>> from ptxloom.syntax import parse
        >>> module = parse(".version 9.0 .target sm_90a .entry main() { ret; }")
        >>> module.version, module.target, module.kernels
        ((9, 0), ('sm_90a',), ('main',))
    """

    _repr_mimebundle_ = mimebundle

    def __init__(
        self,
        source: Source,
        statements: tuple[Statement, ...],
        diagnostics: tuple[Diagnostic, ...] = (),
        *,
        is_as_read: bool = False,
    ) -> None:
        self.source: Final = source
        self.statements: Final = statements
        self.diagnostics: Final = diagnostics
        self.is_as_read: Final = is_as_read

    @property
    def version(self) -> tuple[int, int]:
        """The (major, minor) of `.version`; (0, 0) without the directive."""
        found = next((one for one in self.statements if isinstance(one, Version)), None)
        return (0, 0) if found is None else (found.major, found.minor)

    @property
    def target(self) -> tuple[str, ...]:
        """The names after `.target`, the architecture first; empty without the directive."""
        found = next((one for one in self.statements if isinstance(one, Target)), None)
        return () if found is None else found.names

    @property
    def address_size(self) -> int:
        """The bits of an address: 32 unless set by `.address_size` (PTX ISA 11.1.3)."""
        found = next((one for one in self.statements if isinstance(one, AddressSize)), None)
        return 32 if found is None else found.bits

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """Every kernel and function by name; a definition wins over its prototypes."""
        found: dict[str, Function] = {}
        for one in self.statements:
            if isinstance(one, Function) and (one.body is not None or one.name not in found):
                found[one.name] = one
        return found

    @cached_property
    def kernels(self) -> tuple[str, ...]:
        """The names of its kernels, in the order of the text."""
        return tuple(one.name for one in self.functions.values() if one.kind == "entry")

    @cached_property
    def comments(self) -> tuple[tuple[int, int], ...]:
        """The (start, end) of every comment and line marker, in order."""
        return tuple(comments(self.source.text))

    @property
    def start(self) -> int:
        """The offset of its first character."""
        return 0

    @property
    def end(self) -> int:
        """The offset just after its last character."""
        return len(self.source.text)

    @property
    def span(self) -> Span:
        """The whole text."""
        return Span(self.source, self.start, self.end)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and self.statements == other.statements

    def __hash__(self) -> int:
        return hash(self.statements)

    def __str__(self) -> str:
        return print_statements(self.statements)

    def __repr__(self) -> str:
        return f"Module({self.source.name!r}, {len(self.statements)} statements, {len(self.diagnostics)} diagnostics)"
