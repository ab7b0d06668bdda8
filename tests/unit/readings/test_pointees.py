"""What points where: rows read with the places that values are addresses of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ptxloom.parameter_use import parameter_uses
from ptxloom.readings.pointees import pointees
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Instruction, Name, Operand, Vector

if TYPE_CHECKING:
    from collections.abc import Sequence


class Notes:
    """Says how a value was made."""

    data = ""

    def either(self, one: str, other: str) -> str:
        """One of two."""
        return "|".join(sorted(filter(None, {one, other})))

    def step(self, values: Sequence[str], places: Sequence[int]) -> str:
        """The first address at one of the places."""
        return next((values[at] for at in places if values[at]), "?" if any(values) else "")

    def opaque(self, values: Sequence[str]) -> str:
        """Unknown, if an address is among them."""
        return "?" if any(values) else ""

    def cut(self, value: str, bits: int) -> str:
        """With the bits that are left."""
        return f"{value}:{bits}" if value else ""


def made(text: str) -> list[str]:
    (instruction,) = parse(text).statements
    assert isinstance(instruction, Instruction)

    def read(operand: Operand) -> str:
        match operand:
            case Name(text) if text in "pq":
                return text
            case Vector(elements):
                return "".join(map(read, elements))
            case _:
                return ""

    return pointees(Notes(), instruction, read)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("add.u64 d, p, 4;", ["p"]),
        ("sub.u64 d, p, q;", ["p"]),
        ("sub.u64 d, 4, p;", ["?"]),
        ("mad.wide.u32 d, a, b, p;", ["p"]),
        ("mul.lo.u64 d, p, 2;", ["?"]),
        ("selp.b64 d, p, q, c;", ["p|q"]),
        ("max.u64 d, p, q;", ["p|q"]),
        ("and.b64 d, p, -16;", ["p"]),
        ("cvta.to.global.u64 d, p;", ["p"]),
        ("cvt.u32.u64 d, p;", ["p:32"]),
        ("mov.b64 d, {p, 0};", ["p"]),
        ("mov.b64 {d, e}, p;", ["p:32", "?:32"]),
        ("mapa.shared::cluster.u32 d, p, 1;", [""]),
        ("setp.eq.u64 d, p, q;", [""]),
        ("ld.global.u64 d, [p];", [""]),
        ("shfl.sync.idx.b32 d, p, 0, 31, -1;", ["?"]),
        ("add.u64 d, p;", ["?"]),
    ],
)
def test_where_results_point(text: str, expected: list[str]) -> None:
    assert made(text) == expected


def test_a_pointer_that_was_chosen_is_one() -> None:
    text = ".entry k(.param .u64 p, .param .u64 q) { .reg .b64 %a<3>; .reg .f32 %f; ld.param.u64 %a0, [p]; "
    text += "ld.param.u64 %a1, [q]; max.u64 %a2, %a0, %a1; ld.global.f32 %f, [%a2]; ret; }"
    assert [one.pointer for one in parameter_uses(parse(text).functions["k"])] == [True, True]
