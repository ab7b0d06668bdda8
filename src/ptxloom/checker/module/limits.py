"""Rules about memory: parameters, constants and static shared memory fit (PTX ISA 5.1)."""

from __future__ import annotations

from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.checker.findings.report import error, name_span
from ptxloom.isa.types import element_type, is_type
from ptxloom.isa.version import PtxVersion
from ptxloom.syntax.tree import Block, Declaration, Function, Instruction, Name
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Declarator, Statement

RULE: Final = "memory-limit"
_CONSTANT: Final = 65536
_SHARED: Final = 49152
_PARAMETERS: Final = 32764
_FEWER_PARAMETERS: Final = 4352
_MORE_PARAMETERS: Final = PtxVersion(8, 1)
_MORE_SHARED: Final = 100  # from this architecture on there may be more static shared memory
_Variable = tuple["Declaration", "Declarator"]


def limits(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    """The findings about what does not fit."""
    functions = [one for one in module.statements if isinstance(one, Function)]
    top = [one for one in module.statements if isinstance(one, Declaration)]
    inner = {one.name: list(_inside(one)) for one in functions if one.body is not None}
    constants = [one for one in chain(top, *inner.values()) if one.space == "const"]
    every = ((one, declarator) for one in constants for declarator in one.declarators)
    yield from _sum(every, _CONSTANT, "constant memory has", "5.1.3")
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


def size_of(declaration: Declaration, declarator: Declarator) -> int:
    """The bytes of a variable; 0 if its type or its size is not known."""
    if not is_type(declaration.type) or None in declarator.dimensions:
        return 0
    count = prod(one for one in declarator.dimensions if one is not None) * (declaration.vector or 1)
    return element_type(declaration.type).storage_bits // 8 * count


def _sum(variables: Iterable[_Variable], most: int, what: str, section: str) -> Iterator[Diagnostic]:
    """One finding at the variable that is too much."""
    total, over = 0, None
    for declaration, declarator in variables:
        total += size_of(declaration, declarator)
        if total > most and over is None:
            over = name_span(declaration, declarator)
    if over is not None:
        label = f"here it becomes more than {most:,}"
        yield error(RULE, f"{what} {most:,} bytes at the most, and {total:,} are wanted", over, section, label=label)


def _most_parameters(platform: Platform) -> int:
    return _PARAMETERS if platform.version is None or platform.version >= _MORE_PARAMETERS else _FEWER_PARAMETERS


def _parameters(function: Function, most: int) -> Iterator[Diagnostic]:
    end, over = 0, None
    for parameter in function.params:
        for declarator in parameter.declarators:
            width = element_type(parameter.type).storage_bits // 8 if is_type(parameter.type) else 1
            alignment = max(1, parameter.alignment or width)
            end = -(-end // alignment) * alignment + size_of(parameter, declarator)
            if end > most and over is None:
                over = name_span(parameter, declarator)
    if over is not None:
        message = f"the parameters of a kernel have {most:,} bytes at the most, and `{function.name}` wants {end:,}"
        yield error(RULE, message, over, "5.1.6")


def _shared(
    functions: list[Function], top: list[Declaration], inner: dict[str, list[Declaration]]
) -> Iterator[Diagnostic]:
    """The static shared memory that a kernel and the functions that it calls declare and use."""
    own = {name: [one for one in inside if one.space == "shared"] for name, inside in inner.items()}
    if sum(size_of(*one) for one in _variables(chain(top, *own.values()))) <= _SHARED:
        return
    uses = {one.name: _names(one) for one in functions if one.body is not None}
    for function in functions:
        if function.kind != "entry" or function.body is None:
            continue
        reached, waiting = {function.name}, [function.name]
        while waiting:
            here = uses[waiting.pop()]
            new = [one for one in uses if one in here and one not in reached]
            reached.update(new)
            waiting += new
        used = set[str]().union(*(uses[one] for one in reached))
        visible = [one for one in _variables(top) if one[1].name in used]
        mine = _variables(chain.from_iterable(own[one] for one in uses if one in reached))
        yield from _sum((*visible, *mine), _SHARED, f"`{function.name}`: a kernel's static shared memory has", "5.1.8")


def _names(function: Function) -> frozenset[str]:
    return frozenset(one.text for one in walk(function) if isinstance(one, Name))
