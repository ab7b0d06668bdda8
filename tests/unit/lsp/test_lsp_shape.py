"""Outline, folding and colours."""

from __future__ import annotations

from itertools import pairwise

import pytest

from corpus_files import CorpusFile, corpus_files
from lsp_text import KERNEL
from ptxloom.lsp.document import Document
from ptxloom.lsp.names import NameKind
from ptxloom.lsp.outline import folds, outline
from ptxloom.lsp.positions import Encoding, Position
from ptxloom.lsp.tokens import Colour, Trait, encode, tokens
from ptxloom.syntax import instructions
from ptxloom.syntax.bind import qualifier_span


def test_the_outline_holds_what_is_declared() -> None:
    table, dynamic, twice, k = outline(Document(KERNEL))
    assert (table.name, table.kind, table.detail) == ("table", NameKind.VARIABLE, ".global .align 4 .b8 [64]")
    assert dynamic.detail == ".extern .shared .align 16 .b8 []"
    assert [(one.name, one.kind) for one in twice.inner] == [
        ("result", NameKind.PARAMETER),
        ("value", NameKind.PARAMETER),
    ]
    assert [one.name for one in k.inner] == ["out", "n", "LOOP", "DONE"]
    assert (k.kind, k.detail) == (NameKind.KERNEL, ".entry")


def test_a_prototype_says_that_it_is_one() -> None:
    first, second = outline(Document(".func f();\n.func f() { ret; }\n"))
    assert (first.detail, second.detail) == (".func, declared only", ".func")
    assert (first.name_start, second.name_start) == (6, 17)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("file", corpus_files()[::10], ids=lambda file: file.name)
def test_entries_hold_their_names_and_lie_in_each_other(file: CorpusFile) -> None:
    text = file.read()
    waiting = [(entry, 0, len(text)) for entry in outline(Document(text))]
    while waiting:
        entry, start, end = waiting.pop()
        assert text[entry.name_start : entry.name_start + len(entry.name)] == entry.name
        assert start <= entry.start <= entry.name_start < entry.end <= end
        waiting += [(one, entry.start, entry.end) for one in entry.inner]


def test_scopes_and_comments_fold() -> None:
    text = "// one\n// two\n.entry k() {\n{ // a\n/* b */ ret; // c\n}\n}\n/* three\n*/\n/* d\n*/ .entry j();"
    found = sorted((text[start:end], what) for start, end, what in folds(Document(text)))
    body = text[text.index(".entry") : text.index("/* three") - 1]
    assert found == sorted(
        [
            ("// one\n// two", "comment"),
            (body, "region"),
            ("{ // a\n/* b */ ret; // c\n}", "region"),
            ("/* three\n*/", "comment"),
        ]
    )


def coloured(text: str) -> dict[str, tuple[Colour, tuple[Trait, ...]]]:
    return {text[one.start : one.end]: (one.colour, one.traits) for one in tokens(Document(text))}


def test_colours_follow_the_meaning() -> None:
    found = coloured(KERNEL)
    assert {text: found[text][0] for text in ("ldmatrix", ".sync", ".b16", ".visible", "%tid", ".x")} == {
        "ldmatrix": Colour.KEYWORD,
        ".sync": Colour.MODIFIER,
        ".b16": Colour.TYPE,
        ".visible": Colour.MACRO,
        "%tid": Colour.VARIABLE,
        ".x": Colour.PROPERTY,
    }
    assert found["%tid"][1] == (Trait.READONLY, Trait.DEFAULT_LIBRARY)
    assert found["out"] == (Colour.PARAMETER, (Trait.DECLARATION,))
    assert found["n"] == (Colour.PARAMETER, ())
    assert found["LOOP"][0] is Colour.LABEL
    assert found["k"][0] is Colour.FUNCTION
    assert found["table"] == (Colour.VARIABLE, (Trait.STATIC,))
    assert found["// the kernel"][0] is Colour.COMMENT
    assert found["@"][0] is Colour.OPERATOR


@pytest.mark.parametrize("file", corpus_files()[::15], ids=lambda file: file.name)
def test_every_instruction_is_coloured_as_one(file: CorpusFile) -> None:
    text = file.read()
    document = Document(text)
    keywords = {one.start for one in tokens(document) if one.colour is Colour.KEYWORD}
    opcodes = {qualifier_span(one, -1).start for one in instructions(document.module)}
    assert opcodes <= keywords
    words = list(tokens(document))
    assert all(first.end <= second.start for first, second in pairwise(words))


def test_part_of_a_text_is_coloured_like_the_whole() -> None:
    document = Document(KERNEL)
    start, end = KERNEL.index("{\n        .reg"), KERNEL.index("DONE:")
    start = KERNEL.rindex("\n", 0, start) + 1
    whole = [one for one in tokens(document) if start <= one.start < end]
    assert list(tokens(document, start, end)) == whole


def test_a_part_that_starts_in_a_comment_is_coloured_like_the_whole() -> None:
    text = "/* one\nadd.s32\ntwo */ ret;\nret;"
    document = Document(text)
    start = text.index("add")
    [comment, *rest] = tokens(document, start)
    assert (comment.start, text[comment.end :]) == (start, " ret;\nret;")
    assert rest == list(tokens(document))[1:]
    assert list(tokens(document, start, start + 7)) == [(start, start + 7, Colour.COMMENT, ())]


@pytest.mark.parametrize("encoding", list(Encoding))
def test_colours_are_sent_relative_and_cut_at_line_ends(encoding: Encoding) -> None:
    text = '/* 𝄞\r\n two */ ret; // é\n.file 1 "𝄞" '
    document = Document(text, encoding=encoding)
    data = encode(document, tokens(document))
    line = column = 0
    found: list[str] = []
    for at in range(0, len(data), 5):
        down, right, length, _, _ = data[at : at + 5]
        line, column = line + down, right if down else column + right
        start = document.lines.offset(Position(line, column))
        end = document.lines.offset(Position(line, column + length))
        found.append(text[start:end])
    assert found == ["/* 𝄞", " two */", "ret", "// é", ".file", "1", '"𝄞"']
