"""Formatting keeps every comment and every statement, wherever comments stand, and settles at once."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.syntax import parse
from ptxloom.views.modules.formatted import formatted

PIECES = (
    ".version 9.0", ".target sm_90", ".address_size 64", ".visible .entry f(", ".param .u64 a,", ".param .u32 b", ")",
    ".maxntid 128", "{", ".reg .b32", "%r<3>", ";", "{", "mov.b32", "%r1,", "5", ";", "}", "L:", "@%p1 bra", "L", ";",
    "ret", ";", "}", ".section .debug_str", "{", ".b8 1, 2", "}", '.file 1 "k.cu"',
)  # fmt: skip
GAPS = st.sampled_from(
    [" ", "\n", "\n\n\n", " // one\n", "\n// alone\n", " /* in */ ", "\n/* a\n b */\n", " /* x */ // y\n"]
)


@settings(max_examples=80)
@given(st.lists(GAPS, min_size=len(PIECES), max_size=len(PIECES)))
def test_comments_anywhere(gaps: list[str]) -> None:
    text = "".join(piece + gap for piece, gap in zip(PIECES, gaps, strict=True))
    module = parse(text)
    assert not module.diagnostics
    once = formatted(module)
    assert once is not None
    assert parse(once) == module
    assert formatted(parse(once)) == once


CORPUS = sorted((Path(__file__).parents[1] / "corpus").rglob("*.ptx"), key=lambda p: p.stat().st_size)[:80]


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("path", CORPUS, ids=lambda p: p.name)
def test_the_corpus_settles_at_once(path: Path) -> None:
    module = parse(path.read_text(encoding="utf-8"))
    once = formatted(module)
    assert once is not None
    assert formatted(parse(once)) == once
