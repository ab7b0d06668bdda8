"""The fragments of a warpgroup and of metadata, restated from the manual's figures lane by lane."""

from __future__ import annotations

import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.fragments import Fragment, fragment, fragment_operands
from ptxloom.isa.products import MatrixForm, matrix_form, matrix_forms


def apart(opcode: str, *, sparse: bool) -> list[MatrixForm]:
    """One form of each extent and width; of the wide ones some."""
    found = {
        (form.n, form.k, form.container_bits("a"), form.d_type): form
        for form in matrix_forms(opcode)
        if bool(form.sparse) is sparse and form.n in {8, 24, 40, 64, 256}
    }
    return list(found.values())


def coordinates(held: Fragment, lane: int) -> list[tuple[int, int, int]]:
    return [(e.matrix, e.row, e.column) for e in held.held_by(lane)]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_warpgroup_holds_d_as_the_manual_draws_it(sparse: bool) -> None:
    for form in apart("wgmma", sparse=sparse):
        held = fragment(form, "d")
        assert (held.rows, held.columns, held.lane_count) == (64, form.n, 128)
        assert held.registers == form.registers("d")
        for lane in range(0, 128, 7):
            first = 16 * (lane // 32) + lane % 32 // 4
            wanted = [
                (0, first + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2)
                for i in range(held.values_per_lane)
            ]
            assert coordinates(held, lane) == wanted


@pytest.mark.parametrize("sparse", [False, True])
def test_a_warpgroup_holds_a_as_its_warps_would(sparse: bool) -> None:
    for form in apart("wgmma", sparse=sparse):
        held = fragment(form, "a")
        per_word = 32 // form.container_bits("a")
        assert (held.rows, held.columns, held.registers) == (64, form.stored_k, 4)
        for lane in range(128):
            first = 16 * (lane // 32) + lane % 32 // 4
            wanted = [
                (0, first + 8 * (word % 2), per_word * (lane % 4 + 4 * (word // 2)) + i)
                for word in range(4)
                for i in range(per_word)
            ]
            assert coordinates(held, lane) == wanted


def metadata(form: MatrixForm, lane: int, place: int) -> tuple[int, int, int]:
    """The selector, row and chunk of four bits of metadata: PTX ISA 9.7.14.6.2, Figures of each type and shape."""
    row, quad = 16 * (lane // 32) + lane % 32 // 4, lane % 4
    chunks = form.k // form.chunk
    if form.container_bits("a") >= 16:  # row g in the low half of a word, row g + 8 in the high one
        pairs = chunks // 4
        return quad // pairs, row + 8 * (place // 4), 4 * (quad % pairs) + place % 4
    if chunks == 8:  # lanes 2s and 2s + 1 have row g and row g + 8
        return quad // 2, row + 8 * (quad % 2), place
    return 0, row + 8 * (quad % 2), 8 * (quad // 2) + place  # lanes 0, 1 the first half of k, lanes 2, 3 the second


@pytest.mark.parametrize("opcode", ["mma", "wgmma"])
def test_metadata_are_where_the_manual_draws_them(opcode: str) -> None:
    for form in apart(opcode, sparse=True):
        held = fragment(form, "e")
        assert (held.registers, held.width, held.matrices) == (1, 4, form.selectors)
        assert (held.rows, held.columns) == (form.m, form.k // form.chunk)
        for lane in range(32 * form.warps):
            assert coordinates(held, lane) == [metadata(form, lane, place) for place in range(8)]


def test_operands_are_those_that_registers_hold() -> None:
    assert fragment_operands("wgmma.m64n8k16.f32.f16.f16") == ("a", "d")
    assert fragment_operands("mma.sp.m16n8k16.row.col.f32.f16.f16.f32") == ("a", "b", "c", "d", "e")
    assert fragment_operands("wmma.mma.row.col.m16n16k16.f16.f16") == ("a", "b", "c", "d")
    assert (
        fragment_operands("wmma.store.d.row.m16n16k16.f16") == fragment_operands("tcgen05.ld.32x32b.x1.b32") == (None,)
    )
    with pytest.raises(UsageError, match="B is in shared memory"):
        fragment("wgmma.m64n8k16.f32.f16.f16", "b")
    with pytest.raises(UsageError, match="for this mma"):
        fragment("m16n8k16.row.col.f32.f16.f16.f32", "e")


@pytest.mark.parametrize("form", matrix_forms("wmma"), ids=lambda form: form.spelling)
def test_registers_of_wmma_are_as_many_as_the_data_say(form: MatrixForm) -> None:
    for operand in "dabc":
        held = fragment(form, operand)
        assert held.registers == form.registers(operand)
        assert (held.rows, held.columns) == form.extent(operand)


def test_a_fragment_of_wmma_is_that_of_its_load() -> None:
    product = matrix_form("wmma.mma.row.col.m8n32k16.f32.f16")
    for operand, element in zip("abc", ("f16", "f16", "f16"), strict=True):
        load = fragment(f"wmma.load.{operand}.row.m8n32k16.{element}")
        held = fragment(product, operand)
        assert (load.lanes, load.values) == (held.lanes, held.values)
    assert fragment(product, "a").copies == 4
    assert fragment(product, "a").holder(row=3, column=5).register == 0
