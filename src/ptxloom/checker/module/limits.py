"""Rules about memory: parameters, constants and static shared memory fit (PTX ISA 5.1)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from ptxloom.binding.call_graph import names_in
from ptxloom.binding.sizes import parameters, size_of
from ptxloom.checker.findings.report import error, name_span
from ptxloom.isa.limits import CONSTANT_BYTES, FEWER_PARAMETER_BYTES, PARAMETER_BYTES, STATIC_SHARED_BYTES
from ptxloom.isa.version import PtxVersion
from ptxloom.solver import reached
from ptxloom.syntax.tree import Block, Declaration, Function, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Declarator, Statement

RULE: Final = "memory-limit"
_MORE_PARAMETERS: Final = PtxVersion(8, 1)
_MORE_SHARED: Final = 100  # from this architecture on there may be more static shared memory
_Variable = tuple["Declaration", "Declarator"]


def limits(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    """The findings about memory that exceeds a limit."""
    functions = [one for one in module.statements if isinstance(one, Function)]
    top = [one for one in module.statements if isinstance(one, Declaration)]
    inner = {one.name: list(_inside(one)) for one in functions if one.body is not None}
    constants = [one for one in chain(top, *inner.values()) if one.space == "const"]
    every = ((one, declarator) for one in constants for declarator in one.declarators)
    yield from _sum(every, CONSTANT_BYTES, "constant memory has", "5.1.3")
    for function in functions:
        if function.kind == "entry":
            yield from _parameters(function, _most_parameters(platform))
    if platform.target is not None and platform.target.number < _MORE_SHARED:
        yield from _shared(functions, [one for one in top if one.space == "shared"], inner)


def _inside(function: Function) -> Iterator[Declaration]:
    waiting: list[tuple[Statement, ...]] = [function.body.statements] if function.body else []
    while waiting:
        for one in waiting.pop():
            if type(one) is Instruction:
                continue
            if isinstance(one, Declaration):
                yield one
            elif isinstance(one, Block):
                waiting.append(one.statements)


def _variables(declarations: Iterable[Declaration]) -> Iterator[_Variable]:
    return ((one, declarator) for one in declarations if one.linkage != "extern" for declarator in one.declarators)


def _sum(variables: Iterable[_Variable], most: int, what: str, section: str) -> Iterator[Diagnostic]:
    """One finding at the variable that exceeds the limit."""
    total, over = 0, None
    for declaration, declarator in variables:
        total += size_of(declaration, declarator)
        if total > most and over is None:
            over = name_span(declaration, declarator)
    if over is not None:
        label = f"here the sum exceeds {most:,}"
        yield error(RULE, f"{what} at most {most:,} bytes, and {total:,} are wanted", over, section, label=label)


def _most_parameters(platform: Platform) -> int:
    return (
        PARAMETER_BYTES if platform.version is None or platform.version >= _MORE_PARAMETERS else FEWER_PARAMETER_BYTES
    )


def _parameters(function: Function, most: int) -> Iterator[Diagnostic]:
    placed = parameters(function.params)
    over = next((name_span(one.declaration, one.declarator) for one in placed if one.end > most), None)
    if over is not None:
        end = placed[-1].end
        message = f"the parameters of a kernel have at most {most:,} bytes, and `{function.name}` wants {end:,}"
        yield error(RULE, message, over, "5.1.6")


def _shared(
    functions: list[Function], top: list[Declaration], inner: dict[str, list[Declaration]]
) -> Iterator[Diagnostic]:
    """The static shared memory that a kernel and the functions that it calls declare and use."""
    own = {name: [one for one in inside if one.space == "shared"] for name, inside in inner.items()}
    if sum(size_of(*one) for one in _variables(chain(top, *own.values()))) <= STATIC_SHARED_BYTES:
        return
    uses = {one.name: frozenset(names_in(one)) for one in functions if one.body is not None}
    calls = {name: names & uses.keys() for name, names in uses.items()}
    for function in functions:
        if function.kind != "entry" or function.body is None:
            continue
        running = reached((function.name,), calls.__getitem__)
        used = set[str]().union(*(uses[one] for one in running))
        visible = [one for one in _variables(top) if one[1].name in used]
        mine = _variables(chain.from_iterable(own[one] for one in uses if one in running))
        yield from _sum(
            (*visible, *mine), STATIC_SHARED_BYTES, f"`{function.name}`: a kernel's static shared memory has", "5.1.8"
        )
