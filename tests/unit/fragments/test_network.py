"""Rearrangements by interleaving, carried out on lists instead of vectors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.fragments.model import Axis, Digit
from ptxloom.fragments.native import source
from ptxloom.fragments.network import Side, rearrange
from ptxloom.isa.matrix import variants

DIGITS = tuple(Digit(Axis.ROW, 1 << place) for place in range(7))
SHUFFLE = re.compile(r" {2}(\S+) = shufflevector <\d+ x i8> (\S+), <\d+ x i8> (\S+), <\d+ x i32> <(.*)>")


def position(side: Side, element: int) -> tuple[int, int]:
    """(vector, place) of an element, whose number's binary digits are the digits' values."""
    values = {digit: element >> place & 1 for place, digit in enumerate(DIGITS)}
    vector = sum(values[digit] << place for place, digit in enumerate(reversed(side.outer)))
    return vector, sum(values[digit] << place for place, digit in enumerate(reversed(side.inner)))


def filled(side: Side) -> dict[str, list[int]]:
    """Vectors that hold the number of each element where the side says."""
    count = 1 << len(side.inner)
    vectors = {f"%v{number}": [-1] * count for number, _ in side.vectors()}
    for element in range(1 << len(DIGITS)):
        vector, place = position(side, element)
        vectors[f"%v{vector}"][place] = element
    return vectors


@settings(deadline=None)
@given(st.permutations(DIGITS), st.permutations(DIGITS), st.integers(1, 4))
def test_any_digits_reach_any_order(first: list[Digit], second: list[Digit], inner: int) -> None:
    start = Side(tuple(first[inner:]), tuple(first[:inner]))
    target = Side(tuple(second[inner:]), tuple(second[:inner]))
    held = filled(start)
    lines, moved = rearrange({ones: f"%v{number}" for number, ones in start.vectors()}, start, target, "i8")
    for line in lines:
        match = SHUFFLE.fullmatch(line)
        assert match, line
        name, left, right, mask = match.groups()
        both = held[left] + (held[right] if right != "poison" else [])
        held[name] = [both[int(pick.split()[1])] for pick in mask.split(", ")]
    wanted = filled(target)
    for number, ones in target.vectors():
        assert held[moved[ones]] == wanted[f"%v{number}"]


@pytest.mark.parametrize(("form", "most"), [("m8n8.x4.b16", 64), ("m8n8.x4.trans.b16", 96), ("m8n8.x1.b16", 0)])
def test_a_move_takes_as_few_interleavings_as_it_needs(form: str, most: int) -> None:
    (move,) = (v for v in variants() if v.opcode == "ldmatrix" and v.short == form)
    assert source(move).count("shufflevector") == most


def test_the_code_of_a_form_is_always_the_same() -> None:
    for move in variants():
        text = source(move)
        assert text == source(move)
        assert np.char.count(text, "store") > 0
