"""Real PTX, whole or mutilated: nothing raises, and the short way through it reads exactly what the grammar reads."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus_files import CorpusFile, corpus_files
from ptxloom.syntax import Module, Node, parse, walk
from ptxloom.syntax import format as laid_out

FILES = corpus_files()
PIECES = (
    *';{}()[],:@!.%#|-+<>=?"\\ \n\t\0é',
    *(
        "/*",
        "*/",
        "//",
        "::",
        "0f",
        "0x1",
        "09",
        ".5",
        "1e5",
        "WARP_SZ",
        "_",
        "a|b",
        "[a+-4]",
        "{a, b}",
        "{ a,b }",
        "'",
    ),
    *(
        ".loc 1 2 3",
        ".entry k(",
        ".reg .b32 a;",
        ".section .x {",
        ".b8 1, 2\n",
        "call (r), f, (a);",
        "L: ",
        "# 1\n",
        "ret",
    ),
)


@cache
def read(file: CorpusFile) -> str:
    return file.read()


def places(module: Module) -> list[tuple[type[Node], int, int]]:
    return [(type(node), node.start, node.end) for node in walk(module)]


def said(module: Module) -> list[tuple[str, str, str]]:
    return [(str(one), one.help, one.span.text) for one in module.diagnostics]


def assert_both_ways_agree(text: str) -> Module:
    fast, plain = parse(text), parse(text, fast=False)
    assert fast == plain
    assert said(fast) == said(plain)
    assert places(fast) == places(plain)
    return fast


@pytest.mark.sample(every=21)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_both_ways_agree_on_the_corpus(file: CorpusFile) -> None:
    module = assert_both_ways_agree(read(file))
    for node in walk(module):
        assert 0 <= node.start <= node.end <= module.end


@st.composite
def mutilated(draw: st.DrawFn) -> str:
    text = read(draw(st.sampled_from(FILES)))
    start = draw(st.integers(0, max(len(text) - 100, 0)))
    text = text[start : start + draw(st.sampled_from((60, 300, 1500)))]
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        cut = draw(st.sampled_from((0, 0, 1, 1, 2, 10)))
        text = text[:at] + draw(st.sampled_from(PIECES) | st.just("")) + text[at + cut :]
    return text


@settings(max_examples=400, deadline=None)
@given(mutilated())
def test_mutilated_text(text: str) -> None:
    module = assert_both_ways_agree(text)
    once = laid_out(module)
    printed = str(module)
    if module.diagnostics:
        return
    assert parse(printed) == module == parse(once)
    assert str(parse(printed)) == printed
    assert laid_out(parse(once)) == once
    assert len(parse(once).comments) == len(module.comments)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("".join(PIECES)), max_size=80))
def test_any_text(text: str) -> None:
    module = assert_both_ways_agree(text)
    laid_out(module)
    str(module)
