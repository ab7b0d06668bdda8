"""Loads and stores of tensor memory, held to the five formulas of the manual's figures, 9.7.16.2.3."""

from __future__ import annotations

import pytest

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import Evidence, fragment
from ptxloom.isa.resolution.forms import forms
from ptxloom.isa.vectors import vector_length

MOVES = {
    form.spelling: vector_length(form, operand)
    for form in forms("tcgen05")
    for lead, operand in (("ld", "r"), ("st", "s"))
    if form.filling.get(lead) and "spfactor" not in form.filling
}


def place(shape: str, t: int, r: int) -> tuple[int, int, int]:
    """Half, lane and column of tensor memory of register r of lane t."""
    match shape:
        case "32x32b":
            return 0, t, r
        case "16x64b":
            return 0, t // 4 + 8 * (t & 1), 2 * r + (t >> 1 & 1)
        case "16x128b":
            return 0, t // 4 + 8 * (r & 1), 4 * (r >> 1) + (t & 3)
        case "16x256b":
            return 0, t // 4 + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (t & 3) + (r & 1)
        case _:
            return t // 16, t % 16, r


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("spelling", MOVES)
def test_every_register_is_a_place_of_the_formula(spelling: str) -> None:
    held = fragment(spelling)
    shape = next(word for word in spelling.split(".") if word[:3] in ("16x", "32x"))
    packed = "16b" in spelling.partition("pack::")[2]
    assert held.registers == MOVES[spelling]
    assert held.confirmed is Evidence.DOCUMENTS
    for lane in range(32):
        for element in held.held_by(lane):
            half, row, column = place(shape, lane, element.register)
            wanted = 2 * column + element.bit // 16 if packed else column
            assert (element.matrix, element.row, element.column) == (half, row, wanted)


COPIES = [form.spelling for form in forms("tcgen05") if form.filling.get("cp")]


def row_of(words: frozenset[str], lane: int) -> int:
    """Which row of those that `tcgen05.cp` reads comes to a lane (9.7.16): 32 are a warp's, as in `ld` and `st`."""
    warp, place = divmod(lane, 32)
    if "warpx2::02_13" in words:
        return 32 * (warp % 2) + place
    if "warpx2::01_23" in words:
        return 32 * (warp // 2) + place
    if "warpx4" in words:
        return place
    return warp if "4x256b" in words else lane


@pytest.mark.parametrize("spelling", COPIES)
def test_a_copy_brings_each_row_to_the_warps_that_its_qualifier_names(spelling: str) -> None:
    held, words = fragment(spelling), frozenset(spelling.split("."))
    assert held.lane_count == 128 * (2 if "cta_group::2" in words else 1)
    for lane in range(0, held.lane_count, 32 if "4x256b" in words else 1):  # the address may name others of a warp
        matrix, own = divmod(lane, 128)
        assert {(one.matrix, one.row) for one in held.held_by(lane)} == {(matrix, row_of(words, own))}


@pytest.mark.parametrize("ctas", [1, 2])
def test_a_shift_moves_the_lanes_of_every_cta_of_its_group(ctas: int) -> None:
    held = fragment(f"tcgen05.shift.cta_group::{ctas}.down")
    assert (held.lane_count, {one.matrix for one in held.elements}) == (128 * ctas, {*range(ctas)})


def test_what_moves_no_fragment_is_refused() -> None:
    with pytest.raises(UnsupportedForm, match="holds no matrix"):
        fragment("tcgen05.wait::ld.sync.aligned")
    with pytest.raises(UnsupportedForm, match="is not a form of `tcgen05`"):
        fragment("tcgen05.ld.16x256b.x64.b32")
    with pytest.raises(UsageError, match="left out"):
        fragment("tcgen05.ld.16x256b.x4.b32", "d")
