"""Rules about the directives in a function's header: numbers, what excludes or needs what (PTX ISA 11.4, 11.7)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from ptxloom.checker.core.lacking import lacking
from ptxloom.checker.findings.report import error
from ptxloom.diagnostics import Diagnostic, Fix, Label, Severity
from ptxloom.isa.pages.words import directives
from ptxloom.isa.spelling import near_misses
from ptxloom.syntax.tree import Function, Integer, String

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Platform
    from ptxloom.source import Span
    from ptxloom.syntax.module import Module
    from ptxloom.syntax.tree import PerformanceDirective

RULE: Final = "function-directive"
_LANGUAGES: Final = range(11)
_APART: Final = (("maxntid", "reqntid"), ("reqnctapercluster", "maxclusterrank"))
_MOST_THREADS: Final = 1024


def function_directives(module: Module, platform: Platform) -> Iterator[Diagnostic]:
    """The findings about the headers of a module's functions."""
    for function in module.statements:
        if isinstance(function, Function) and function.directives:
            for directive in function.directives:
                yield from _alone(function, directive, platform)
            yield from _together(function)


def _section(name: str) -> str:
    """The manual's section about a directive."""
    words = directives().get(name)
    return words.section if words else "11.4"


def _span(function: Function, directive: PerformanceDirective) -> Span:
    return directive.span_in(function.source)


def _bad(function: Function, directive: PerformanceDirective, message: str, label: str = "") -> Diagnostic:
    return error(RULE, message, _span(function, directive), _section(directive.name), label=label)


def _alone(function: Function, directive: PerformanceDirective, platform: Platform) -> Iterator[Diagnostic]:
    name = directive.name
    known = [words.name for words in directives().values() if words.of]
    if name not in known:
        span = _span(function, directive)
        near = near_misses(name, sorted(known))
        label = f"did you mean `.{near[0]}`?" if near else ""
        message = f"`.{name}` is not a directive of a function's header"
        yield error("unknown-directive", message, span, "11.4", label=label)
    elif why := _misplaced(function, name):
        yield _bad(function, directive, why)
    elif gone := directives()[name].gone:
        span = _span(function, directive)
        newer = Fix("write `.minnctapersm`", span, span.text.replace("maxnctapersm", "minnctapersm"), is_safe=True)
        yield error(RULE, f"`.{name}` was removed in PTX {gone}", span, _section(name), fix=newer)
    else:
        yield from _numbers(function, directive)
    yield from _available(function, directive, platform)


def _misplaced(function: Function, name: str) -> str:
    """Why a directive cannot stand in this header; empty if it can."""
    of = directives()[name].of
    if function.kind == "func" and of == "kernels":
        return f"`.{name}` is for kernels, and `{function.name}` is a function"
    if function.kind == "entry" and of == "functions":
        return f"`.{name}` is for functions, and `{function.name}` is a kernel"
    if function.body is None and (function.kind == "entry" or name == "language"):
        what = "kernel" if function.kind == "entry" else "function"
        return f"`.{name}` belongs where the {what} has its body"
    return f"`{function.name}` has results, so it returns" if name == "noreturn" and function.returns else ""


def _numbers(function: Function, directive: PerformanceDirective) -> Iterator[Diagnostic]:
    """The findings about the numbers that a directive takes."""
    name = directive.name
    numbers = [one.value for one in directive.values if isinstance(one, Integer)]
    words = directives()[name]
    if name == "language":
        yield from _languages(function, directive)
    if words.numbers is None:
        return
    _, most = words.numbers
    if len(numbers) != len(directive.values) or not numbers:
        yield _bad(function, directive, f"`.{name}` takes numbers")
    elif len(numbers) > most:
        yield _bad(function, directive, f"`.{name}` takes at most {most} number{'s' * (most > 1)}")
    elif any(one < words.least for one in numbers):
        yield _bad(function, directive, f"`.{name}` takes numbers from {words.least} on")
    elif name in {"maxntid", "reqntid"} and prod(numbers) > _MOST_THREADS:
        message = f"a CTA has at most {_MOST_THREADS:,} threads, and this says {prod(numbers):,}"
        yield _warning(function, directive, message)


def _languages(function: Function, directive: PerformanceDirective) -> Iterator[Diagnostic]:
    """The findings about languages; the numbers are those that ptxas 13.5 accepts; not all names are known."""
    for one in directive.values:
        match one:
            case String():
                pass
            case Integer(value) if value not in _LANGUAGES:
                yield _bad(function, directive, f"languages have numbers from 0 to {_LANGUAGES[-1]}, not {value}")
            case Integer():
                pass
            case _:
                yield _bad(function, directive, "`.language` takes names in quotes and numbers")
    if function.kind == "func" and next(d for d in function.directives if d.name == "language") is not directive:
        yield _bad(function, directive, "a function states `.language` once, with commas between the languages")


def _available(function: Function, directive: PerformanceDirective, platform: Platform) -> Iterator[Diagnostic]:
    words = directives().get(directive.name)
    if words is None or words.place != "header":
        return
    yield from lacking(f".{directive.name}", words.needs, platform, _span(function, directive), words.section)


def _together(function: Function) -> Iterator[Diagnostic]:
    """Check the directives of one function against each other."""
    found = {one.name: one for one in reversed(function.directives)}
    for pair in _APART:
        if all(one in found for one in pair):
            first, second = sorted((found[one] for one in pair), key=lambda one: one.start)
            yield error(
                RULE,
                f"`.{pair[0]}` and `.{pair[1]}` exclude each other",
                _span(function, second),
                _section(second.name),
                first=_span(function, first),
                said="the other one",
            )
    lacking = [one for one in ("reqntid", "reqnctapercluster") if one not in found]
    if "blocksareclusters" in found and lacking:
        message = f"`.blocksareclusters` needs `.{'` and `.'.join(lacking)}`"
        yield _bad(function, found["blocksareclusters"], message)
    if "minnctapersm" in found and not {"maxntid", "reqntid"} & found.keys() and function.kind == "entry":
        message = "`.minnctapersm` has no effect without `.maxntid` or `.reqntid`"
        yield _warning(function, found["minnctapersm"], message, "ptxas ignores it")


def _warning(function: Function, directive: PerformanceDirective, message: str, label: str = "") -> Diagnostic:
    related: tuple[Label, ...] = ()
    return Diagnostic(RULE, Severity.WARNING, message, _span(function, directive), label, "11.4", related=related)
