"""Constants of addresses and of descriptors: which instruction has them, how far they are shifted, what they become."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

import ptxloom as pl
from ptxloom.diagnosis.culprits import Culprit
from ptxloom.diagnosis.mending.addresses import of_address
from ptxloom.diagnosis.origins.permutations import Named
from ptxloom.diagnosis.origins.tiles import Plane
from ptxloom.diagnosis.slicing.makers import parts_of

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op, Program

HEAD: Final = """.version 8.6
.target sm_100a
.address_size 64
.entry k() { .shared .align 16 .b8 tile[512]; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .u16 %h; mov.u32 %r0, %tid.x;
"""
PITCHES: Final = {"shl.b32 %r1, %r0, 6;": 64, "mul.lo.u32 %r1, %r0, 64;": 64, "shl.b32 %r1, %r0, 7;": 128}
"""What multiplies a row with a pitch, and how many bytes it takes that for; elements of two bytes."""


def last(body: str, opcode: str) -> tuple[Op, Program]:
    program = pl.kernel(pl.parse(f"{HEAD}{body}\nret; }}"), "k").program
    [op] = [one for one in program.ops if one.opcode == opcode]
    return op, program


def repaired(maker: str, named: Named) -> str:
    """What a repair makes of the instruction that makes an address; nothing if there is no repair."""
    load, program = last(f"{maker}\nmov.u32 %r2, tile; add.u32 %r2, %r1, %r2; ld.shared.u16 %h, [%r2];", "ld")
    found = of_address(named, "a", Culprit(named.cause, load, None, (load,)), Plane(0, 64, True, 64, 16), program)
    if found is None:
        return ""
    [(_, text)] = found.edits
    return text


@pytest.mark.parametrize("bytes_of_a_row", [32, 128, 256, 96, 160])
@pytest.mark.parametrize("maker", PITCHES)
def test_a_pitch_is_another_factor_or_another_shift_if_there_is_one(maker: str, bytes_of_a_row: int) -> None:
    held = PITCHES[maker]
    if held == bytes_of_a_row:
        return
    text = repaired(maker, Named("pitch-mismatch", "", pitches=(held // 2, bytes_of_a_row // 2)))
    if maker.startswith("mul"):
        assert text == f"mul.lo.u32 %r1, %r0, {bytes_of_a_row};"
    elif bytes_of_a_row.bit_count() == 1:
        assert text == f"shl.b32 %r1, %r0, {bytes_of_a_row.bit_length() - 1};"
    else:
        assert text == ""


def test_a_distance_is_taken_out_of_what_is_added_if_there_is_one() -> None:
    rows = "add.u32 %r1, %r0, 128;"
    assert repaired(rows, Named("rows-shifted", "by one", distance=1)) == "add.u32 %r1, %r0, 0;"
    assert repaired(rows, Named("rows-shifted", "by two", distance=2)) == ""
    assert repaired(rows, Named("rows-shifted", "each by its own")) == ""


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(("way", "sign"), [("shl.b", 1), ("shr.u", -1)])
def test_a_constant_is_followed_through_every_shift(way: str, sign: int, bits: int) -> None:
    """Of a shift by all bits but one, one bit alone comes through."""
    name = {32: "%r", 64: "%rd"}[bits]
    for by in range(bits):
        body = f"mov.b{bits} {name}1, 5; {way}{bits} {name}2, {name}1, {by}; st.shared.b{bits} [tile], {name}2;"
        store, program = last(body, "st")
        found = [(part.op.opcode, part.value, part.shift) for part in parts_of(store, store.operands[1], program)]
        assert ("mov", 5, sign * by) in found
