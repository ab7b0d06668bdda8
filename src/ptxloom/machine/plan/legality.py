"""The checker's verdict on a kernel before it runs: PTX that ptxas rejects is not launched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.call_graph import reachable
from ptxloom.checker import check
from ptxloom.diagnostics import PtxloomError, Severity
from ptxloom.names.demangling import demangled
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module


class IllegalPtx(PtxloomError):  # noqa: N818 - names its cause, like UnsupportedInstruction
    """A kernel, or a function that it can call, is not legal PTX: ptxas would reject it. Nothing has been run.

    Attributes:
        diagnostics: The checker's errors, in the order of the text.

    Example:
        >>> from ptxloom.machine import kernel
        >>> from ptxloom.syntax import parse
        >>> text = ".version 9.0 .target sm_90 .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, nowhere; ret; }"
        >>> try:
        ...     kernel(parse(text), "k")
        ... except IllegalPtx as error:
        ...     print(error.diagnostics[0].rule)
        undeclared-name
    """

    def __init__(self, name: str, diagnostics: tuple[Diagnostic, ...]) -> None:
        first, *rest = diagnostics
        more = f" (and {len(rest)} more)" if rest else ""
        super().__init__(f"`{demangled(name)}` is not legal PTX: {first}{more}")
        self.diagnostics = diagnostics


def must_be_legal(module: Module, name: str, cause: Exception | None = None) -> None:
    """Refuse a kernel if it, or a function that it reaches, is rejected by ptxas.

    Raises:
        IllegalPtx: With the checker's findings.
    """
    errors = _errors(module, name)
    if errors:
        raise IllegalPtx(name, errors) from cause


def _errors(module: Module, name: str) -> tuple[Diagnostic, ...]:
    """The errors in a module, without those in functions that a kernel does not reach."""
    entry = module.functions.get(name)
    reached = {id(function) for function in reachable(module, entry)} if entry is not None else set[int]()
    apart = [
        (one.start, one.end) for one in module.statements if isinstance(one, tree.Function) and id(one) not in reached
    ]
    return tuple(
        found
        for found in check(module)
        if found.severity is Severity.ERROR and not any(start <= found.span.start < end for start, end in apart)
    )
