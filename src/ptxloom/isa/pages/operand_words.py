"""Describes what is legal for an operand by its rule: a register of a type, a vector of some length, an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.spec import RESTRICTIONS, TRAITS, Condition
from ptxloom.isa.types import is_type
from ptxloom.isa.vectors import fragment_register, split_length, vector_length

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.form import Form
    from ptxloom.isa.spec import OperandRule

_SYMBOLS: Final = {
    "label": "a label",
    "function": "a function, or a register",
    "targets": "the name of a `.branchtargets` list",
    "prototype": "the name of a `.calltargets` list or a `.callprototype`",
    "texture": "a texture: a variable, or a 64-bit register that refers to one",
    "sampler": "a sampler: a variable, or a 64-bit register that refers to one",
    "surface": "a surface: a variable, or a 64-bit register that refers to one",
}
_LENGTHS: Final = {
    "-": "as many as `{}` says less {}",
    "*": "{1} times as many as `{0}` says",
    "/": "one for each {1} that `{0}` says",
}


def operand_words(rule: OperandRule, form: Form | None = None) -> str:
    """A phrase for what an operand may be; with a form, in its types and numbers.

    Example:
        >>> from ptxloom.isa.resolution.forms import resolve
        >>> form = resolve("ldmatrix", ("sync", "aligned", "m8n8", "x4", "shared", "b16")).form
        >>> operand_words(form.spec.operands["r"]), operand_words(form.spec.operands["r"], form)
        ('written; a fragment: registers of type `.b32`', 'written; a vector of 4 registers of type `.b32`')
    """
    return "; ".join(_parts(rule, form))


def _parts(rule: OperandRule, form: Form | None) -> Iterator[str]:
    if rule.written:
        yield "written"
    traits = [(word, when) for word, when in rule.traits if form is None or when.holds(form.filling)]
    yield _kind(rule, form) + "".join(f", or {_trait(*each, form)}" for each in traits if each[0] not in RESTRICTIONS)
    yield from (_trait(*each, form) for each in traits if each[0] in RESTRICTIONS)
    if rule.since is not None:
        yield f"a register of type `.{rule.type}` since PTX {rule.since}"
    if rule.limits is not None:
        yield str(rule.limits) if rule.kind == "constant" else f"a constant is {rule.limits}"
    if rule.space[:1] != "." and rule.space:
        yield f"a variable in `.{rule.space}`"
    if rule.when and form is None:
        yield f"stands where `.{rule.when}` does"


def _trait(word: str, when: Condition, form: Form | None) -> str:
    return TRAITS[word] + (f" where {when}" if when.allowed and form is None else "")


def _kind(rule: OperandRule, form: Form | None) -> str:  # noqa: PLR0911, C901 - one return a kind
    of = _of(rule, form)
    match rule.kind:
        case "register":
            return "a predicate register" if rule.type == "pred" else f"a register{of}"
        case "value":
            return "a predicate" if rule.type == "pred" else f"a register or a constant{of}"
        case "constant":
            return f"a constant{of}"
        case "vector":
            return _vector(rule, form, of)
        case "fragment":
            return f"{_registers(rule, form) or 'a fragment: registers'}{of}"
        case "factor":
            lane = f"{_registers(rule, form) or 'registers'}{of}"
            return f"a fragment ({lane}), or a 64-bit descriptor of shared memory"
        case "place":
            whole = "" if rule.length == "coordinates" else ", without array index and sample"
            return f"{_registers(rule, form) or 'a vector, as long as `.geom` asks'}{of}{whole}"
        case "address":
            return _address(rule, form)
        case "symbol":
            return _SYMBOLS.get(rule.type, "a name")
        case "list":
            return "a list in parentheses"
        case "sink":
            return "`_`"
        case _:
            return rule.type or "anything"


def _of(rule: OperandRule, form: Form | None) -> str:
    """The type, as " of type `.b32`"; for a form, by its qualifier; empty if there is no type."""
    if form is not None and rule.kind == "fragment":
        return f" of type `.{fragment_register(form, rule.name)}`"
    if form is not None and rule.kind == "factor" and not vector_length(form, rule.name):
        return ""
    slot, doubled, _ = rule.type.partition("*2")
    found = form.filling.get(slot[1:], "") if form is not None and slot[:1] == "." else slot
    if not found:
        return ""
    twice = " twice as wide as" if doubled else ""
    named = found if found[:1] == "." else f".{found}"
    of = "elements of type" if rule.kind in {"fragment", "factor"} and found[:1] == "." else "type"
    return f" of {of}{twice} `{named}`" if found[:1] == "." or is_type(found) else ""


def _registers(rule: OperandRule, form: Form | None) -> str:
    """A vector whose length depends on the form."""
    length = vector_length(form, rule.name) if form is not None else 0
    return f"a vector of {length} registers" if length > 1 else "a vector of one register" if length else ""


def _vector(rule: OperandRule, form: Form | None, of: str) -> str:
    """A vector whose length is a number or the value of a qualifier; without that qualifier a single value."""
    name, sign, number = split_length(rule.length)
    if name[:1] != ".":
        return f"a vector of {name} registers{of}"
    if form is not None:
        return _registers(rule, form) + of if vector_length(form, rule.name) else f"a register or a constant{of}"
    if sign:
        return f"a vector of registers{of}, {_LENGTHS[sign].format(name, number)}"
    if name == ".vec":
        return f"a register{'' if rule.written else ' or a constant'}{of}, or with `.vec` a vector of that length"
    return f"a vector of registers{of}, as many as `{name}` says"


def _address(rule: OperandRule, form: Form | None) -> str:
    """An address and its space."""
    if rule.type == "tensor":
        return "an address in tensor memory"
    if rule.type[:1] != ".":
        return f"an address in `.{rule.type}`" if rule.type else "an address"
    if form is None:
        return f"an address in the space that `{rule.type}` names"
    found = form.filling.get(rule.type[1:], "")
    return f"an address in `.{found}`" if found else "a generic address"
