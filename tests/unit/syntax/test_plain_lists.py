"""Long initialisers take a short way; it reads what the grammar reads."""

from __future__ import annotations

import pytest

from ptxloom.syntax import parse, walk


@pytest.mark.parametrize(
    "listed",
    [
        "1, 2, 3",
        "1,2,3",
        "0, 00, 1",
        "1, 2, 3 ",
        "1, -2, 3",
        "1, 0x2, 3",
        "1, 2, 3U",
        "1, 2, {3, 4}",
        "1, 2,",
        "1, 2; 3",
        "7",
        "1, 99999999999999999999, 2",
    ],
)
def test_both_ways_agree(listed: str) -> None:
    text = f".global .align 4 .b8 a[9] = {{{listed}}};\n.global .b32 b = 5;\nret;"
    fast, plain = parse(text), parse(text, fast=False)
    assert fast == plain
    assert list(map(str, fast.diagnostics)) == list(map(str, plain.diagnostics))
    assert [(one.start, one.end) for one in walk(fast)] == [(one.start, one.end) for one in walk(plain)]
