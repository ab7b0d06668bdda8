"""Rules about names: each has one meaning in its braces, and redeclarations agree (PTX ISA 5, 11.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ptxloom.binding.names import Scope
from ptxloom.binding.sizes import alignment_of
from ptxloom.checker.findings.report import error, name_span, word_span
from ptxloom.diagnostics import Diagnostic, Severity
from ptxloom.isa.special import hidden_register, special_register
from ptxloom.source import Span
from ptxloom.syntax.tree import Block, Declaration, Function, Instruction, Label

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import Declarator, Statement

_RESERVED = {"_": "an unwanted result", "WARP_SZ": "the number of lanes of a warp"}
_Thing: TypeAlias = "tuple[Declaration, Declarator] | Label | Function"


_Braces: TypeAlias = "Scope[_Thing, Label]"


def names(module: Module, _: Platform) -> Iterator[Diagnostic]:
    """The findings about names that mean two things."""
    top: _Braces = Scope()
    outside = False
    for statement in module.statements:
        if isinstance(statement, Declaration):
            for declarator in statement.declarators:
                yield from _reserved(declarator.name, name_span(statement, declarator), top=True)
                yield from _variable(top, statement, declarator)
        elif isinstance(statement, Label):
            message = f"the label `{statement.name}` stands outside any function"
            yield error("misplaced-directive", message, word_span(statement, statement.name), "4.2")
        elif isinstance(statement, (Instruction, Block)) and not outside:
            outside = True  # where one stands, more follow
            what = "an instruction" if isinstance(statement, Instruction) else "a block"
            message = f"{what} stands outside any function"
            yield error("misplaced-directive", message, _first_line(statement), "4.2")
        elif isinstance(statement, Function):
            yield from _reserved(statement.name, word_span(statement, statement.name), top=True)
            yield from _function(top, statement)
            yield from _inside(statement)


def _first_line(statement: Statement) -> Span:
    """Where a statement begins, up to the end of the line."""
    source, start = statement.source, statement.start
    end = source.text.find("\n", start, statement.end)
    return Span(source, start, statement.end if end < 0 else end)


def _inside(function: Function) -> Iterator[Diagnostic]:
    """A function's parameters and what its body declares at the top are in one scope; inner braces are others."""
    frame: _Braces = Scope()
    for parameter in (*function.returns, *function.params):
        yield from _declare(frame, parameter)
    waiting: list[tuple[_Braces, tuple[Statement, ...]]] = []
    if function.body is not None:
        waiting.append((frame, function.body.statements))
    while waiting:
        frame, statements = waiting.pop()
        for one in statements:
            kind = type(one)
            if kind is Instruction:
                continue
            if isinstance(one, Declaration):
                yield from _declare(frame, one)
            elif isinstance(one, Label):
                yield from _label(frame, one)
            elif isinstance(one, Block):
                waiting.append((Scope(), one.statements))


def _declare(frame: _Braces, declaration: Declaration) -> Iterator[Diagnostic]:
    for declarator in declaration.declarators:
        name, this = declarator.name, (declaration, declarator)
        yield from _reserved(name, name_span(declaration, declarator))
        yield from _hides(declarator, name_span(declaration, declarator))
        first = _before(frame, declarator)
        if first is None:
            frame.declare(name, this, declarator.count)
        if first is not None:
            yield _twice(name, name_span(declaration, declarator), first)


def _reserved(name: str, span: Span, *, top: bool = False) -> Iterator[Diagnostic]:
    """Check names that have a predefined meaning; those of special registers may be hidden in a function only."""
    meaning = _RESERVED.get(name, "")
    if top and not meaning and special_register(name) is not None:
        meaning = "a special register"
    if meaning:
        yield error("reserved-name", f"`{name}` has a meaning already: {meaning}", span, "4.4")


def _hides(declarator: Declarator, span: Span) -> Iterator[Diagnostic]:
    """A name in a function may hide a special register.

    ptxas 13.5 sometimes confuses the two: after `ldmatrix` had written a declared `%laneid`, it stored the special
    register.
    """
    name = hidden_register(declarator.name, declarator.count)
    if name:
        message = f"`{name}` hides the special register of this name, and ptxas mixes up the two"
        yield Diagnostic("reserved-name", Severity.WARNING, message, span, "choose another name", "4.4")


def _before(frame: _Braces, declarator: Declarator) -> _Thing | None:
    """An earlier declaration of a name, or of one in a series, in the same braces."""
    name, count = declarator.name, declarator.count
    if count is None:
        return frame.own(name) or frame.labels.get(name)
    if name in frame.series:
        return frame.series[name].thing
    member = frame.inside(name, count)
    return None if member is None else frame.names[member]


def _label(frame: _Braces, label: Label) -> Iterator[Diagnostic]:
    yield from _reserved(label.name, word_span(label, label.name))
    first = frame.names.get(label.name) or frame.labels.get(label.name)
    if first is not None:
        yield _twice(label.name, word_span(label, label.name), first)
    frame.labels.setdefault(label.name, label)


def _variable(top: _Braces, declaration: Declaration, declarator: Declarator) -> Iterator[Diagnostic]:
    """Check a module variable: `.extern` ones may be redeclared, but must agree."""
    name, span = declarator.name, name_span(declaration, declarator)
    first = top.names.setdefault(name, (declaration, declarator))
    match first:
        case (Declaration() as earlier, before) if before is not declarator:
            if declaration.linkage != "extern" and earlier.linkage != "extern":
                yield _twice(name, span, first)
            elif difference := _unlike(earlier, before, declaration, declarator):
                yield _conflict(name, span, first, difference)
            elif earlier.linkage == "extern" and declaration.linkage == "":
                yield _conflict(name, span, first, "the `.extern` one refers to one that other modules can see")
            elif declaration.linkage != "extern":
                top.names[name] = declaration, declarator
        case Function():
            yield _twice(name, span, first)
        case _:
            pass


def _unlike(one: Declaration, first: Declarator, other: Declaration, second: Declarator) -> str:
    """How two declarations of a variable differ; a size may be left out."""
    if (one.type, one.vector) != (other.type, other.vector):
        return f"`{_type(other)}` here and `{_type(one)}` there"
    sizes = first.dimensions, second.dimensions
    if len(sizes[0]) != len(sizes[1]):
        return "one is an array of other dimensions"
    if any(None not in pair and pair[0] != pair[1] for pair in zip(*sizes, strict=True)):
        return "the sizes differ"
    return ""


def _type(declaration: Declaration) -> str:
    vector = f".v{declaration.vector} " if declaration.vector else ""
    return f"{vector}.{declaration.type}"


def _function(top: _Braces, function: Function) -> Iterator[Diagnostic]:
    """Check a function: it may be redeclared, in the same way, but not after its body."""
    span = word_span(function, function.name)
    first = top.names.setdefault(function.name, function)
    if first is function:
        return
    if not isinstance(first, Function) or first.body is not None:
        yield _twice(function.name, span, first)
        return
    if difference := _other_function(first, function):
        yield _conflict(function.name, span, first, difference)
    if function.body is not None:
        top.names[function.name] = function


def _other_function(first: Function, second: Function) -> str:
    """How two declarations of a function differ."""
    if first.kind != second.kind:
        return "one is a kernel, the other a function"
    if first.linkage != second.linkage and (second.linkage or first.linkage == "extern"):
        return f"{_linkage(second)} here and {_linkage(first)} there"
    if first.linkage == "extern" and second.body is not None:
        return "an `.extern` one has its body in another module"
    if _noreturn(first) != _noreturn(second):
        return "only one of them is `.noreturn`"
    return prototypes_differ(first, second)


def _linkage(function: Function) -> str:
    return f"`.{function.linkage}`" if function.linkage else "no linkage"


def _noreturn(function: Function) -> bool:
    return any(one.name == "noreturn" for one in function.directives)


def prototypes_differ(first: Function, second: Function) -> str:
    """How the parameters of two functions differ; empty if they do not."""
    for word, ones, others in (
        ("results", first.returns, second.returns),
        ("parameters", first.params, second.params),
    ):
        if len(ones) != len(others):
            return f"{len(others)} {word} here and {len(ones)} there"
        for place, (one, other) in enumerate(zip(ones, others, strict=True)):
            if _shape(one) != _shape(other):
                return f"number {place + 1} of its {word} differs"
    return ""


def _shape(parameter: Declaration) -> tuple[object, ...]:
    (declarator,) = parameter.declarators[:1] or (None,)
    dimensions = declarator.dimensions if declarator else ()
    return parameter.space, parameter.type, parameter.vector, dimensions, alignment_of(parameter)


def _twice(name: str, span: Span, first: _Thing) -> Diagnostic:
    return error(
        "duplicate-name",
        f"`{name}` is declared already",
        span,
        "5.2",
        label="a second one in the same scope",
        first=_where(first),
    )


def _conflict(name: str, span: Span, first: _Thing, difference: str) -> Diagnostic:
    message = f"`{name}` is declared again, and differently: {difference}"
    return error("conflicting-declaration", message, span, "11.6", first=_where(first))


def _where(thing: _Thing) -> Span:
    match thing:
        case Label():
            return word_span(thing, thing.name)
        case Function():
            return word_span(thing, thing.name)
        case (declaration, declarator):
            return name_span(declaration, declarator)
