"""A unified diff says all that changes and nothing else: applied to the first text it gives the second."""

from __future__ import annotations

import re
from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from ptxloom.views.core.line_diffs import unified

LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "ret;\n", "add.s32 %r1, %r1, 1;\n"]), max_size=400)
SOME = st.tuples(LINES, st.lists(st.tuples(st.integers(0, 400), st.booleans()), max_size=30))


def applied(text: str, diff: str) -> str:
    """What `patch` makes of a text."""
    lines, out, at = text.splitlines(keepends=True), list[str](), 0
    for line in diff.splitlines(keepends=True)[2:]:
        if head := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(head[1]) - (head[2] != "0")
            out += lines[at:start]
            at = start
        elif line[0] == "+":
            out.append(line[1:])
        else:
            assert lines[at] == line[1:]
            out += [lines[at]] * (line[0] == " ")
            at += 1
    return "".join((*out, *lines[at:]))


@given(SOME)
def test_a_diff_makes_the_second_text_of_the_first(given_: tuple[list[str], list[tuple[int, bool]]]) -> None:
    lines, changes = given_
    other = list(lines)
    for at, goes in changes:
        if goes:
            del other[at : at + 2]
        else:
            other.insert(at, f"new {at}\n")
    one, two = "".join(lines), "".join(other)
    assert applied(one, unified(one, two, "one", "two")) == two


@given(st.lists(st.sampled_from("abcd"), max_size=20), st.lists(st.sampled_from("abcd"), max_size=20))
def test_short_texts_that_begin_and_end_alike_are_told_apart_as_by_difflib(one: list[str], two: list[str]) -> None:
    first, second = ("\n".join(["start", *lines, "end", ""]) for lines in (["x", *one, "x"], ["y", *two, "y"]))
    before, after = first.splitlines(keepends=True), second.splitlines(keepends=True)
    assert unified(first, second, "one", "two").count("\n-") == "".join(unified_diff(before, after)).count("\n-")
