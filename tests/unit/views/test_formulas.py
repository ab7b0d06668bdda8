"""The formulas of a register give the elements that the fragment says."""

from __future__ import annotations

import re

import pytest

from ptxloom.fragments import Axis, Fragment, fragment
from ptxloom.isa.matrix import variants
from ptxloom.isa.products import mma_forms
from ptxloom.views.fragments.formulas import coordinate, held_together, register_line

FRAGMENTS = [
    *(fragment(move) for move in variants()),
    *(fragment(form, operand) for form in mma_forms()[::17] for operand in "abcd"),
    fragment("wgmma.m64n24k16.f16.f16.f16", "d"),
    fragment("wgmma.sp.m64n8k64.f32.e4m3.e5m2", "e"),
    fragment("wmma.mma.row.col.m8n32k16.f32.f32", "a"),
    fragment("tcgen05.ld.16x64b.x8.pack::16b.b32"),
]
AXES = (Axis.MATRIX, Axis.ROW, Axis.COLUMN)


def value(formula: str, lane: int, element: int) -> int:
    """A formula's value, with whole division."""
    assert re.fullmatch(r"[Te0-9+*/%() ]+", formula)
    return int(eval(formula.replace("/", "//"), {"T": lane, "e": element}))  # noqa: S307 - only digits and operators


@pytest.mark.parametrize("held", FRAGMENTS, ids=lambda held: f"{held.spelling}-{held.operand}")
def test_a_formula_gives_every_element_of_its_register(held: Fragment) -> None:
    for one in held.elements:
        number = one.bit // held.stride if held_together(held) > 1 else 0
        found = tuple(value(coordinate(held, axis, one.register), one.lane, number) for axis in AXES)
        assert found == (one.matrix, one.row, one.column)


def test_a_register_of_one_matrix_names_none() -> None:
    line = register_line(fragment("m8n8.x1.trans.b16"), 0)
    assert line == "lane T holds row 2*(T%4) + e, column T/4; e is 0 to 1, from the low bits up"
