"""Rules about calls (PTX ISA 7.1, 9.7.12.5): the callee is known, and what is passed is what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from ptxloom.checker.fit import register_fits
from ptxloom.checker.seen import What, see
from ptxloom.checker.values import undeclared
from ptxloom.diagnostics import Label
from ptxloom.isa.types import element_type, is_type
from ptxloom.syntax.tree import Arguments, CallPrototype, Function, Name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.site import Site
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Declaration, Operand

_BYTE = 8  # bits


@dataclass(frozen=True, slots=True)
class Call:
    """The operands of a call, by what they are."""

    result: tuple[Operand, ...]
    callee: Operand
    passed: tuple[Operand, ...]
    targets: Operand | None


def call(site: Site) -> Iterator[Diagnostic]:
    """The findings about a call."""
    if site.opcode != "call":
        return
    it = _read(site.instruction.operands)
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
            message = f"`{site.span(it.callee).text}` names no function that is declared before here"
            yield site.error("undeclared-name", message, site.span(it.callee), label="declare it with `.func`")
        case _:
            message = f"`call` takes a function here, and `{site.span(it.callee).text}` is {callee.what}"
            yield site.error("call-target", message, site.span(it.callee))


def _read(operands: tuple[Operand, ...]) -> Call | None:
    result: tuple[Operand, ...] = ()
    if operands and isinstance(operands[0], Arguments):
        result, operands = operands[0].elements, operands[1:]
    if not operands:
        return None
    callee, rest = operands[0], operands[1:]
    passed: tuple[Operand, ...] = ()
    if rest and isinstance(rest[0], Arguments):
        passed, rest = rest[0].elements, rest[1:]
    return Call(result, callee, passed, rest[0] if rest else None)


def _direct(site: Site, it: Call, function: Function) -> Iterator[Diagnostic]:
    if function.kind == "entry":
        message = f"`{function.name}` is a kernel, and a call goes to a `.func`"
        yield site.error("call-target", message, site.span(it.callee))
        return
    if it.targets is not None:
        message = f"`{function.name}` is called by its name, which needs no list of targets"
        yield site.error("call-target", message, site.span(it.targets))
    yield from _matches(site, it, function)


def _indirect(site: Site, it: Call, register: str) -> Iterator[Diagnostic]:
    span = site.span(it.callee)
    if not (register_fits(register, "u64") or register_fits(register, "u32")):
        message = f"the address of a function is an integer of 64 bits, and `{span.text}` is `.{register}`"
        yield site.error("operand-type", message, span)
    elif it.targets is None:
        message = f"a call through `{span.text}` names its candidates: a `.callprototype` or `.calltargets`"
        yield site.error("call-target", message, span, label="add the label of one")
    elif not isinstance(it.targets, Name) or see(it.targets, site.scope).what is not What.LABEL:
        yield undeclared(site, it.targets)
    elif isinstance(prototype := site.scope.labels.get(it.targets.text), CallPrototype):
        yield from _matches(site, it, prototype)


def _matches(site: Site, it: Call, signature: Function | CallPrototype) -> Iterator[Diagnostic]:
    """What is passed and returned, one by one, against the signature."""
    sides = ((it.result, signature.returns, "returns"), (it.passed, signature.params, "takes"))
    for given, formal, verb in sides:
        if verb == "takes" and formal and _open(formal[-1]):
            formal = formal[: min(len(formal) - 1, len(given))]  # noqa: PLW2901 - the rest may be anything
        elif len(given) != len(formal):
            name = signature.name if isinstance(signature, Function) else "the prototype"
            message = f"`{name}` {verb} {len(formal)} {'value' if len(formal) == 1 else 'values'}, not {len(given)}"
            where = site.span(given[-1]) if given else site.span(it.callee)
            yield site.error("call-signature", message, where, related=(Label(signature.span, "declared here"),))
            continue
        for one, parameter in zip(given, formal, strict=False):
            yield from _argument(site, one, parameter)


def _open(parameter: Declaration) -> bool:
    """Whether a parameter stands for any number of arguments: `.param .b8 rest[]`."""
    return any(None in each.dimensions for each in parameter.declarators)


def _argument(site: Site, given: Operand, parameter: Declaration) -> Iterator[Diagnostic]:
    it = see(given, site.scope)
    span = site.span(given)
    match it.what:
        case What.UNKNOWN:
            yield undeclared(site, given)
        case What.REGISTER:
            yield from _size(site, given, element_type(it.type).storage_bits if is_type(it.type) else 0, parameter)
        case What.VARIABLE if it.space == "param" and isinstance(given, Name):
            yield from _variable(site, given, parameter)
        case What.INTEGER | What.FLOAT | What.SINK:
            return
        case What.VARIABLE:
            message = f"a call passes registers and `.param` variables, and `{span.text}` is `.{it.space}`"
            yield site.error("call-signature", message, span)
        case _:
            message = f"a call passes registers, `.param` variables and constants, and `{span.text}` is {it.what}"
            yield site.error("call-signature", message, span)


def _variable(site: Site, given: Name, parameter: Declaration) -> Iterator[Diagnostic]:
    symbol = site.scope.find(given.text)
    if symbol is None:
        return
    if symbol.declarator.start in site.scope.formal:
        message = f"`{given.text}` is a parameter of the caller, and a call cannot use it as it is"
        label = "copy it to a register or to a `.param` variable of the body"
        yield site.error("call-signature", message, site.span(given), label=label)
        return
    bits = _bits(symbol.type, symbol.vector, symbol.declarator.dimensions)
    findings = tuple(_size(site, given, bits, parameter))
    yield from findings
    needed = parameter.alignment
    if not findings and needed > symbol.alignment:
        message = f"the parameter is aligned to {needed} bytes, and `{given.text}` to {symbol.alignment}"
        related = (Label(site.span(symbol.declarator), "declared here"), Label(parameter.span, "the parameter"))
        yield site.error("call-signature", message, site.span(given), related=related)


def _size(site: Site, given: Operand, bits: int, parameter: Declaration) -> Iterator[Diagnostic]:
    expected = sum(_bits(parameter.type, parameter.vector, each.dimensions) for each in parameter.declarators)
    if bits and expected and bits != expected:
        message = f"the parameter has {expected // _BYTE} bytes, and `{site.span(given).text}` has {bits // _BYTE}"
        related = (Label(parameter.span, "the parameter"),)
        yield site.error("call-signature", message, site.span(given), related=related)


def _bits(type_: str, vector: int, dimensions: tuple[int | None, ...]) -> int:
    element = element_type(type_).storage_bits if is_type(type_) else 0
    return element * max(1, vector) * prod(each or 0 for each in dimensions)
