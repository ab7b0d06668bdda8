"""What statements do at each of their addresses, read off the ISA data."""

from __future__ import annotations

import pytest

from ptxloom.binding.touches import stores_to, touches
from ptxloom.isa import instruction_spec, opcodes
from ptxloom.isa.prove import is_place
from ptxloom.isa.spec import DOES
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Instruction


def only(text: str) -> Instruction:
    """The one instruction of a text."""
    [one] = parse(text).statements
    assert isinstance(one, Instruction)
    return one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ld.param.u64 %a, [p];", [(1, "reads", "param")]),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a}, [%b];", [(1, "reads", "shared")]),
        ("st.u32 [%a], %b;", [(0, "writes", "")]),
        ("atom.shared::cluster.add.u32 %a, [%b], 1;", [(1, "updates", "shared")]),
        ("mbarrier.init.shared.b64 [%a], 1;", [(0, "object", "shared")]),
        ("discard.global.L2 [%a], 128;", [(0, "names", "global")]),
        ("cp.async.bulk.global.shared::cta.bulk_group [%a], [%b], 16;",
         [(0, "writes", "global"), (1, "reads", "shared")]),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a], [%b], 16;",
         [(0, "updates", "global"), (1, "reads", "shared")]),
        ("sust.b.1d.b32.trap [s, {%a}], %b;", [(0, "writes", "")]),
        ("add.u32 %a, %b, %c;", []),
        ("ld.nonsense %a, [%b];", []),
        ("nonsense %a, [%b];", []),
    ],
)  # fmt: skip
def test_what_is_done_at_an_address(text: str, expected: list[tuple[int, str, str]]) -> None:
    assert [touch[:3] for touch in touches(only(text))] == expected


def test_a_generic_address_may_lie_in_any_space() -> None:
    store = only("st.u32 [%a], %b;")
    assert all(stores_to(store, space) for space in ("shared", "global", "generic"))
    assert not stores_to(only("ld.u32 %a, [%b];"), "shared")
    copy = only("cp.async.bulk.global.shared::cta.bulk_group [%a], [%b], 16;")
    assert [stores_to(copy, space) for space in ("shared", "global", "generic")] == [False, True, True]


def test_every_word_is_said_somewhere_and_every_address_has_one() -> None:
    rules = [rule for opcode in opcodes() for rule in instruction_spec(opcode).operands.values()]
    assert {word for rule in rules for word, _ in rule.does} == set(DOES)
    assert all(rule.does for rule in rules if rule.kind == "address")
    assert all(is_place(rule) for rule in rules if rule.does)
