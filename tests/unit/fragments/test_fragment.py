from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import Axis, Digit, Evidence, Fragment, fragment
from ptxloom.isa.matrix import variants
from ptxloom.syntax import instructions, parse


def test_the_design_page_example() -> None:
    f = fragment("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    assert (f.registers, f.matrices, f.rows, f.columns) == (4, 4, 8, 8)
    element = f.where(lane=5, register=0, bit=16)
    assert (element.matrix, element.row, element.column) == (0, 3, 1)
    assert f.holder(matrix=0, row=3, column=1) == element
    assert f.address_lane(matrix=0, row=3) == 3
    assert len(f.elements) == 4 * 64


def published(spelling: str, lane: int, register: int, bit: int) -> tuple[int, int, int]:
    """(matrix, row, column) by the published tables of who holds what, restated by hand."""
    half, byte = bit // 16, bit // 8
    words = spelling.split(".")
    trans = "trans" in words
    if "m8n8" in words:
        pair, group = 2 * (lane % 4) + half, lane // 4
        return (register, pair, group) if trans else (register, group, pair)
    if "m16n16" in words:
        return register // 2, 4 * (lane % 4) + byte, lane // 4 + 8 * (register % 2)
    if "m8n16" in words:
        return register, lane // 4, 4 * (lane % 4) + byte
    assert "m16n8" in words
    return register, 2 * (lane % 4) + (byte & 1), lane // 4 + 8 * (byte >> 1)


@pytest.mark.parametrize("spelling", [move.spelling for move in variants()])
def test_every_variant_is_the_published_table(spelling: str) -> None:
    f = fragment(spelling)
    for lane, register, bit, width, *coordinate in f.elements:
        assert tuple(coordinate) == published(spelling, lane, register, bit)
        assert bit % width == 0
    rows_of_matrix = 16 if "m16n16" in spelling else 8
    assert [f.address_lane(matrix=m, row=i) for m in range(f.matrices) for i in range(f.rows)] == [
        rows_of_matrix * m + i for m in range(f.matrices) for i in range(f.rows)
    ]


def test_thirty_variants() -> None:
    assert len({move.spelling for move in variants()}) == 30


def test_values_count_across_registers() -> None:
    f = fragment("ldmatrix.sync.aligned.m8n8.x2.shared.b16")
    labels = [f.label(element) for element in f.held_by(5)]
    assert labels == ["T5 V0:R0", "T5 V1:R0", "T5 V2:R1", "T5 V3:R1"]
    assert [f.value_of(f.at(31, value)) for value in range(4)] == [0, 1, 2, 3]


def test_unused_lanes_address_nothing() -> None:
    f = fragment("m8n8.x2.b16")
    assert f.address_lanes == 16
    assert f.addressed_row(9) == (1, 1)
    assert f.addressed_row(16) is None


def test_movmatrix_hands_over_the_transpose() -> None:
    source = fragment("movmatrix.sync.aligned.m8n8.trans.b16", "a")
    destination = fragment("movmatrix.sync.aligned.m8n8.trans.b16")
    assert destination.operand == "d"
    for element in source:
        row, pair = divmod(element.lane, 4)
        assert (element.row, element.column) == (row, 2 * pair + source.value_of(element))
        other = destination.at(element.lane, source.value_of(element))
        assert (other.row, other.column) == (element.column, element.row)


def test_an_instruction_of_a_module_will_do() -> None:
    class Instruction(NamedTuple):
        opcode: str
        qualifiers: tuple[str, ...]

    parsed = Instruction("ldmatrix", ("sync", "aligned", "m8n8", "x4", "shared", "b16"))
    assert fragment(parsed) == fragment("m8n8.x4.shared.b16")


@pytest.mark.parametrize("rest", ["m8n8.x4.trans.b16", "m8n8.x1.shared.b16", "m16n16.x1.trans.b8"])
def test_a_text_may_leave_out_what_every_move_has_but_an_instruction_may_not(rest: str) -> None:
    assert fragment(f"ldmatrix.{rest}") == fragment(f"ldmatrix.sync.aligned.{rest}")
    (written,) = instructions(parse(f"ldmatrix.{rest} {{a}}, [b];"))
    with pytest.raises(UnsupportedForm, match=r"requires `.sync.aligned`"):
        fragment(written)


def test_a_short_spelling_is_a_load_if_it_can_be() -> None:
    assert fragment("m8n8.x4.b16").spelling.startswith("ldmatrix")
    assert fragment("m16n8.x4.trans.b8").spelling.startswith("stmatrix")
    assert fragment("aligned.m8n8.x4.sync.b16;") == fragment("ldmatrix.sync.aligned.m8n8.x4.b16")
    with pytest.raises(UnsupportedForm, match=r"ldmatrix|m8n8"):
        fragment("m8n8.x4.b8")


def test_narrow_elements_stand_inside_their_byte() -> None:
    f = fragment("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", "a")
    first = f.where(lane=0, register=0, bit=8)
    assert (first.bit, first.width, first.column) == (10, 4, 1)
    assert f.where(lane=0, register=0, bit=15) == first
    g = fragment("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", "b")
    assert (g.at(0, 3).bit, g.at(0, 3).width) == (24, 6)


def test_what_it_rests_on() -> None:
    assert fragment("m8n8.x4.b16").confirmed is Evidence.SILICON
    assert fragment("m8n16.x4.s8.s4").confirmed is Evidence.SILICON
    assert fragment("m16n16.x1.trans.b8").confirmed is Evidence.DOCUMENTS
    assert fragment("m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32", "a").confirmed is Evidence.DOCUMENTS


@pytest.mark.parametrize("text", ["m8n8.x3.b16", "add.f32", "m16n8k16.row.col.f32.f32.f32.f32", "", "ldmatrix"])
def test_what_does_not_exist_is_unsupported(text: str) -> None:
    with pytest.raises(UnsupportedForm):
        fragment(text)


def test_wrong_questions_name_the_legal_values() -> None:
    f = fragment("m8n8.x1.b16")
    for ask in (
        lambda: f.where(lane=32, register=0),
        lambda: f.where(lane=0, register=1),
        lambda: f.where(lane=0, register=0, bit=32),
        lambda: f.holder(matrix=1, row=0, column=0),
        lambda: f.holder(row=8, column=0),
        lambda: f.holder(row=0, column=-1),
        lambda: f.address_lane(row=8),
        lambda: f.at(0, 2),
        lambda: fragment("m8n8.x1.b16", "a"),
        lambda: fragment("m16n8k8.row.col.f32.f16.f16.f32"),
        lambda: fragment("movmatrix.sync.aligned.m8n8.trans.b16", "b"),
        lambda: fragment("m16n8k8.row.col.f32.f16.f16.f32", "a").address_lane(row=0),
    ):
        with pytest.raises(UsageError, match="must be"):
            ask()


def test_a_map_that_is_not_one_to_one_cannot_be_made() -> None:
    good = fragment("m8n8.x1.b16")
    lanes = (*good.lanes[:4], Digit(Axis.ROW, 2))
    with pytest.raises(UsageError):
        Fragment("twice", "r", lanes, good.values, 16, 16, 0, 32, True, Evidence.DOCUMENTS)


def test_a_map_of_wrong_digits_is_refused_for_the_lanes_alone_and_for_the_base_alone() -> None:
    f = fragment("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
    with pytest.raises(UsageError, match="five, seven or eight of lanes"):
        replace(f, lanes=f.lanes[:-1], values=(f.lanes[-1], *f.values))
    with pytest.raises(UsageError, match="of base two except for the last"):
        replace(f, values=(f.values[0]._replace(radix=4), *f.values[1:]))


def test_only_lanes_that_name_addresses_are_counted() -> None:
    assert fragment("ldmatrix.sync.aligned.m8n8.x4.shared.b16").address_lanes == 32
    assert fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a").address_lanes == 0
