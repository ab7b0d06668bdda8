"""Carets stand under what they mean, whatever the line holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxloom.source import Source, Span
from ptxloom.views.core.cells import lay_out, width
from ptxloom.views.core.snippet import LINE_LIMIT, Mark, snippet
from ptxloom.views.core.style import Ink, Style


def mark(source: Source, piece: str, text: str = "", *, main: bool = True) -> Mark:
    start = source.text.index(piece)
    return Mark(Span(source, start, start + len(piece)), text, Ink.RED, main)


def drawn(*marks: Mark) -> str:
    return "\n".join(snippet(marks))


def test_the_line_of_the_style_guide() -> None:
    source = Source("\n" * 11 + "stmatrix.sync.aligned.m16n8.x4.b8 [addr], {r0,r1,r2,r3};", "kernel.ptx")
    assert drawn(mark(source, "m16n8", "this shape is stored in column-major order only")) == (
        "  --> kernel.ptx:12:23\n"
        "   |\n"
        "12 | stmatrix.sync.aligned.m16n8.x4.b8 [addr], {r0,r1,r2,r3};\n"
        "   |                       ^^^^^ this shape is stored in column-major order only\n"
        "   |"
    )


def test_several_marks_on_one_line_hang_their_remarks() -> None:
    source = Source("mov.b32 %r1, %rd2;", "k.ptx")
    main = mark(source, "%rd2", "64 bits")
    assert drawn(main, mark(source, "b32", "32 bits", main=False), mark(source, "%r1", "ok", main=False)) == (
        " --> k.ptx:1:14\n"
        "  |\n"
        "1 | mov.b32 %r1, %rd2;\n"
        "  |     --- ---  ^^^^ 64 bits\n"
        "  |     |   |\n"
        "  |     |   ok\n"
        "  |     32 bits\n"
        "  |"
    )


def test_marks_on_several_lines_and_files() -> None:
    source = Source("a\nb\nc\nd\n", "one.ptx")
    other = Source("x y", "two.ptx")
    text = drawn(mark(source, "d", "here"), mark(source, "a", "there", main=False), mark(other, "y", "far", main=False))
    assert text == (
        " --> one.ptx:4:1\n"
        "  |\n"
        "1 | a\n"
        "  | - there\n"
        "...\n"
        "4 | d\n"
        "  | ^ here\n"
        " ::: two.ptx:1:3\n"
        "  |\n"
        "1 | x y\n"
        "  |   - far\n"
        "  |"
    )


def test_a_span_over_several_lines_is_underlined_to_the_end_of_its_first() -> None:
    source = Source("foo {\n  bar\n}", "k.ptx")
    assert "  |     ^ never closed" in drawn(Mark(Span(source, 4, 13), "never closed", Ink.RED))


def test_the_end_of_the_text_and_the_empty_text_have_a_place() -> None:
    assert drawn(Mark(Span(Source("", "e.ptx"), 0, 0), "nothing", Ink.RED)).splitlines()[-2] == "  | ^ nothing"
    assert "1 | ret" in drawn(Mark(Span(Source("ret", "e.ptx"), 3, 3), "end", Ink.RED))


@given(
    before=st.text(alphabet=st.sampled_from("ab\té中\u0301\x1b\u202e😀"), max_size=12),
    piece=st.text(alphabet=st.sampled_from("xyé中\t"), min_size=1, max_size=5),
)
def test_carets_cover_exactly_the_cells_of_the_piece(before: str, piece: str) -> None:
    source = Source(f"{before}{piece};", "k.ptx")
    rows = snippet([Mark(Span(source, len(before), len(before) + len(piece)), "", Ink.RED)])
    carets = rows[3].removeprefix("  | ")
    _, cells = lay_out(before + piece)
    assert carets.count(" ") == cells[len(before)]
    assert carets.count("^") == max(1, cells[-1] - cells[len(before)])
    assert "\x1b" not in rows[2]
    assert "\u202e" not in rows[2]


@pytest.mark.parametrize("at", [0, 5, 5_000_000, 9_999_990])
def test_a_very_long_line_shows_only_what_surrounds_the_mark(at: int) -> None:
    source = Source("a" * at + "HERE" + "b" * (10_000_000 - at), "long.ptx")
    rows = snippet([Mark(Span(source, at, at + 4), "x", Ink.RED)])
    shown = rows[2].removeprefix("1 | ")
    assert width(shown) <= LINE_LIMIT + 2
    assert shown[rows[3].removeprefix("  | ").index("^") :].startswith("HERE")


def test_a_far_mark_of_a_long_line_is_clamped_not_lost() -> None:
    source = Source("HERE" + "b" * 500 + "THERE", "long.ptx")
    assert "far" in drawn(mark(source, "HERE", "near"), mark(source, "THERE", "far", main=False))


@pytest.mark.parametrize("columns", [20, 40, 79, 80, 200])
def test_a_line_takes_no_more_than_the_terminal_has(columns: int) -> None:
    text = "mov.b32 " + ", ".join(f"%r{number}" for number in range(100)) + ";"
    (found,) = [Mark(Span(Source(text), text.index("%r50"), text.index(", %r51")), "", Ink.RED)]
    shown, carets = snippet([found], Style(columns=columns))[2:4]
    assert len(shown) <= max(columns, 30)
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "%r50"
    assert len(snippet([found])[2]) == len("1 | ") + LINE_LIMIT + 2
