"""Notes that are reported only on request."""

from __future__ import annotations

import pytest

from ptxloom.checker import Selection, check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def notes(text: str) -> list[tuple[str, str]]:
    module = parse(HEAD + text)
    found = check(module, hints=True)
    more = [one for one in found if one.severity is Severity.NOTE]
    assert [one for one in found if one.severity is not Severity.NOTE] == list(check(module))
    return [(one.rule, one.span.text) for one in more]


CASES = {
    ".entry k() { .reg .b32 a, b, %r<4>; mov.u32 a, 1; ret; }": [("unused-name", "b")],
    ".entry k() { .reg .b32 a; { .reg .b32 a; mov.u32 a, 1; } ret; }": [("unused-name", "a")],
    ".entry k() { .reg .b32 a; { mov.u32 a, 1; } ret; }": [],
    ".entry k() { .reg .pred p; .reg .b64 a; .reg .v2 .b32 v; @p ld.global.v2.b32 v, [a]; mov.b32 v.x, 1; ret; }": [],
    ".entry k() { A: ret; }": [("unused-name", "A")],
    ".entry k() { .reg .u32 r; mov.u32 r, 0; T: .branchtargets A; brx.idx r, T; A: ret; }": [],
    ".func f() { ret; } .visible .func g() { ret; } .entry k(.param .u32 n) { ret; }": [("unused-name", "f")],
    ".func f() { ret; } .entry k() { call f; ret; }": [],
    ".func g(); .func f() { ret; } .alias g, f;": [],
    ".global .u32 a; .visible .global .u32 b; .global .u64 c[] = {a};": [("unused-name", "c")],
    ".entry k() { .reg .u32 a; bra L; mov.u32 a, 1; mov.u32 a, 2; L: ret; }": [
        ("unreachable-code", "mov.u32 a, 1; mov.u32 a, 2;")
    ],
    ".entry k() { ret; ret; }": [],
    ".entry k() { bra L; ret; M: trap; L: ret; }": [("unused-name", "M")],
    ".entry k() { ret; membar.cta; M: membar.gl; bra M; }": [("unreachable-code", "membar.cta; M: membar.gl; bra M;")],
    ".entry k() { $L__tmp1: ret; }": [],
    ".entry k() { { A: ret; } }\n.section .debug_info { .b64 A }": [],
    ".entry k() { .param .b32 p; ret; }": [("unused-name", "p")],
    ".entry k() { .reg .b32 a; add.s32 ; ret; ret; mov.u32 }": [],
    ".entry k() { }": [("missing-return", "}")],
    ".entry k() { .reg .pred p; setp.eq.u32 p, 1, 1; @p ret; }": [("missing-return", "}")],
    ".entry k() { L: bra L; }": [],
}


@pytest.mark.parametrize("text", CASES)
def test_notes(text: str) -> None:
    assert notes(text) == CASES[text]


def test_the_fix_adds_a_return() -> None:
    (found,) = check(parse(HEAD + ".entry k() {\n}"), hints=True)
    assert found.fix is not None
    text = found.span.source.text
    assert notes(text[len(HEAD) : found.fix.span.start] + found.fix.replacement + text[found.fix.span.end :]) == []


def test_the_fix_takes_a_line_where_the_brace_has_one() -> None:
    (found,) = check(parse(HEAD + ".entry k() {\n    membar.cta;\n}\n"), hints=True)
    assert found.fix is not None
    assert found.fix.replacement == "    ret;\n"
    (short,) = check(parse(HEAD + ".entry k() { membar.cta; }"), hints=True)
    assert short.fix is not None
    assert short.fix.replacement == "ret; "


def test_unreachable_code_names_what_ends_the_way_to_it() -> None:
    (found,) = check(parse(HEAD + ".entry k() {\n  exit;\n  membar.cta;\n  ret;\n}"), hints=True)
    assert [one.span.text for one in found.related] == ["exit;"]


def test_a_selection_asks() -> None:
    assert Selection.of(select=["unused-*"]).asks_for_hints
    assert Selection.of(select=["*"]).asks_for_hints
    assert not Selection.of(select=["*"], ignore=["unused-name", "unreachable-code", "missing-return"]).asks_for_hints
    assert Selection().hears_hints
    assert not Selection.of(ignore=["un*", "missing-return"]).hears_hints
    assert not Selection.of(select=["no-form"]).asks_for_hints
    assert not Selection.of(ignore=["no-form"]).asks_for_hints


@pytest.mark.parametrize("comment", ["ignore[unused-name]", "ignore"])
def test_a_comment_that_silences_a_note_is_not_in_vain(comment: str) -> None:
    text = f"{HEAD}.entry k() {{\n.reg .b32 a; // ptxloom: {comment}\nret;\n}}"
    assert check(parse(text)) == ()
    assert check(parse(text), hints=True) == ()
    used = text.replace("ret;", "mov.u32 a, 1;\nret;")
    assert [one.rule for one in check(parse(used))] == ["unused-ignore"]
