"""Whatever the text, whatever is asked: an answer, never an exception, and edits that stay inside the text."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest

from lsp_text import KERNEL
from ptxloom.lsp import completion, edits, hover, outline, signature, tokens
from ptxloom.lsp.document import Document

PIECES = (
    "{",
    "}",
    ";",
    ".",
    "%",
    '"',
    "/*",
    "*/",
    "//",
    "[",
    "<9>",
    "\n",
    "\r",
    "𝄞",
    ".reg",
    "@",
    ":",
    "%r1",
    "0f",
    " ",
)


def mutilated(seed: int) -> str:
    """The kernel with a few stretches deleted, doubled or replaced."""
    chance = random.Random(seed)
    text = KERNEL
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice((0, 1, 3, 40)))
        text = text[:start] + chance.choice((*PIECES, text[start:end] * 2)) + text[end:]
    return text


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("seed", range(40))
def test_a_broken_text_gets_answers(seed: int) -> None:
    document = Document(mutilated(seed))
    text, last = document.text, len(document.text)
    sent = tokens.encode(document, tokens.tokens(document))
    assert len(sent) % 5 == 0
    assert min(sent) >= 0
    assert 0 not in sent[2::5]
    for offset in {0, last, *random.Random(seed).choices(range(last), k=60)}:
        found = hover.hover(document, offset)
        assert found is None or 0 <= found.start <= found.end <= last
        for proposal in completion.complete(document, offset):
            assert proposal.start <= offset <= proposal.end
        told = signature.signature(document, offset)
        assert told is None or told.active < len(told.parameters)
        with suppress(edits.CannotRename):
            assert edits.rename(document, offset, "%brandnew")
    for entry in outline.outline(document):
        assert 0 <= entry.start <= entry.end <= last
    assert all(0 <= start <= end <= last for start, end, _ in outline.folds(document))
    for action in edits.actions(document, 0, last):
        assert edits.applied(text, action.edits) != text
    assert all(
        0 <= one.start <= one.end <= last for one in (*edits.layout(document), *edits.layout_of(document, 0, last))
    )


@pytest.mark.parametrize("end", range(0, len(KERNEL), 17))
def test_a_text_that_is_being_written_gets_answers(end: int) -> None:
    document = Document(KERNEL[:end])
    assert hover.hover(document, end) is None or end
    for proposal in completion.complete(document, end):
        assert KERNEL[proposal.start : end] == document.text[proposal.start :]


def test_an_empty_text_gets_answers() -> None:
    document = Document("")
    assert hover.hover(document, 0) is None
    assert ".version" in {one.text for one in completion.complete(document, 0)}
    assert outline.outline(document) == ()
    assert edits.layout(document) == ()
    assert [one.rule for one in document.findings] == ["missing-directive", "missing-directive"]
