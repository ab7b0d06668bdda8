from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.fragments import Fragment, fragment, fragment_operands
from ptxloom.isa.matrix import variants
from ptxloom.isa.products import MatrixForm, matrix_forms, mma_forms

MOVES = [fragment(move) for move in variants()]
MOVMATRIX = [fragment("movmatrix.sync.aligned.m8n8.trans.b16", operand) for operand in "ad"]
OPERANDS = [fragment(form, operand) for form in mma_forms() for operand in "abcd"]
GROUPS = [fragment(form, operand) for form in matrix_forms("wgmma")[::13] for operand in fragment_operands(form)]
WARPS = [fragment(form, operand) for form in matrix_forms("wmma")[::7] for operand in fragment_operands(form)]
SPARSE = [fragment(form, operand) for form in matrix_forms("mma") if form.sparse for operand in "ae"]
TENSOR_MEMORY = [fragment(f"tcgen05.ld.{shape}.x8.b32") for shape in ("32x32b", "16x64b", "16x128b", "16x256b")]
EVERY = [*MOVES, *MOVMATRIX, *OPERANDS, *GROUPS, *WARPS, *SPARSE, *TENSOR_MEMORY]


@pytest.mark.parametrize("f", [*MOVES, *MOVMATRIX], ids=str)
def test_a_move_is_a_bijection(f: Fragment) -> None:
    places = {(e.lane, e.register, e.bit) for e in f}
    coordinates = {(e.matrix, e.row, e.column) for e in f}
    total = f.matrices * f.rows * f.columns
    assert len(places) == len(coordinates) == len(f.elements) == total
    assert 32 * f.registers * 32 == total * f.stride


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(EVERY), st.data())
def test_both_directions_agree(f: Fragment, data: st.DataObject) -> None:
    lane = data.draw(st.integers(0, f.lane_count - 1))
    register = data.draw(st.integers(0, f.registers // f.copies - 1))  # of copies, the first
    bit = data.draw(st.integers(0, f.register_bits - 1))
    element = f.where(lane=lane, register=register, bit=bit)
    assert (element.lane, element.register) == (lane, register)
    assert element.bit - f.shift <= bit < element.bit - f.shift + f.stride
    assert f.holder(matrix=element.matrix, row=element.row, column=element.column) == element
    assert f.at(lane, f.value_of(element)) == element


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(EVERY), st.data())
def test_every_coordinate_has_one_holder(f: Fragment, data: st.DataObject) -> None:
    matrix = data.draw(st.integers(0, f.matrices - 1))
    row = data.draw(st.integers(0, f.rows - 1))
    column = data.draw(st.integers(0, f.columns - 1))
    element = f.holder(matrix=matrix, row=row, column=column)
    assert (element.matrix, element.row, element.column) == (matrix, row, column)
    assert f.where(lane=element.lane, register=element.register, bit=element.bit) == element


@pytest.mark.parametrize("f", WARPS, ids=str)
def test_copies_are_of_the_same_elements(f: Fragment) -> None:
    for lane in range(0, 32, 5):
        held = [(e.row, e.column) for e in f.held_by(lane)]
        assert held == held[: len(held) // f.copies] * f.copies


@pytest.mark.parametrize("form", matrix_forms("wgmma")[::29], ids=lambda form: form.spelling)
def test_a_warp_of_a_warpgroup_holds_what_mma_would(form: MatrixForm) -> None:
    tile = replace(form, opcode="mma", m=16, n=8)
    for operand in fragment_operands(form):
        whole, part = fragment(form, operand), fragment(tile, operand)
        for element in part:
            for warp in range(4):
                lane, row = element.lane + 32 * warp, element.row + 16 * warp
                assert whole.at(lane, part.value_of(element)) == element._replace(lane=lane, row=row)


@pytest.mark.parametrize("num", [1, 2, 4])
def test_trans_exchanges_row_and_column(num: int) -> None:
    plain, trans = fragment(f"m8n8.x{num}.b16"), fragment(f"m8n8.x{num}.trans.b16")
    for element in plain:
        other = trans.where(lane=element.lane, register=element.register, bit=element.bit)
        assert (other.matrix, other.row, other.column) == (element.matrix, element.column, element.row)


@pytest.mark.parametrize("f", [m for m in MOVES if m.spelling.startswith("stmatrix") and "m8n8" in m.spelling], ids=str)
def test_a_store_holds_what_the_load_holds(f: Fragment) -> None:
    load = fragment(f.spelling.replace("stmatrix", "ldmatrix"))
    assert (load.lanes, load.values) == (f.lanes, f.values)


@pytest.mark.parametrize("f", MOVES, ids=str)
def test_each_row_has_one_address_lane(f: Fragment) -> None:
    lanes = [f.address_lane(matrix=m, row=i) for m in range(f.matrices) for i in range(f.rows)]
    assert lanes == list(range(f.address_lanes))
    assert [f.addressed_row(lane) for lane in lanes] == [(m, i) for m in range(f.matrices) for i in range(f.rows)]
