"""Single-instruction mutations made from the ISA data and the corpus, for ptxas to judge and for us to agree with.

The questions are made here once, by `tools/record/mutations.py`; the recording holds their texts, so that a change of
the data does not change what was asked.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ptxloom.isa import instruction_spec
from ptxloom.isa.prove import some_forms
from ptxloom.isa.types import Kind, element_type, is_type
from ptxloom.isa.vectors import vector_length
from recorded.ptxas.isa_cases import STRANGERS, TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ptxloom.isa.form import Form
    from ptxloom.isa.notation import OperandSlot
    from ptxloom.isa.spec import OperandRule

REGISTERS = (
    *("pred", "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"),
    *("f16", "f16x2", "f32", "f64"),
)
_WIDE = (*("b16", "b32", "u32", "s32", "f32", "f16x2"), "b64", "f64")
_MOST = 130  # registers of each type: the longest vectors have 128 elements
_DECLARED = " ".join(f".reg .{name} {name}r<{_MOST}>;" for name in REGISTERS)
_VECTORS = " ".join(f".reg .v2 .{name} v2{name};" for name in _WIDE) + " .reg .v4 .b32 v4b32; .reg .v4 .f32 v4f32;"
HEAD = (
    ".visible .global .align 128 .b8 glo[256]; .const .align 16 .b8 con[64]; .shared .align 128 .b8 sha[1024];"
    " .global .texref texture; .global .surfref surface;"
    " .func (.param .b32 r) callee(.param .b32 a) { ret; } .func plain() { ret; }"
)
FIRST_LINE = 6
_WIDEST = (8, 3)  # the version that has registers of 128 bits

OTHERS = (
    *("5", "-5", "0x1ffffffff", "300", "0f3F800000", "0d3FF0000000000000", "1.5", "WARP_SZ", "%tid.x", "%tid"),
    *("%clock64", "%laneid", "glo", "sha", "loc", "con", "par", "callee", "label", "_", "[b64r9]", "[sha]"),
    *("{b32r9}", "{b32r9, b32r8}", "{f32r1, u32r2}", "v2b32", "v2b32.x", "v4b32", "!predr3", "-b32r9", "~b32r9"),
    *("b32r9|predr9", "predr1|predr2", "b32r9.x", "b32r9.b0", "b32r9.h1", "glo+4", "(2+3)", "5U", "predr4"),
)
ADDRESSES = (
    *("b64r9", "b32r9", "u64r9", "s32r9", "u32r9", "b16r9", "b8r9", "b128r9", "predr9", "f32r9", "f64r9", "f16x2r9"),
    *("b64r9+4", "b64r9+-4", "b64r9-4", "b64r9+b64r8", "b64r9*4", "4+b64r9", "16", "-16", "%laneid", "%tid.x", "_"),
    *("glo", "glo+4", "glo-4", "glo[1]", "sha", "sha+4", "loc", "con", "par", "inner", "callee", "label", "nothere"),
    *("v2b32", "v2b32.x", "(glo+4)", "b64r9+4+4", "1.0", "b64r9, b64r8", "-b64r9", "{b64r9}", "b64r9+(2*2)"),
)


@dataclass(frozen=True, slots=True)
class Statement:
    """An instruction in pieces.

    Attributes:
        opcode: Its opcode.
        words: Its qualifiers.
        operands: Its operands, as texts.
        guard: What stands before it.
    """

    opcode: str
    words: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str = ""

    def __str__(self) -> str:
        spelling = ".".join((self.opcode, *self.words))
        return f"{self.guard}{spelling}{' ' if self.operands else ''}{', '.join(self.operands)};"

    def but(
        self, words: tuple[str, ...] | None = None, operands: tuple[str, ...] | None = None, guard: str | None = None
    ) -> Statement:
        """The same with some pieces changed."""
        return Statement(
            self.opcode,
            self.words if words is None else words,
            self.operands if operands is None else operands,
            self.guard if guard is None else guard,
        )


def module_text(version: str, target: str, lines: tuple[str, ...]) -> str:
    """A module with one line for each of `lines`, the first at `FIRST_LINE`."""
    number = tuple(map(int, version.split(".")))
    declared = _DECLARED if number >= _WIDEST else _DECLARED.replace(f".reg .b128 b128r<{_MOST}>;", "")
    names = f"{declared} {_VECTORS} .local .align 16 .b8 loc[64]; .param .b64 inner; branches: .branchtargets label;"
    head = f".version {version}\n.target {target}\n.address_size 64\n{HEAD}\n.entry k(.param .b64 par) {{ {names}\n"
    return head + "\n".join(lines) + "\nlabel: ret; }\n"


def seeds(opcode: str, most: int, chance: random.Random) -> Iterator[Statement]:
    """Legal statements of an opcode, from forms of every syntax line."""
    spec = instruction_spec(opcode)
    found = list(some_forms(spec))
    share = max(2, most // len(spec.lines))
    for line in spec.lines:
        here = [form for form in found if form.line is line]
        for form in chance.sample(here, min(share, len(here))):
            count = chance.choice(form.counts)
            operands = tuple(_operand(form, slot, place, chance) for place, slot in enumerate(form.operands(count)))
            yield Statement(opcode, form.words, operands)


def _operand(form: Form, slot: OperandSlot, place: int, chance: random.Random) -> str:
    rules = form.spec.operands
    spare = len(slot.spare) if chance.random() < 0.5 else 0
    names = enumerate((slot.name, *slot.inside(len(slot.extra) - spare)))
    inside = ", ".join(_value(rules[name], form, place + at, chance) for at, name in names)
    both = slot.partner and (not slot.alone or chance.random() < 0.5)
    partner = f"|{_value(rules[slot.partner], form, 19, chance)}" if both else ""
    return (f"[{inside}]" if slot.bracketed else inside) + partner


def _value(rule: OperandRule, form: Form, place: int, chance: random.Random) -> str:  # noqa: C901, PLR0911 - one case a kind of operand
    type_ = _type(rule.type, form.filling)
    if rule.such:
        return rule.such
    match rule.kind:
        case "register" | "value":
            return register(type_, place, chance)
        case "constant":
            if rule.limits is not None and rule.limits.among:
                return str(rule.limits.among[-1])
            return "0f3F800000" if is_type(type_) and element_type(type_).kind is Kind.FLOAT else "1"
        case "factor":
            return "b64r1"
        case "vector" | "fragment" | "place":
            length = vector_length(form, rule.name)
            if not length:
                return register(type_, place, chance)
            if rule.kind == "fragment" and type_ != "f64":
                type_ = "b32"
            kind = re.sub(r"r\d+$", "r", register(type_, 0, chance))
            return "{" + ", ".join(f"{kind}{at}" for at in range(length)) + "}"
        case "address":
            places = {
                "param": ("inner",),
                "param::entry": ("par",),
                "param::func": ("inner",),
                "global": ("glo", "glo+16", "b64r1", "u64r1+16"),
                "const": ("con", "b64r1"),
                "local": ("loc", "b64r1", "u32r1"),
                "": ("b64r1", "b64r1+-32", "glo", "sha"),
            }
            return chance.choice(places.get(type_, ("sha", "sha+16", "b64r1", "b32r1+16")))
        case "symbol":
            return {"label": "label", "function": "plain", "targets": "branches"}.get(type_, type_ or "glo")
        case "sink":
            return "_"
        case _:
            return rule.type or "0"


def _type(name: str, filling: Mapping[str, str]) -> str:
    slot = name.removesuffix("*2")
    found = filling.get(slot[1:], "") if slot.startswith(".") else slot
    if slot != name and is_type(found):
        kind = element_type(found)
        return f"{kind.kind}{2 * kind.storage_bits}"
    return found


def register(type_: str, place: int, chance: random.Random) -> str:
    """A register that fits a type: of the type itself, or of as many untyped bits."""
    if not is_type(type_):
        return f"b32r{place}"
    kind = element_type(type_)
    if type_ in REGISTERS and chance.random() < 0.6:
        return f"{type_}r{place}"
    bits = kind.container_bits if kind.count == 1 and kind.kind is Kind.FLOAT else kind.storage_bits
    wide = next((bits_ for bits_ in (8, 16, 32, 64, 128) if bits_ >= bits), 32)
    return "predr" + str(place) if kind.kind is Kind.PREDICATE else f"b{wide}r{place}"


_REGISTER = re.compile(r"\b(?:pred|[bus](?:8|16|32|64|128)|f16x2|f16|f32|f64)r\d+\b")


def _new_qualifier(it: Statement, chance: random.Random) -> Statement:
    vocabulary = sorted({v for line in instruction_spec(it.opcode).lines for slot in line.slots for v in slot.values})
    words = list(it.words)
    what = chance.random()
    if what < 0.3 and words:
        words.pop(chance.randrange(len(words)))
    elif what < 0.65 and words:
        words[chance.randrange(len(words))] = chance.choice([*vocabulary, *STRANGERS])
    elif what < 0.75 and len(words) > 1:
        a, b = chance.sample(range(len(words)), 2)
        words[a], words[b] = words[b], words[a]
    else:
        words.insert(chance.randint(0, len(words)), chance.choice([*vocabulary, *STRANGERS]))
    return it.but(words=tuple(words))


def _new_type(it: Statement, chance: random.Random) -> Statement:
    places = [place for place, word in enumerate(it.words) if is_type(word)]
    words = list(it.words)
    if places:
        words[chance.choice(places)] = chance.choice(TYPES)
    else:
        words.append(chance.choice(TYPES))
    return it.but(words=tuple(words))


def _replaced(it: Statement, place: int, text: str) -> Statement:
    return it.but(operands=(*it.operands[:place], text, *it.operands[place + 1 :]))


def _new_register(it: Statement, chance: random.Random) -> Statement:
    """A register of another type somewhere in an operand."""
    places = [place for place, operand in enumerate(it.operands) if _REGISTER.search(operand)]
    if not places:
        return it
    place = chance.choice(places)
    found = list(_REGISTER.finditer(it.operands[place]))
    spot = chance.choice(found)
    text = it.operands[place]
    name = f"{chance.choice(REGISTERS)}r{chance.randrange(20)}"
    return _replaced(it, place, text[: spot.start()] + name + text[spot.end() :])


def _new_kind(it: Statement, chance: random.Random) -> Statement:
    if not it.operands:
        return it.but(operands=(chance.choice(OTHERS),))
    return _replaced(it, chance.randrange(len(it.operands)), chance.choice(OTHERS))


def _new_count(it: Statement, chance: random.Random) -> Statement:
    operands = list(it.operands)
    if operands and chance.random() < 0.6:
        operands.pop(chance.randrange(len(operands)))
    else:
        operands.insert(chance.randint(0, len(operands)), chance.choice(("b32r7", "5", "predr7", "[b64r7]")))
    return it.but(operands=tuple(operands))


def _undeclared(it: Statement, chance: random.Random) -> Statement:
    places = [place for place, operand in enumerate(it.operands) if _REGISTER.search(operand)]
    if not places:
        return it.but(guard="@nothere ")
    place = chance.choice(places)
    return _replaced(it, place, _REGISTER.sub("nothere", it.operands[place], count=1))


def _new_address(it: Statement, chance: random.Random) -> Statement:
    places = [place for place, operand in enumerate(it.operands) if operand.startswith("[")]
    if not places:
        return _new_kind(it, chance)
    place = chance.choice(places)
    inside = it.operands[place]
    rest = inside[inside.index(",") :] if "," in inside else "]"
    return _replaced(it, place, f"[{chance.choice(ADDRESSES)}{rest}")


def _new_vector(it: Statement, chance: random.Random) -> Statement:
    places = [place for place, operand in enumerate(it.operands) if operand.startswith("{")]
    if not places:
        place = chance.randrange(len(it.operands)) if it.operands else 0
        return _replaced(it, place, f"{{{it.operands[place]}}}") if it.operands else it
    place = chance.choice(places)
    vector, bar, partner = it.operands[place].partition("|")
    elements = vector.strip("{}").split(", ")
    what = chance.random()
    if what < 0.3:
        elements.pop()
    elif what < 0.5:
        elements.append("b32r9")
    elif what < 0.8 and elements:
        other = chance.choice(
            ("_", "5", "1.5", "%laneid", "f32r9", "u32r9", "b64r9", "predr9", "sha", "v2b32.x", "v2b32")
        )
        elements[chance.randrange(len(elements))] = other
    else:
        elements = ["_"] * len(elements)
    return _replaced(it, place, "{" + ", ".join(elements) + "}" + bar + partner)


def _new_guard(it: Statement, chance: random.Random) -> Statement:
    guards = ("@predr1 ", "@!predr1 ", "@b32r1 ", "@nothere ", "@!u32r1 ", "@f16x2r1 ", "@sha ")
    return it.but(guard=chance.choice(guards))


def _two(it: Statement, chance: random.Random) -> Statement:
    first, second = chance.sample([_new_qualifier, _new_type, _new_register, _new_kind, _new_count, _new_address], 2)
    return second(first(it, chance), chance)


MUTATIONS: Mapping[str, tuple[int, Callable[[Statement, random.Random], Statement]]] = {
    "none": (2, lambda it, _: it),
    "qualifier": (4, _new_qualifier),
    "type": (3, _new_type),
    "register type": (4, _new_register),
    "operand": (4, _new_kind),
    "count": (2, _new_count),
    "undeclared": (1, _undeclared),
    "address": (3, _new_address),
    "vector": (2, _new_vector),
    "guard": (1, _new_guard),
    "two of them": (3, _two),
}
"""The kinds of mutation, each with how often it is made."""


def mutants(opcode: str, most: int, sample: str = "") -> list[tuple[str, str]]:
    """Mutations of an opcode: what was done, and the statement; at most `most`, the same each time for a sample."""
    chance = random.Random(f"mutations of {opcode}{sample}")
    origins = list(seeds(opcode, most // 4, chance))
    weighted = [kind for kind, (weight, _) in MUTATIONS.items() for _ in range(weight)]
    found: dict[str, str] = {}
    for _ in range(8 * most):
        if len(found) >= most:
            break
        kind = chance.choice(weighted)
        text = str(MUTATIONS[kind][1](chance.choice(origins), chance))
        found.setdefault(text, kind)
    return [(kind, text) for text, kind in found.items()]


def unmutated(opcode: str, most: int, sample: str = "") -> list[str]:
    """Legal statements of an opcode, at most `most`."""
    chance = random.Random(f"statements of {opcode}{sample}")
    found = list(dict.fromkeys(str(one) for one in seeds(opcode, 2 * most, chance)))
    return chance.sample(found, min(most, len(found)))


def broken(opcode: str, most: int, sample: str = "") -> list[tuple[str, str]]:
    """Statements of an opcode that lack a bracket, a brace, a comma or the semicolon, or have one too many."""
    chance = random.Random(f"broken {opcode}{sample}")
    origins = [str(one) for one in seeds(opcode, 2 * most, chance)]
    found: dict[str, str] = {}
    for _ in range(8 * most):
        if len(found) >= most:
            break
        text = chance.choice(origins)
        places = [place for place, sign in enumerate(text) if sign in "[]{},;|"]
        place = chance.choice(places)
        sign = text[place]
        more = chance.random() < 0.2
        text = text[:place] + (sign * 2 if more else "") + text[place + 1 :]
        found.setdefault(text, f"{'doubled' if more else 'missing'} {sign}")
    return [(kind, text) for text, kind in found.items()]
