"""What a repair writes is a form that the manual has."""

from __future__ import annotations

import pytest

import ptxloom as pl
from ptxloom.diagnosis.culprits import transposing

HEAD = ".version 8.6\n.target sm_100a\n.address_size 64\n"


@pytest.mark.parametrize(
    ("move", "other"),
    [
        (
            "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}",
            "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        ),
        ("ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%r0}", "ldmatrix.sync.aligned.m8n8.x1.b16"),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}", None),
        ("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0}", None),
    ],
)
def test_a_move_is_transposed_where_there_is_such_a_form(move: str, other: str | None) -> None:
    text = f"{HEAD}.entry k() {{ .shared .align 16 .b8 t[512]; .reg .b32 %r<4>; {move}, [t]; ret; }}"
    [op] = [one for one in pl.kernel(pl.parse(text), "k").program.ops if one.opcode == "ldmatrix"]
    found = transposing(op)
    assert (found.split(" ")[0] if found else None) == other
