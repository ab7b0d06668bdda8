"""Rules about `.alias`: a declared function gets the body of another one with the same parameters (PTX ISA 11.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.lacking import needs_version
from ptxloom.checker.findings.report import error, word_span
from ptxloom.checker.module.names import prototypes_differ
from ptxloom.isa.version import PtxVersion
from ptxloom.syntax.tree import Alias, Declaration, Function

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module

RULE: Final = "alias"
_SECTION: Final = "11.2"
_SINCE: Final = PtxVersion(6, 3)


def aliases(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    """The findings about a module's aliases."""
    functions: dict[str, Function] = {}
    variables: set[str] = set()
    for one in module.statements:
        if isinstance(one, Function):
            if one.body is not None or one.name not in functions:
                functions[one.name] = one
        elif isinstance(one, Declaration):
            variables.update(declarator.name for declarator in one.declarators)
        elif isinstance(one, Alias):
            if platform.version is not None and platform.version < _SINCE:
                yield needs_version(".alias", _SINCE, platform, one.span, _SECTION)
            yield from _alias(one, functions, variables)


def _alias(alias: Alias, functions: dict[str, Function], variables: set[str]) -> Iterator[Diagnostic]:
    name_span = word_span(alias, alias.name)
    target_span = word_span(alias, alias.target, name_span.end)
    new, old = functions.get(alias.name), functions.get(alias.target)
    for name, function, span in ((alias.name, new, name_span), (alias.target, old, target_span)):
        if function is None:
            what = "a variable" if name in variables else "no function that is declared before this point"
            yield error(RULE, f"`{name}` is {what}", span, _SECTION, label="an alias is a function's")
            return
        if function.kind == "entry":
            yield error(RULE, f"`{name}` is a kernel, and kernels have no aliases", span, _SECTION)
            return
    if new is None or old is None:
        return
    if alias.name == alias.target:
        yield error(RULE, f"`{alias.name}` cannot be an alias of itself", target_span, _SECTION)
    elif new.body is not None:
        yield error(RULE, f"`{alias.name}` has a body: only a declared function can be an alias", name_span, _SECTION)
    elif old.linkage == "weak":
        yield error(RULE, f"`{alias.target}` is `.weak`, and such functions have no aliases", target_span, _SECTION)
    elif difference := prototypes_differ(new, old):
        yield error(RULE, f"`{alias.name}` and `{alias.target}` differ: {difference}", name_span, _SECTION)
