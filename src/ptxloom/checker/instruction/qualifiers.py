"""Rules about the qualifiers of an instruction: no form fits, or ptxas is laxer than the manual."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from ptxloom.diagnostics import Fix, Label
from ptxloom.isa.matrix import MOVES
from ptxloom.isa.resolution.forms import resolve
from ptxloom.isa.resolution.phrase import listing, sentence, spell
from ptxloom.isa.resolution.problem import (
    Broken,
    Clash,
    Crowded,
    Disordered,
    Misread,
    Missing,
    NoForm,
    Problem,
    Repeated,
    TooMany,
    Unknown,
)
from ptxloom.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.isa.spec import Constraint

MISSING_BY_WORD = {"trans": "missing-trans", "aligned": "missing-aligned", "sync": "missing-aligned"}
"""The qualifiers whose absence has a rule of its own."""


def form_exists(site: Site) -> Iterator[Diagnostic]:
    """The qualifiers name a form of the instruction."""
    for problem in site.bound.problems:
        yield _finding(site, problem)


def tolerated(site: Site) -> Iterator[Diagnostic]:
    """Warnings about qualifiers that ptxas accepts although the manual does not."""
    resolution, words = site.bound.resolution, site.instruction.qualifiers
    for place in resolution.repeated:
        span = site.bound.qualifier_span(place)
        message = f"`.{words[place]}` appears twice; ptxas lets it pass, the manual does not"
        yield site.warning("repeated-sync", message, span, fix=Fix("remove the second one", span, "", is_safe=True))
    for place in resolution.ignored:
        span = site.bound.qualifier_span(place)
        message = f"`{site.opcode}` takes no `.{words[place]}`; ptxas ignores it"
        yield site.warning("ignored-qualifier", message, span, fix=Fix("remove it", span, "", is_safe=True))
    for constraint in resolution.form.laxities if resolution.form else ():
        yield site.warning(
            "beyond-manual",
            f"the manual has no such `{site.opcode}`; ptxas assembles it",
            _place_of(site, constraint),
            label=constraint.why,
        )
    if resolution.displaced is not None and resolution.form is not None and site.opcode in MOVES:
        # Elsewhere the compilers themselves take any order.
        yield site.warning(
            "qualifier-order",
            f"`.{words[resolution.displaced]}` is not in the manual's order; ptxas takes any order",
            site.bound.qualifier_span(resolution.displaced),
            label="the manual puts it earlier",
            fix=_reordered(site, resolution.form.spelling),
        )


def _place_of(site: Site, constraint: Constraint) -> Span:
    """The qualifier that a constraint is about; the opcode if that qualifier is missing."""
    written = {name: word for name in site.bound.qualifiers if (word := site.bound.qualifiers[name])}
    about = [written[name] for name, _ in (*constraint.require.allowed, *constraint.when.allowed) if name in written]
    words = site.instruction.qualifiers
    return site.bound.qualifier_span(next((words.index(word) for word in about if word in words), -1))


def _reordered(site: Site, spelling: str) -> Fix | None:
    last = len(site.instruction.qualifiers) - 1
    first, end = site.bound.qualifier_span(-1), site.bound.qualifier_span(last)
    if first.start >= end.end:
        return None
    return Fix(f"write `{spelling}`", Span(first.source, first.start, end.end), spelling, is_safe=True)


def _finding(site: Site, problem: Problem) -> Diagnostic:  # noqa: PLR0911 - one return a kind of problem
    words = site.instruction.qualifiers
    message = sentence(site.opcode, words, problem)
    at = site.bound.qualifier_span
    match problem:
        case Unknown(place, near, expected):
            return _unknown(site, message, place, near, expected)
        case Misread(place, taken_as, _):
            fix = Fix(f"write `.{taken_as}` if that is what is meant", at(place), f".{taken_as}")
            label = "the result is not what is written"
            return site.error("misread-num", message, at(place), label=label, fix=fix)
        case Repeated(place, first):
            fix = Fix("remove the second one", at(place), "", is_safe=True)
            related = (Label(at(first), "it is here already"),)
            return site.error("repeated-qualifier", message, at(place), fix=fix, related=related)
        case Crowded(place, first, slot):
            related = (Label(at(first), f"this is the `.{slot}` already"),)
            return site.error("repeated-qualifier", message, at(place), related=related)
        case Disordered(place, first):
            related = (Label(at(first), "this one comes after it"),)
            return site.error("type-order", message, at(place), related=related)
        case Clash():
            return _clash(site, message, problem)
        case Missing():
            return _missing(site, message, problem)
        case Broken(place, instead, why):
            fix = Fix(f"write `.{instead[0]}`", at(place), f".{instead[0]}") if len(instead) == 1 else None
            fix = fix if any(instead) else Fix("remove it", at(place), "")
            return site.error("no-form", message, at(place), label=why, fix=fix)
        case NoForm() | TooMany():
            return site.error("no-form", message, at(-1))
        case _:
            assert_never(problem)


def _unknown(site: Site, message: str, place: int, near: tuple[str, ...], expected: tuple[str, ...]) -> Diagnostic:
    span = site.bound.qualifier_span(place)
    likely = near or expected
    words = site.instruction.qualifiers
    fix = Fix(f"write `.{likely[0]}`", span, f".{likely[0]}") if len(likely) == 1 else None
    if fix is None and not likely and resolve(site.opcode, (*words[:place], *words[place + 1 :])).form is not None:
        fix = Fix("remove it", span, "")
    label = f"found {listing(expected)}" if expected and near else "no form of the instruction has it"
    return site.error("unknown-qualifier", message, span, label=label, fix=fix)


def _clash(site: Site, message: str, problem: Clash) -> Diagnostic:
    words, at = site.instruction.qualifiers, site.bound.qualifier_span
    fix = None
    if len(problem.instead) == 1:
        row = problem.instead[0]
        fix = Fix(f"write `{spell(row)}`" if row else "remove it", at(problem.place), spell(row))
    other = any(problem.instead_of_other)
    return site.error(
        "qualifier-combination",
        message,
        at(problem.place),
        label=problem.why,
        help=f"or keep `.{words[problem.place]}`: it goes with {listing(problem.instead_of_other)}" if other else "",
        fix=fix,
        related=(Label(at(problem.other), "does not go with this"),),
    )


def _missing(site: Site, message: str, problem: Missing) -> Diagnostic:
    at = site.bound.qualifier_span
    rules = {MISSING_BY_WORD.get(word, "missing-qualifier") for row in problem.additions for word in row}
    after = at(problem.after)
    fix = None
    if len(problem.additions) == 1:
        row = problem.additions[0]
        safe = rules == {"missing-aligned"}  # without them, nothing else can be meant
        fix = Fix(f"add `{spell(row)}`", Span(after.source, after.end, after.end), spell(row), is_safe=safe)
    return site.error(
        min(rules) if len(rules) == 1 else "missing-qualifier",
        message,
        at(problem.because),
        label=problem.why,
        help="" if fix else f"add one of {listing(problem.additions)}",
        fix=fix,
    )
