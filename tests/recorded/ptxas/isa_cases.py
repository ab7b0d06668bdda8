"""Instructions made from the ISA data alone, legal and illegal, for ptxas to judge."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ptxloom.diagnostics import UsageError
from ptxloom.isa import Target, instruction_spec
from ptxloom.isa.form import Form
from ptxloom.isa.prove import some_forms
from ptxloom.isa.resolution.forms import resolve
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.isa.vectors import vector_length
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.isa.notation import OperandSlot
    from ptxloom.isa.spec import OperandRule

_BITS = (8, 16, 32, 64, 128)
MOST_REGISTERS = 260  # the longest vectors of one instruction together, and some more
KERNEL = " ".join(
    (
        *(f".reg .b{bits} b{bits}r<{MOST_REGISTERS if bits in (32, 64) else 20}>;" for bits in _BITS),
        ".reg .pred p<20>;",
        ".local .align 16 .b8 loc[64]; .param .b64 inner;",
        "branches: .branchtargets label; prototype: .callprototype _ ();",
        "taking: .callprototype _ (.param .b32 _); giving: .callprototype (.param .b32 _) _ (.param .b32 _);",
    )
)
HEAD = (
    ".visible .global .align 128 .b8 glo[256]; .const .align 16 .b8 con[64];"
    " .global .texref texture; .global .surfref surface;"
    " .shared .align 128 .b8 sha[1024]; .func (.param .b32 r) callee(.param .b32 a) { ret; } .func plain() { ret; }"
    " .func taker(.param .b32 a) { ret; }"
)
FIRST_LINE = 6
_APART = {"data": 0, "cdata": 128, "mdata": 192}  # the registers of these must not overlap: ptxas fails inside
_BYTE = re.compile("[bsu]8")
WIDEST = PtxVersion(8, 3)  # has registers of 128 bits

STRANGERS = (
    *("sat", "ftz", "rn", "rz", "rna", "approx", "full", "lo", "hi", "wide", "relu", "satfinite", "NaN", "abs", "cc"),
    *(
        "sync",
        "aligned",
        "uni",
        "shared",
        "global",
        "shared::cta",
        "relaxed",
        "acquire",
        "gpu",
        "cta",
        "v2",
        "v4",
        "to",
    ),
    *("x2", "noftz", "volatile", "L2::128B", "L2::cache_hint", "cg", "cs", "eq", "and", "add", "clamp", "wrap", "trap"),
    *("multicast::cluster", "m16n8k16", "row", "noinc", "read"),
)
TYPES = (
    *("b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "f16x2", "bf16"),
    *("bf16x2", "f32", "f64", "tf32", "e4m3x2", "e5m2x2", "e2m1x2", "u16x2", "s16x2", "f32x2", "pred", "ue8m0x2"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """An instruction, and the row of qualifiers that it is about."""

    opcode: str
    words: tuple[str, ...]
    text: str
    count: int


def module_text(version: str, target: str, lines: tuple[str, ...]) -> str:
    """A module with one line for each of `lines`, the first at `FIRST_LINE`."""
    body = "\n".join(lines)
    names = KERNEL if PtxVersion.parse(version) >= WIDEST else KERNEL.replace(".reg .b128 b128r<20>;", "")
    head = f".version {version}\n.target {target}\n.address_size 64\n{HEAD}\n.entry k(.param .b64 par) {{ {names}\n"
    return f"{head}{body}\nlabel: ret; }}\n"


def legal(opcode: str, most: int) -> Iterator[Case]:
    """Forms of an opcode, at most `most` from each syntax line, and every number of operands they take."""
    spec = instruction_spec(opcode)
    chance = random.Random(opcode)
    found = list(some_forms(spec))
    for line in spec.lines:
        here = [form for form in found if form.line is line]
        for form in chance.sample(here, min(most, len(here))):
            for count in _counts(form):
                yield Case(opcode, form.words, text(form.spelling, form, count), count)


def _counts(form: Form) -> Iterator[int]:
    """The numbers of operands that a form takes: some operands may be missing only where the data says so."""
    for count in form.counts:
        missing = {slot.name for slot in form.line.operands} - {slot.name for slot in form.operands(count)}
        spare = [when for name in missing for word, when in form.spec.operands[name].traits if word == "spare"]
        if not spare or any(when.holds(form.filling) for when in spare):
            yield count


def mutants(opcode: str, most: int) -> Iterator[Case]:
    """Forms with one qualifier changed, left out or put in; operands as the changed row of qualifiers wants them."""
    spec = instruction_spec(opcode)
    chance = random.Random(opcode)
    found = list(some_forms(spec))
    vocabulary = sorted({value for line in spec.lines for slot in line.slots for value in slot.values})
    seen: set[tuple[str, ...]] = set()
    for line in spec.lines:
        here = [form for form in found if form.line is line]
        for form in chance.sample(here, min(most, len(here))):
            for filling in _changed(form, vocabulary, chance):
                words = tuple(word for word in filling.values() if word)
                if words not in seen and len(set(words)) == len(words):
                    seen.add(words)
                    yield _mutant(form, Form(spec, line, filling), words)


def _changed(form: Form, vocabulary: list[str], chance: random.Random) -> Iterator[dict[str, str]]:
    for name, value in form.filling.items():
        if not value:
            continue
        pool = TYPES if is_type(value) else (*vocabulary, *STRANGERS)
        yield {**form.filling, name: ""}
        for other in chance.sample(pool, 5):
            yield {**form.filling, name: other}
    for word in (*chance.sample(vocabulary, min(4, len(vocabulary))), *chance.sample(STRANGERS, 3)):
        places = list(form.filling.items())
        at = chance.randint(0, len(places))
        yield dict([*places[:at], ("", word), *places[at:]])


def _mutant(original: Form, form: Form, words: tuple[str, ...]) -> Case:
    """The mutant with the operands of the form it turns out to be, or of the one it was."""
    meant = resolve(form.opcode, words).form or form
    count = next(_counts(meant))
    spelling = ".".join((form.opcode, *words))
    try:
        return Case(form.opcode, words, text(spelling, meant, count), count)
    except (UsageError, KeyError, ValueError, IndexError):  # the shape of a matrix is gone, or the type of its elements
        return Case(form.opcode, words, text(spelling, original, count), count)


def text(spelling: str, form: Form, count: int) -> str:
    """A statement with operands made up by what the data says of them."""
    slots = form.operands(count)
    if form.opcode == "call":
        return _call(spelling, {slot.name for slot in slots})
    return f"{spelling} {', '.join(islice(_operands(slots, form), None))};".replace(" ;", ";")


def _call(spelling: str, operands: set[str]) -> str:
    """A call with these operands: of a function that takes and gives so much, or by a prototype that says so."""
    kind = 2 if "result" in operands else 1 if "params" in operands else 0
    indirect = "targets" in operands
    callee = "b64r0" if indirect else ("plain", "taker", "callee")[kind]
    prototype = ("prototype", "taking", "giving")[kind]
    row = ["(b32r0)"] * (kind == 2) + [callee] + ["(b32r1)"] * (kind > 0) + [prototype] * indirect
    return f"{spelling} {', '.join(row)};"


def _operands(slots: tuple[OperandSlot, ...], form: Form) -> Iterator[str]:
    rules = form.spec.operands
    for place, slot in enumerate(slots):
        names = [slot.name, *slot.inside(len(slot.extra) - len(slot.spare))]
        inside = ", ".join(_operand(rules[name], form, place + at) for at, name in enumerate(names))
        partner = f"|{_operand(rules[slot.partner], form, 19)}" if slot.partner else ""
        yield (f"[{inside}]" if slot.bracketed else inside) + partner


def _operand(rule: OperandRule, form: Form, place: int) -> str:  # noqa: PLR0911 - one return a kind
    type_ = _type(rule.type, form.filling)
    if _BYTE.fullmatch(type_) and not any(word == "wider" for word, _ in rule.traits):
        type_ = "b8r"  # no wider register will do
    if rule.such:
        return rule.such
    match rule.kind:
        case "register" | "value":
            return _register(type_, place)
        case "constant":
            return "0f3F800000" if is_type(type_) and element_type(type_).kind is Kind.FLOAT else "1"
        case "factor":
            return "b64r1"
        case "vector" | "fragment" | "place":
            return _vector(rule, form, place, type_)
        case "address":
            if rule.type == ".tensormap_space":  # a tensor map is a parameter of the kernel
                return "par" if type_ == "param" else "b64r1"
            return {"param": "inner", "param::entry": "par", "param::func": "inner"}.get(type_, "b64r1")
        case "symbol":
            return {
                "label": "label",
                "function": "plain",
                "texture": "texture",
                "surface": "surface",
                "targets": "branches",
            }.get(type_, type_ or "glo")
        case _:
            return rule.type or "0"


def _vector(rule: OperandRule, form: Form, place: int, type_: str) -> str:
    """As many registers as the form says, in braces; one without them where it is not a vector."""
    length = vector_length(form, rule.name)
    if not length:
        return _register(type_, place)
    if length > MOST_REGISTERS:  # a mutant whose length is some other number
        raise ValueError(rule.length)
    if rule.kind == "fragment" and type_ != "f64":
        type_ = "b32"
    first = _APART.get(rule.name, 0) if "spfactor" in form.filling else 0
    return "{" + ", ".join(_register(type_, first + at) for at in range(length)) + "}"


def _type(name: str, filling: Mapping[str, str]) -> str:
    slot = name.removesuffix("*2")
    found = filling.get(slot[1:], "") if slot.startswith(".") else slot
    if name.endswith("*2") and is_type(found):
        return f"b{2 * element_type(found).storage_bits}"
    return found


def _register(type_: str, place: int) -> str:
    if type_ == "pred":
        return f"p{place}"
    if type_ == "b8r":
        return f"b8r{place}"
    if not is_type(type_):
        return f"b32r{place}"
    found = element_type(type_)
    bits = found.storage_bits if found.count > 1 or found.kind is not Kind.FLOAT else found.container_bits
    if bits == 8 and not type_.startswith("e"):
        bits = 16
    bits = next((wide for wide in _BITS if wide >= bits), 32)
    return f"b{bits}r{place}"


def expected(case: Case, version: str, target: str) -> bool:
    """Whether the ISA data makes the case legal in a module of this version and target."""
    form = resolve(case.opcode, case.words, case.count).form
    if form is None:
        return False
    for_version, for_target = PtxVersion.parse(version), Target.parse(target)
    return all(feature.available(for_version, for_target) for feature in form.features)
