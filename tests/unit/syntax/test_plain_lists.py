"""Long initialisers take a short way; it reads what the grammar reads."""

from __future__ import annotations

import pytest

from ptxloom.syntax import parse, walk

EIGHT = "1, 2, 3, 4, 5, 6, 7, 8"
FLOATS = ", ".join(["0f3F800000", "0F00000000"] * 6)


@pytest.mark.parametrize(
    "listed",
    [
        "1, 2, 3",
        EIGHT,
        f"{EIGHT}, 9",
        f"{EIGHT}, 9".replace(", ", ","),
        f"{EIGHT}, 9".replace(", ", "\t,\r\n "),
        f"{EIGHT}, {EIGHT} ",
        f"{EIGHT},",
        f"{EIGHT}, 9,",
        f"{EIGHT}; 3",
        f"{EIGHT}, 00, 1, {EIGHT}, 9",
        f"0, {EIGHT}, -9, 0x1F, -0X2e, 0xFFFFFFFFFFFFFFFF, 999999999999999999, {EIGHT}, 1",
        f"-1, {EIGHT}, - 9, {EIGHT}, 9",
        f"{EIGHT}, 9U, {EIGHT}, 9",
        f"{EIGHT}, 9+1, {EIGHT}, a, {EIGHT}, {{3, 4}}",
        f"{EIGHT}, {{{EIGHT}, 9}}, {{{EIGHT}}}",
        f"{EIGHT}, 9, /* a, b */ 10, {EIGHT}, 9 // 1, 2",
        f"{EIGHT}, 99999999999999999999, 2, {EIGHT}",
        f"{EIGHT}, 0x10000000000000000, {EIGHT}",
        f"{EIGHT}, 0b11, 017, 08, {EIGHT}, 1",
        f"{EIGHT}, 1.5, {EIGHT}, 9 ? 1 : 2",
        f"{EIGHT}, , 3",
        FLOATS,
        f"{FLOATS}, 0f3F80000, {FLOATS}, 0d3FF0000000000000, {EIGHT}, {FLOATS}, -0f3F800000",
        "7",
        "1, 2, {3, 4}",
    ],
)
def test_both_ways_agree(listed: str) -> None:
    text = f".global .align 4 .b8 a[9] = {{{listed}}};\n.global .b32 b = 5;\nret;"
    fast, plain = parse(text), parse(text, fast=False)
    assert fast == plain
    assert list(map(str, fast.diagnostics)) == list(map(str, plain.diagnostics))
    assert [(one.start, one.end) for one in walk(fast)] == [(one.start, one.end) for one in walk(plain)]
