"""Rules about calls (PTX ISA 7.1, 9.7.12.5): the callee is known, and the arguments match its parameters."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ptxloom.binding.call_graph import call_of
from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.core.scope import After
from ptxloom.checker.core.type_compatibility import register_fits
from ptxloom.checker.instruction.call_arguments import conventional, parameter_of, passes
from ptxloom.checker.instruction.values import undeclared
from ptxloom.diagnostics import Label
from ptxloom.syntax.tree import CallPrototype, CallTargets, Function, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.binding.call_graph import Call
    from ptxloom.checker.core.context import Site
    from ptxloom.checker.instruction.call_arguments import Passed
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Declaration, Instruction, Operand


def call(site: Site) -> Iterator[Diagnostic]:
    """The findings about a call."""
    if site.opcode != "call":
        return
    it = call_of(site.instruction)
    if it is None:
        yield site.error("operand-count", "`call` names no function", site.bound.qualifier_span(-1))
        return
    callee = see(it.callee, site.scope)
    match callee.what:
        case What.FUNCTION if isinstance(it.callee, Name):
            yield from _direct(site, it, site.scope.functions[it.callee.text])
        case What.REGISTER:
            yield from _indirect(site, it, callee.type)
        case What.UNKNOWN | What.LABEL:
            message = f"`{site.span(it.callee).text}` names no function that is declared before this point"
            yield site.error("undeclared-name", message, site.span(it.callee), label="declare it with `.func`")
        case _:
            message = f"`call` takes a function here, and `{site.span(it.callee).text}` is {callee.what}"
            yield site.error("call-target", message, site.span(it.callee))


def given_back(instruction: Instruction) -> Iterator[str]:
    """The names of the variables that an instruction returns, if it is a call."""
    it = call_of(instruction)
    return (one.text for one in it.results if isinstance(one, Name)) if it else iter(())


def _direct(site: Site, it: Call, function: Function) -> Iterator[Diagnostic]:
    if function.kind == "entry":
        message = f"`{function.name}` is a kernel, and a call goes to a `.func`"
        yield site.error("call-target", message, site.span(it.callee))
        return
    if it.targets is not None:
        message = f"`{function.name}` is called by its name, so it needs no list of targets"
        yield site.error("call-target", message, site.span(it.targets))
    yield from _matches(site, it, function)


def _indirect(site: Site, it: Call, register: str) -> Iterator[Diagnostic]:
    span = site.span(it.callee)
    if not (register_fits(register, "u64") or register_fits(register, "u32")):
        message = f"the address of a function is an integer of 64 bits, and `{span.text}` is `.{register}`"
        yield site.error("operand-type", message, span)
    elif it.targets is None:
        message = f"a call through `{span.text}` needs its candidates: a `.callprototype` or `.calltargets`"
        yield site.error("call-target", message, span, label="add the label of one")
    elif not isinstance(it.targets, Name) or see(it.targets, site.scope).what is not What.LABEL:
        yield undeclared(site, it.targets)
    else:
        yield from _candidates(site, it, it.targets)


def _candidates(site: Site, it: Call, targets: Name) -> Iterator[Diagnostic]:
    """Check the candidates of an indirect call: the functions of a prototype or of a list."""
    match site.scope.label(targets.text):
        case After(CallPrototype() as prototype):
            yield from _matches(site, it, prototype)
        case After(CallTargets(names)):
            candidates = site.scope.candidates(names, partial(_kinds, site, names))
            wrong = (tuple(_matches(site, it, one)) for one in candidates)
            yield from next((findings for findings in wrong if findings), ())
        case _:
            return


def _kinds(site: Site, names: tuple[Name, ...]) -> tuple[Function, ...]:
    """The first function of each signature in a list: a call that matches it matches the others."""
    kinds: dict[tuple[tuple[Passed, bool] | None, ...], Function] = {}
    for name in names:
        one = site.scope.functions.get(name.text)
        if one is not None and one.kind == "func":
            formal = (*one.returns, None, *one.params)
            kinds.setdefault(tuple(each and (parameter_of(each), _open(each)) for each in formal), one)
    return tuple(kinds.values())


def _matches(site: Site, it: Call, signature: Function | CallPrototype) -> Iterator[Diagnostic]:
    """Check arguments and results one by one against the signature."""
    sound = True
    for given, formal, returned in ((it.results, signature.returns, True), (it.passed, signature.params, False)):
        fewest = len(formal) - (not returned and bool(formal) and _open(formal[-1]) and it.listed)
        if not fewest <= len(given) <= len(formal):
            sound = False
            yield _count(site, it, signature, given, formal, returned=returned)
            continue
        for one, parameter in zip(given, formal, strict=False):
            findings = tuple(passes(site, one, parameter, returned=returned))
            sound = sound and not findings
            yield from findings
    if sound:
        kept = [one for given, one in zip(it.results, signature.returns, strict=True) if not _is_sink(given)]
        yield from conventional(site, (*kept, *signature.params), it.callee)


def _count(
    site: Site,
    it: Call,
    signature: Function | CallPrototype,
    given: tuple[Operand, ...],
    formal: tuple[Declaration, ...],
    *,
    returned: bool,
) -> Diagnostic:
    name = signature.name if isinstance(signature, Function) else "the prototype"
    values = f"{len(formal)} {'value' if len(formal) == 1 else 'values'}"
    message = f"`{name}` {'returns' if returned else 'takes'} {values}, not {len(given)}"
    where = site.span(given[-1]) if given else site.span(it.callee)
    return site.error("call-signature", message, where, related=(Label(signature.span, "declared here"),))


def _is_sink(given: Operand) -> bool:
    return isinstance(given, Name) and given.text == "_"


def _open(parameter: Declaration) -> bool:
    """Whether a parameter stands for any number of arguments: `.param .b8 rest[]`."""
    return any(None in each.dimensions for each in parameter.declarators)
