"""Fragments against the layouts that CUTLASS 4.7 states for its 24 copy atoms, bit by bit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from ptxloom.fragments import Fragment, fragment

ROW_BITS = 128
ATOMS = cast("list[dict[str, Any]]", json.loads(Path(__file__).with_name("atoms.json").read_text())["atoms"])
Nested = Any  # an integer, or a list of Nested: how CuTe nests shapes


def size(shape: Nested) -> int:
    if isinstance(shape, int):
        return shape
    total = 1
    for mode in shape:
        total *= size(mode)
    return total


def image(shape: Nested, stride: Nested, index: int) -> int:
    """A layout at a linear index, colexicographic."""
    if isinstance(shape, int):
        return index * stride
    total = 0
    for mode, step in zip(shape, stride, strict=True):
        index, inner = divmod(index, size(mode))[0], index % size(mode)
        total += image(mode, step, inner)
    return total


def at(layout: list[Nested], thread: int, bit: int) -> int:
    """A (thread, bit) layout at a place."""
    (threads, bits), (thread_stride, bit_stride) = layout
    return image(threads, thread_stride, thread) + image(bits, bit_stride, bit)


def layout(atom: dict[str, Any], name: str) -> list[Nested]:
    """One of an atom's layouts as (shape, stride)."""
    return [atom[name]["shape"], atom[name]["stride"]]


def unpermuted(bit: int) -> int:
    """Where a bit of the permuted registers comes from: d0 = t0.0 t0.1 t1.0 t1.1, d1 = t0.2 t0.3 t1.2 t1.3."""
    pair, inside = divmod(bit, 64)
    register, byte = inside // 32, inside % 32 // 8
    source_register, source_byte = byte // 2, 2 * register + byte % 2
    return pair * 64 + source_register * 32 + source_byte * 8 + bit % 8


def held_bit(held: Fragment, lane: int, bit: int) -> tuple[int, int]:
    """(addressed row, counted over the matrices; bit in the row) that a bit of a lane's registers holds."""
    element = held.where(lane=lane, register=bit // 32, bit=bit % 32)
    row = element.matrix * held.rows + element.row
    return row, element.column * held.stride + bit % 32 - element.bit


@pytest.mark.parametrize("atom", ATOMS, ids=lambda atom: atom["name"])
def test_the_layout_of_an_atom_is_the_fragment(atom: dict[str, Any]) -> None:
    spelling = str(atom["ptx"]).split()[0]
    if spelling.startswith("movmatrix"):
        held = fragment(spelling, "a")
        for lane in range(32):
            for bit in range(32):
                row, inside = held_bit(held, lane, bit)
                assert at(layout(atom, "SrcLayout"), lane, bit) == row * ROW_BITS + inside
        return
    held = fragment(spelling)
    in_memory, in_lanes = layout(atom, "SrcLayout"), layout(atom, "DstLayout")
    if spelling.startswith("stmatrix"):
        in_memory, in_lanes = in_lanes, in_memory
    for lane in range(32):
        for bit in range(32 * held.registers):
            row, inside = held_bit(held, lane, unpermuted(bit) if atom["register_byte_permute_after_load"] else bit)
            address_lane = held.address_lane(matrix=row // held.rows, row=row % held.rows)
            assert at(in_lanes, lane, bit) == at(in_memory, address_lane, inside), (lane, bit)


def test_all_24_are_there_and_reach_every_blackwell_form() -> None:
    names = {str(atom["name"]) for atom in ATOMS}
    assert len(names) == 24
    assert sum(name.startswith("SM100") for name in names) == 11
