"""Every form of every opcode, with operands that fit and with others: code, or a refusal that names the line."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import pytest

from ptxloom.isa import opcodes, resolve
from ptxloom.machine import IllegalPtx, UnsupportedInstruction, semantics
from ptxloom.machine.compile import variant
from ptxloom.machine.plan.explaining import explained
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.runtime.warps import reconvergence
from ptxloom.syntax import parse
from recorded.ptxas.mutation_cases import HEAD, OTHERS, Statement, seeds

if TYPE_CHECKING:
    from ptxloom.machine.compile.variant import Variant
    from ptxloom.machine.program.model import Program

_REGISTER = re.compile(r"\b((pred|[bus](?:8|16|32|64|128)|f16x2|f16|f32|f64)r\d+)\b")
_LEFT_OUT = frozenset(
    (*"tcgen05 tex tld4 txq suld sust sured suq istypep".split(), "multimem", "fabric")  # noqa: SIM905 - a list of words
)
RUN = [opcode for opcode in opcodes() if opcode not in _LEFT_OUT]

# Qualifiers of which no result depends: what caches keep, how far orders reach (all accesses are strong and to
# everybody), promises to the compiler, and spellings of one thing.
_WITHOUT_EFFECT = frozenset(
    [
        "weak",
        "cop",
        "level",
        "level::prefetch_size",
        "level::eviction_priority",
        "level::cache_hint",
        "level1::eviction_priority",
        "level2::eviction_priority",
        "level2::cache_hint",
        "sem",
        "scope",
        "uni",
        "sync",
        "cta",
        "aligned",
        "ss",
        "space",
        "global",
        "read",
        "action",
        "proxykind",
        "load_mode",
        "dim",
        "dst",
        "tensormap_space",
        "sparse",
        "report",
    ]
)
_ELSEWHERE = {  # of one value, or one result for the forms that are drawn here
    *(("multimem", slot) for slot in ("op", "acc_prec", "type")),  # one device: nothing to combine with
    *(("cvt", slot) for slot in ("rnd", "sat", "ftz", "atype", "dtype")),
    *((opcode, "type") for opcode in ("match", "alloca", "stacksave", "stackrestore")),
    *(("wmma", slot) for slot in ("alayout", "blayout")),
    ("sin", "ftz"),
    ("cos", "ftz"),
}
_COMPARISONS = ({"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"})
_NUMBERS = frozenset({"type", "dtype", "atype"})  # signed or not, or bits: often one thing


def program_of(statement: str, target: str = "sm_90a") -> Program:
    """A kernel of one statement, not judged, planned for a target."""
    declared = " ".join(sorted({f".reg .{kind} {name};" for name, kind in _REGISTER.findall(statement)}))
    places = ".local .align 16 .b8 loc[64]; .param .b64 inner; branches: .branchtargets label;"
    body = f".entry k(.param .b64 par) {{ {declared} {places}\n{statement}\nlabel: ret; }}"
    module = parse(f".version 9.0\n.target {target}\n.address_size 64\n{HEAD}\n{body}\n")
    with explained(module, "k", unchecked=True):
        return plan(module, "k", semantics.BlockCuts())


def code(statement: str) -> str:
    """The IR of one statement in a kernel, or why there is none."""
    try:
        made = translated(program_of(statement))
    except (IllegalPtx, UnsupportedInstruction):
        return ""
    return "\n".join((made.ir, *(text for _, text in sorted(made.builder.helpers.items()))))


def translated(program: Program) -> Variant:
    """The code of a kernel for parts of a warp."""
    with explained(program.module, "k", unchecked=True):
        return variant.translate(program, whole=False)


def waits(statement: Statement, *, start: bool) -> bool:
    """Whether lanes may wait for others of their warp at a statement that has to be the first of its block, or none."""
    if not {"sync", "aligned"}.intersection(statement.words):
        return False
    try:
        program = program_of(str(statement), "sm_100a")
        row = semantics.find(program.ops[0])
        if row is None or row.starts != start:
            return False
        return reconvergence.converge in translated(program).builder.natives.values()
    except (IllegalPtx, UnsupportedInstruction):
        return False


def changed(statement: Statement, chance: random.Random) -> Statement:
    """The same with an operand left out, added, exchanged for another, or out of order."""
    operands = list(statement.operands)
    match chance.randrange(4):
        case 0 if operands:
            operands.pop(chance.randrange(len(operands)))
        case 1:
            operands.insert(chance.randint(0, len(operands)), chance.choice(OTHERS))
        case 2 if operands:
            operands[chance.randrange(len(operands))] = chance.choice(OTHERS)
        case _:
            chance.shuffle(operands)
    return statement.but(operands=tuple(operands))


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("opcode", RUN)
def test_any_operands_give_code_or_a_refusal(opcode: str) -> None:
    chance = random.Random(opcode)
    for statement in seeds(opcode, 8, chance):
        code(str(statement))
        code(str(changed(statement, chance)))


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("opcode", RUN)
def test_every_qualifier_on_which_a_result_depends_changes_the_code(opcode: str) -> None:
    for statement in seeds(opcode, 1, random.Random(3)):
        form = resolve(opcode, statement.words, len(statement.operands)).form
        if form is None or not (made := code(str(statement))):
            continue
        for slot in form.line.slots:
            word = form.filling.get(slot.name, "")
            for other in slot.choices if word in statement.words else ():
                words = tuple(other if w == word else w for w in statement.words if other or w != word)
                if other == word or _may_be_equal(opcode, slot.name, word, other):
                    continue
                found = resolve(opcode, words, len(statement.operands)).form
                if found is not None and not found.laxities:
                    assert code(str(statement.but(words=words))) != made, f"{statement} with .{other}"


def _may_be_equal(opcode: str, slot: str, word: str, other: str) -> bool:
    same_bits = word.lstrip("busf") == other.lstrip("busf")
    return (
        slot in _WITHOUT_EFFECT
        or (opcode, slot) in _ELSEWHERE
        or (slot in _NUMBERS and same_bits)
        or (slot == "rnd" and {word, other} == {"", "rn"})
        or (slot == "cta_group" and {word, other} == {"", "cta_group::1"})
        or (slot == "CmpOp" and {word, other} in _COMPARISONS)
    )


def test_what_lanes_wait_at_starts_its_block() -> None:
    """Lanes that have waited come to their block's first line again: what stood before would be done twice."""
    known = [one for opcode in opcodes() for one in seeds(opcode, 1, random.Random(5))]
    assert any(waits(one, start=True) for one in known if one.opcode == "vote")
    assert [str(one) for one in known if waits(one, start=False)] == []
