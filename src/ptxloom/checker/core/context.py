"""The input of a rule: one bound instruction, its place, and the module's target and version."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from ptxloom.checker.core.suggestions import advice
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.isa.load import instruction_spec

if TYPE_CHECKING:
    from ptxloom.checker.core.scope import VisibleNames
    from ptxloom.isa.spec import InstructionSpec
    from ptxloom.isa.target import Target
    from ptxloom.isa.version import PtxVersion
    from ptxloom.source import Span
    from ptxloom.syntax.bind import Bound
    from ptxloom.syntax.node import Node
    from ptxloom.syntax.tree import Instruction


@dataclass(frozen=True, slots=True)
class Platform:
    """The target and version that a module is checked for.

    Attributes:
        version: The PTX version; None if none can be read.
        target: The architecture; None if none can be read.
        version_span: Where the module states its version; None if the caller gave it, or it is missing.
        target_span: Likewise for the architecture's name.
        independent: Whether textures and samplers are separate: the module states `texmode_independent`.
    """

    version: PtxVersion | None
    target: Target | None
    version_span: Span | None = None
    target_span: Span | None = None
    independent: bool = False


@dataclass(frozen=True, slots=True)
class Site:
    """The instruction that is being checked."""

    bound: Bound
    scope: VisibleNames
    platform: Platform

    @property
    def instruction(self) -> Instruction:
        """The instruction itself."""
        return self.bound.instruction

    @property
    def opcode(self) -> str:
        """Its opcode."""
        return self.bound.instruction.opcode

    @property
    def name(self) -> str:
        """Its opcode with the qualifiers that belong to its name: `cp.async.wait_group`."""
        form = self.bound.form
        leads = form.line.leads if form is not None else frozenset[str]()
        return ".".join((self.opcode, *takewhile(leads.__contains__, self.instruction.qualifiers)))

    @property
    def spec(self) -> InstructionSpec:
        """The ISA data of its opcode."""
        return instruction_spec(self.opcode)

    def span(self, node: Node) -> Span:
        """Where a part of the instruction stands."""
        return node.span_in(self.instruction.source)

    def error(
        self,
        rule: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        help: str = "",  # noqa: A002 - the diagnostic's own word
        fix: Fix | None = None,
        related: tuple[Label, ...] = (),
    ) -> Diagnostic:
        """A finding that makes the instruction illegal."""
        return Diagnostic(rule, Severity.ERROR, message, span, label, self.spec.section, help, fix, related)

    def warning(
        self,
        rule: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        help: str = "",  # noqa: A002 - the diagnostic's own word
        fix: Fix | None = None,
        related: tuple[Label, ...] = (),
    ) -> Diagnostic:
        """A finding that ptxas lets pass, or that may go wrong at run time."""
        return Diagnostic(rule, Severity.WARNING, message, span, label, self.spec.section, help, fix, related)

    def undeclared(self, name: str, span: Span) -> Diagnostic:
        """The finding that no declaration is visible for a name."""
        label, fix, related = advice(name, span, self.scope)
        return self.error(
            "undeclared-name",
            f"`{name}` names no register or variable that is declared before this point",
            span,
            label=label,
            fix=fix,
            related=related,
        )
