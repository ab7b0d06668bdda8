"""Rules about one operand that is a register, a constant, or either: its kind, and whether its type fits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ptxloom.checker.core.classify import see
from ptxloom.checker.core.operand_kind import What
from ptxloom.checker.core.type_compatibility import constant_fits, register_fits, value_fits
from ptxloom.diagnostics import Fix, Label
from ptxloom.isa.spec import TRAITS
from ptxloom.isa.special import special_register
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.syntax.constants import constant
from ptxloom.syntax.tree import Component, Float, Indexed, Integer, Name, Unary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.checker.core.context import Site
    from ptxloom.checker.core.expected_operand import ExpectedOperand
    from ptxloom.checker.core.operand_kind import OperandKind
    from ptxloom.diagnostics import Diagnostic
    from ptxloom.syntax.tree import Operand


_WORD = 32  # bits


def scalar(site: Site, wanted: ExpectedOperand, operand: Operand) -> Iterator[Diagnostic]:  # noqa: C901, PLR0912 - one case a sort of operand
    """The findings about an operand that is one value."""
    it = see(operand, site.scope)
    if wanted.has("longest") and register_fits("b32", wanted.type):
        message = f"the addresses of `{site.name}` have 64 bits"
        yield site.error("address-size", message, site.span(operand), label="ptxas assembles no 32-bit programs")
        return
    match it.what:
        case What.UNKNOWN:
            yield undeclared(site, operand)
        case What.REGISTER:
            yield from _register(site, wanted, operand, it)
        case What.NEGATED:
            yield from _negated(site, wanted, operand, it)
        case What.PART:
            yield from _part(site, wanted, operand, it)
        case What.SINK if not wanted.has("sink"):
            yield site.error("sink", f"`_` cannot stand here: `{site.name}` needs {wanted.phrase}", site.span(operand))
        case What.SINK:
            return
        case What.SPECIAL if not wanted.written and wanted.has("special"):
            yield from _special(site, wanted, operand, it)
        case _ if wanted.written:
            message = f"`{site.name}` writes a register here, and `{site.span(operand).text}` is {it.what}"
            yield site.error("not-a-register", message, site.span(operand), label=wanted.about)
        case What.INTEGER | What.FLOAT if wanted.constants:
            yield from _constant(site, wanted, operand, it)
        case What.SUM if wanted.constants and wanted.takes_sums:
            if wanted.has("symbol"):
                yield from _in_space(site, wanted, operand, it)
            else:
                yield site.warning("operand-kind", _unusual(site, operand, "an address"), site.span(operand))
        case What.FUNCTION if wanted.has("symbol"):
            return
        case What.FUNCTION if wanted.takes_functions:
            yield site.warning("operand-kind", _unusual(site, operand, "a function"), site.span(operand))
        case What.VARIABLE | What.ELEMENT if wanted.has("symbol"):
            yield from _address_of(site, wanted, operand, it)
        case _:
            yield _wrong_kind(site, wanted, operand, it)


def undeclared(site: Site, operand: Operand) -> Diagnostic:
    """The finding that a name in an operand is declared nowhere."""
    while not isinstance(operand, Name):
        match operand:
            case Component(base, _) | Indexed(base, _):
                operand = base
            case Unary(_, inner):
                operand = inner
            case _:
                operand = Name(site.span(operand).text, start=operand.start)
    return site.undeclared(operand.text, site.span(operand))


def _register(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    if wanted.kind == "constant" or (isinstance(operand, Component) and _has_parts(site)):
        yield _wrong_kind(site, wanted, operand, it)
        return
    if wanted.fits(it.type):
        return
    if wanted.lets_pass(it.type):
        yield site.warning(
            "operand-type", f"{_mismatch(site, wanted, operand, it)}; ptxas lets it pass", site.span(operand)
        )
        return
    name = operand.base if isinstance(operand, Component) else operand
    symbol = site.scope.find(name.text) if isinstance(name, Name) else None
    related = (Label(site.span(symbol.declarator), f"declared `.{symbol.type}` here"),) if symbol else ()
    yield site.error(
        "operand-type",
        _mismatch(site, wanted, operand, it),
        site.span(operand),
        label=_why(wanted, it),
        related=related,
    )


def _mismatch(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> str:
    verb = "writes" if wanted.written else "takes"
    return f"`{site.span(operand).text}` is `.{it.type}`, and `{site.name}` {verb} `.{wanted.type}` here"


def _why(wanted: ExpectedOperand, it: OperandKind) -> str:
    """Why a register does not fit, for the label."""
    if not is_type(wanted.type):
        return wanted.about
    need = element_type(wanted.type)
    if need.kind is Kind.PREDICATE:
        return "only a predicate register fits"
    if it.type == "pred":
        return "a predicate is not a number"
    bits, have = need.register_bits, element_type(it.type).storage_bits if is_type(it.type) else 0
    if have < bits or (have > bits and not wanted.wider):
        return f"{have} bits where {'at least ' if wanted.wider else ''}{bits} are needed"
    return f"`.b{bits}`{f' or `.{wanted.type}`' if not is_packed(wanted.type) else ''} fits"


def is_packed(name: str) -> bool:
    """Whether registers are declared with another type than this one."""
    return name not in {"f16", "f16x2", "f32", "f64"} and not name[1:].isdigit()


def _negated(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    if (
        it.space == "!"
        and wanted.type == "pred"
        and it.type == "pred"
        and not wanted.written
        and wanted.kind == "value"
    ):
        return
    if it.space == "-" and wanted.has("minus"):
        return
    if it.space == "!" and wanted.type == "pred" and isinstance(operand, Unary) and not wanted.written:
        yield from _register(site, wanted, operand.operand, it)
        return
    message = f"`{site.name}` takes no `{it.space}` before this operand"
    fix = Fix("remove it", site.span(operand), site.span(operand).text[1:].lstrip())
    yield site.error("operand-kind", message, site.span(operand), fix=fix)


_PARTS = {
    "part": (re.compile(r"b[0-3]|h[01]"), re.compile(r"b[0-3]|h[01]")),
    "halves": (re.compile(r"h[0-3]{2}"), re.compile(r"h0|h1|h10")),
    "bytes": (re.compile(r"b[0-7]{4}"), re.compile(r"b3?2?1?0?")),
}
"""The parts that may be read, and those that may be written, of the video instructions (PTX ISA 9.7.18)."""


def _has_parts(site: Site) -> bool:
    """Whether an instruction takes parts of registers, and so no elements of vectors."""
    return any(trait in _PARTS for rule in site.spec.operands.values() for trait, _ in rule.traits)


_MERGED = 4  # operands of a video instruction that writes a part


def _part(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    trait = next((trait for trait in _PARTS if wanted.has(trait)), "")
    if not trait:
        message = f"`{site.name}` takes whole registers, not `.{it.space}` of one"
        yield site.error("operand-kind", message, site.span(operand))
    elif not _PARTS[trait][wanted.written].fullmatch(it.space):
        message = f"`{site.name}` has no part `.{it.space}` here"
        yield site.error("operand-kind", message, site.span(operand), label=f"it takes {TRAITS[trait]}")
    elif wanted.written and len(site.instruction.operands) < _MERGED:
        message = f"`{site.name}` writes a part of a register only with an operand to merge it with"
        yield site.error("operand-kind", message, site.span(operand))
    elif isinstance(operand, Component) and not wanted.fits(it.type):
        yield from _register(site, wanted, operand.base, it)


def _once(site: Site, wanted: ExpectedOperand, operand: Operand) -> bool:
    """Whether a special register may be read by the type that it had in older versions."""
    register = special_register(site.span(operand).text)
    return register is not None and bool(register.once) and wanted.fits(register.once)


def _special(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    if it.length and not wanted.has("whole"):
        message = f"`{site.span(operand).text}` is a vector; name one part, such as `{site.span(operand).text}.x`"
        yield site.error("operand-kind", message, site.span(operand))
    elif not it.length and not wanted.fits(it.type) and not _once(site, wanted, operand):
        narrow = it.type == "u32" and wanted.type in {"b16", "u16", "s16"}
        if narrow:
            message = f"{_mismatch(site, wanted, operand, it)}; ptxas lets it pass"
            yield site.warning("operand-type", message, site.span(operand))
        else:
            yield site.error(
                "operand-type", _mismatch(site, wanted, operand, it), site.span(operand), label=_why(wanted, it)
            )


def _constant(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    if not constant_fits(it.type, wanted.type, wanted.fixed) or (wanted.has("bits") and it.type == "f64"):
        yield site.error(
            "constant-type",
            f"`{site.name}` takes no {'floating-point constant' if it.type else 'integer'} as `.{wanted.type}`",
            site.span(operand),
            label=_constant_hint(wanted),
            fix=_constant_fix(site, wanted, operand),
        )
        return
    value, limits = _value(operand), wanted.limits
    if isinstance(operand, Float) and limits is not None and not limits.least < operand.value <= limits.most:
        message = f"`{site.name}` takes a number above {limits.least} and at most {limits.most}, not {operand.value:g}"
        yield site.error("constant-range", message, site.span(operand), label=wanted.about)
    if value is None:
        return
    if limits is not None and not limits.admit(value):
        words = str(limits)
        noun = "a number " if words.startswith(("from", "at least")) else ""
        message = f"`{site.name}` takes {noun}{words} here, not {value}"
        yield site.error("constant-range", message, site.span(operand), label=wanted.about)
    elif not value_fits(value, wanted.type):
        message = f"{value} does not fit in `.{wanted.type}`; ptxas keeps its low bits"
        yield site.warning("constant-range", message, site.span(operand))


def _value(operand: Operand) -> int | None:
    """The value of an integer constant; of a literal as written, even if 64 bits do not hold it."""
    return operand.value if isinstance(operand, Integer) else constant(operand)


def _constant_hint(wanted: ExpectedOperand) -> str:
    if not is_type(wanted.type) or element_type(wanted.type).count > 1:
        return "only a register fits"
    if element_type(wanted.type).kind is Kind.FLOAT:
        return (
            "write it with a decimal point, or as bits: `0f3F800000`"
            if wanted.type in {"f32", "f64"}
            else "only a register fits"
        )
    return "an integer constant fits"


def _constant_fix(site: Site, wanted: ExpectedOperand, operand: Operand) -> Fix | None:
    value = constant(operand)
    if value is None or wanted.type not in {"f32", "f64"} or abs(value) > 1 << 24:
        return None
    return Fix(f"write `{value}.0`", site.span(operand), f"{value}.0", is_safe=True)


def _address_of(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    """Check the name of a variable that stands for its address."""
    if it.space == "global" and is_type(wanted.type) and element_type(wanted.type).storage_bits == _WORD:
        message = f"the address of the global variable `{site.span(operand).text}` has 64 bits, not 32"
        yield site.error("address-size", message, site.span(operand), label="ptxas assembles no 32-bit programs")
        return
    if it.space == "param" and it.owner in {"", "returned"}:
        message = f"`{site.span(operand).text}` is passed by calls, and has no address"
        yield site.error("state-space", message, site.span(operand), label=wanted.about)
        return
    if wanted.space and it.space != wanted.space:
        yield from _in_space(site, wanted, operand, it)
        return
    need = element_type(wanted.type) if is_type(wanted.type) else None
    if need is None or need.kind in {Kind.FLOAT, Kind.PREDICATE}:
        yield _wrong_kind(site, wanted, operand, it)
    elif need.storage_bits < _WORD:
        message = f"an address of {need.storage_bits} bits is truncated; ptxas lets it pass"
        yield site.warning("operand-type", message, site.span(operand))


def _in_space(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Iterator[Diagnostic]:
    """Check the state space of a variable that stands for its address."""
    if wanted.space and it.space and it.space != wanted.space:
        text = site.span(operand).text
        message = f"`{site.name}` wants the address of a `.{wanted.space}` variable, and `{text}` is `.{it.space}`"
        yield site.error("state-space", message, site.span(operand))


def _unusual(site: Site, operand: Operand, what: str) -> str:
    return f"`{site.span(operand).text}` is {what} where `{site.name}` takes a value; ptxas lets it pass"


def _wrong_kind(site: Site, wanted: ExpectedOperand, operand: Operand, it: OperandKind) -> Diagnostic:
    text = site.span(operand).text
    label, fix = wanted.about, None
    if it.what is What.SPECIAL and not wanted.written:
        label = "only `mov` reads most special registers; copy it to a register first"
    elif it.what is What.VARIABLE:
        label = "load it with `ld`, or take its address with `mov`"
    elif it.what is What.VECTOR and text.count(",") == 0:
        fix = Fix("remove the braces", site.span(operand), text.strip("{} \t\n"), is_safe=True)
    message = f"`{site.name}` takes {wanted.phrase} here, and `{text}` is {it.what}"
    return site.error("operand-kind", message, site.span(operand), label=label, fix=fix)
