"""Positions as clients count them, and edits made by them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.lsp.changes import ClientEdit, edited
from ptxloom.lsp.positions import Encoding, Lines, Position

PIECES = st.sampled_from(["a", ";", " ", "\t", "é", "…", "𝄞", "\n", "\r\n", "\r", "\f", "\u2028", "\x1c"])
TEXTS = st.lists(PIECES, max_size=30).map("".join)
ENCODINGS = st.sampled_from(list(Encoding))


def width(text: str, encoding: Encoding) -> int:
    """Code units, counted in another way than the code under test does."""
    match encoding:
        case Encoding.UTF32:
            return len(text)
        case Encoding.UTF16:
            return sum(2 if ord(letter) > 0xFFFF else 1 for letter in text)
        case Encoding.UTF8:
            return sum(1 + (ord(c) > 0x7F) + (ord(c) > 0x7FF) + (ord(c) > 0xFFFF) for c in text)


def rows(text: str) -> list[str]:
    """The lines by the protocol's definition."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


@given(TEXTS, ENCODINGS)
def test_every_offset_has_one_position_and_comes_back(text: str, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    assert len(lines.starts) == len(rows(text))
    for offset in range(len(text) + 1):
        position = lines.position(offset)
        start = lines.starts[position.line]
        assert position.column == width(text[start:offset], encoding)
        if offset <= lines.end_of(position.line):
            assert lines.offset(position) == offset


@given(TEXTS, ENCODINGS)
def test_the_lines_are_those_of_the_protocol(text: str, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    found = [text[start : lines.end_of(number)] for number, start in enumerate(lines.starts)]
    assert found == rows(text)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), TEXTS), max_size=5), ENCODINGS)
def test_edits_replace_what_stands_between_two_positions(
    text: str, drawn: list[tuple[int, int, str]], encoding: Encoding
) -> None:
    changes: list[ClientEdit] = []
    after = text
    for one, other, new in drawn:
        lines = Lines(after, encoding)
        inside = [at for at in range(len(after) + 1) if at <= lines.end_of(lines.position(at).line)]
        first, last = sorted((inside[one % len(inside)], inside[other % len(inside)]))
        changes.append(ClientEdit(lines.position(first), lines.position(last), new))
        after = after[:first] + new + after[last:]
    assert edited(text, changes, encoding) == after


def test_an_edit_beyond_the_text_is_one_at_its_end() -> None:
    far = Position(9, 9)
    assert edited("a\nb", [ClientEdit(far, far, "c"), ClientEdit(Position(0, 7), Position(0, 0), "!")]) == "a!\nbc"


@pytest.mark.parametrize(
    ("position", "offset"),
    [((0, 99), 3), ((5, 0), 7), ((1, 99), 7), ((0, -1), 0)],
)
def test_positions_beyond_the_text_mean_its_end(position: tuple[int, int], offset: int) -> None:
    assert Lines("abc\ndef").offset(Position(*position)) == offset


def test_a_position_within_a_pair_of_surrogates_means_what_follows() -> None:
    assert Lines("𝄞x").offset(Position(0, 1)) == 1
