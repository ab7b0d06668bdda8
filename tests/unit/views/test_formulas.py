"""The formulas of a register give the elements that the fragment says."""

from __future__ import annotations

import re

import pytest

from ptxloom.fragments import Axis, Fragment, fragment
from ptxloom.isa.matrix import variants
from ptxloom.isa.products import mma_forms
from ptxloom.views.fragments.formulas import coordinate, held_together, register_line, register_part

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


def spelled(part: str, extent: int) -> set[int] | None:
    """What a slice selects; None if it is left open."""
    if part == "…":
        return None
    return set(range(extent)[slice(*(int(one) if one else None for one in part.split(":")))])


@pytest.mark.parametrize("held", FRAGMENTS, ids=lambda held: f"{held.spelling}-{held.operand}")
def test_the_part_of_a_register_is_what_all_lanes_hold(held: Fragment) -> None:
    for register in range(held.registers):
        inside = [one for one in held.elements if one.register == register]
        part = register_part(held, register)
        found = re.fullmatch(r"([^\[]*?)(?:\[(.*), (.*)\])?", part)
        assert found is not None
        name, rows, columns = found[1], found[2] or ":", found[3] or ":"
        assert spelled(rows, held.rows) in (None, {one.row for one in inside})
        assert spelled(columns, held.columns) in (None, {one.column for one in inside})
        matrices = {one.matrix for one in inside}
        numbers = {int(one) for one in re.findall(r"\d+", name)}
        assert numbers == (matrices if held.addressed or 1 == len(matrices) < held.matrices else set())


@pytest.mark.parametrize(
    ("form", "operand", "parts"),
    [
        ("ldmatrix.m8n8.x1.b16", None, ["m0"]),
        ("ldmatrix.m16n16.x2.trans.b8", None, ["m0[:, 0:8]", "m0[:, 8:16]", "m1[:, 0:8]", "m1[:, 8:16]"]),
        (
            "mma.m16n8k16.row.col.f32.f16.f16.f32",
            "c",
            ["c[0:8, 0:8:2]", "c[0:8, 1:8:2]", "c[8:16, 0:8:2]", "c[8:16, 1:8:2]"],
        ),
        ("mma.m16n8k16.row.col.f32.f16.f16.f32", "b", ["b[0:8, :]", "b[8:16, :]"]),
        ("tcgen05.ld.16x64b.x2.b32", None, ["[:, 0:2]", "[:, 2:4]"]),
    ],
)
def test_parts_are_short(form: str, operand: str | None, parts: list[str]) -> None:
    held = fragment(form, operand)
    assert [register_part(held, one) for one in range(held.registers)] == parts
