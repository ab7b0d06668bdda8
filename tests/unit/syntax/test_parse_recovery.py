"""A bad statement gives one diagnostic at its place, and everything around it is still read."""

from __future__ import annotations

import pytest

from ptxloom.syntax import format as laid_out
from ptxloom.syntax import instructions, parse, walk
from ptxloom.syntax.scopes import MAX_SCOPES
from ptxloom.syntax.tree import Block, Malformed

BEFORE = ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\tmov.u32 %r0, 0;\n"
AFTER = "\n\tmov.u32 %r7, 7;\n\tret;\n}\n.visible .entry z(.param .u64 p)\n{\n\ttrap;\n}\n"
LINE = 7  # of the bad statement

BAD = [
    ("\tadd.s32 %r1, %r2, %r3", "missing-semicolon", "3"),
    ("\tret", "missing-semicolon", "t"),
    ("\tbar.sync 0 // comment", "missing-semicolon", "0"),
    ("\tadd.s32", "missing-semicolon", "2"),
    ("\tL1", "incomplete-statement", "1"),
    ("\t.reg .b32 %x", "missing-semicolon", "x"),
    ("\t.reg .b32", "incomplete-statement", "2"),
    ("\tadd.s32 %r1,", "incomplete-statement", ","),
    ("\tadd.s32 %r1, %r2, (", "incomplete-statement", "("),
    ("\t.loc 1 2", "incomplete-statement", "2"),
    ("\tmov.u32 %r1, %r2,;", "unexpected-token", ";"),
    ("\tmov.u32 %r1 %r2;", "unexpected-token", "%r2"),
    ("\tmov.u32 %r1, [%r2;", "unexpected-token", ";"),
    ("\tmov.u32 %r1, {%r2, %r3;", "unexpected-token", ";"),
    ("\tmov.u32 %r1, %r2};", "unexpected-token", "}"),
    ("\tld.u32 %r1, %r2];", "unexpected-token", "]"),
    ("\tmov.u32 %r1, 0x;", "unexpected-token", "x"),
    ("\tmov.u32 %r1, 'a';", "unexpected-token", "'"),
    ("\tmov.u32 %r1, 1+;", "unexpected-token", ";"),
    ("\tmov.u32 %r1, 5: mov.u32 %r2, 5;", "unexpected-token", ":"),
    ("\tmov.u32 %r1, 1 mov.u32 %r2, 2;", "unexpected-token", "mov"),
    ("\tcall (%r1, f, (%r2);", "unexpected-token", ";"),
    ("\t;", "unexpected-token", ";"),
    ("\tx = 3;", "unexpected-token", "="),
    ("\t.loc 1 2 3;", "unexpected-token", ";"),
    ("\t.pragma unroll;", "unexpected-token", "unroll"),
    ("\t@ mov.u32 %r1, 1;", "unexpected-token", ".u32"),
    ("\tmov.u32 %r1, [%r2]+4;", "unexpected-token", "+"),
    ('\tmov.u32 %r1, "a";', "unexpected-token", '"a"'),
    ("\t_: ret;", "unexpected-token", "_"),
    ("\t.loc 1 2 3, inlined_at 1 2 3", "unexpected-token", "inlined_at"),
    ("\t.section debug_str { .b8 1 }", "unexpected-token", "debug_str"),
    ("\t# 3", "unexpected-token", "#"),
    ("\tmov.f32 %r1, -0f3F800000;", "malformed-number", "-0f3F800000"),
    ("\t.reg .u32 .v4 v;", "unexpected-token", ".v4"),
    ("\té", "unexpected-token", "é"),
    ("\tmov.u32 %r1, 09;", "malformed-number", "09"),
    ("\t.rag .b32 %r<4>;", "unknown-directive", ".rag"),
    ('\tmov.u32 %r1, "abc;', "unterminated-string", '"'),
    ("\t/* never closed", "unterminated-comment", "/*"),
    ("\t.section .debug_x { .b8 1, }", "unexpected-token", "}"),
    (f"\tmov.u32 %r1, {'(' * 60}1{')' * 60};", "nested-too-deeply", "("),
]


@pytest.mark.parametrize(("bad", "rule", "marked"), BAD, ids=[bad[0].strip() for bad in BAD])
@pytest.mark.parametrize("fast", [True, False])
def test_one_diagnostic_and_the_rest_is_read(bad: str, rule: str, marked: str, fast: bool) -> None:
    module = parse(BEFORE + bad + AFTER, "k.ptx", fast=fast)
    (found,) = module.diagnostics
    assert found.rule == rule
    assert found.span.text == marked
    assert found.span.line == LINE
    assert list(module.functions) == ["k", "z"]
    read = [str(one.operands[0]) for one in instructions(module, "mov") if one.operands[1:]]
    assert read[0] == "Name(text='%r0')"
    assert read[-1] == "Name(text='%r7')"
    assert len(list(instructions(module, "trap"))) == 1
    assert laid_out(module)


def test_a_missing_semicolon_comes_with_its_fix() -> None:
    module = parse("ret\nmov.u32 a, b\n.reg .b32 c\n}")
    fixes = [(one.fix.span.start, one.fix.replacement) for one in module.diagnostics if one.fix]
    assert fixes == [(3, ";"), (16, ";"), (28, ";")]
    assert [one.rule for one in module.diagnostics][-1] == "unmatched-brace"


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        (".entry k()\n.reg .b32 a;\nret;\n}\n", ".entry k() {\n.reg .b32 a;\nret;\n}\n"),
        (".entry k() {\n$L1 // here\nret;\n}\n", ".entry k() {\n$L1: // here\nret;\n}\n"),
    ],
)
def test_what_is_missing_comes_with_its_fix(text: str, repaired: str) -> None:
    (found,) = parse(text).diagnostics
    assert found.fix is not None
    at = found.fix.span.start
    assert text[:at] + found.fix.replacement + text[found.fix.span.end :] == repaired
    assert parse(repaired).diagnostics == ()


def test_a_misspelt_directive_is_guessed() -> None:
    (found,) = parse(".shaerd .b8 a[4];").diagnostics
    assert found.help == "did you mean `.shared`?"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (".entry k() { ret;", ["unclosed-brace"]),
        (".entry k() {\n ret;\n.entry z() { trap; }", ["unclosed-brace"]),
        ("ret; }", ["unmatched-brace"]),
        (".entry (.param .u32 a) { ret; }", ["unexpected-token"]),
        (".func f(.param .u32 a { ret; }", ["unexpected-token"]),
        (".entry g() .maxntid { ret; }", ["unexpected-token"]),
        (".entry g(.param .u32 a) junk { ret; }", ["unexpected-token"]),
        (".visible .entry q(.param .u64 p\n{ ret; }", ["unexpected-token"]),
        (".extern .func f(.param .u64 p)\n.entry k() { ret; }", ["missing-semicolon"]),
        (
            ".section .debug_x {\n.b8 1, ,\nx\n.b8 2\n}\n.entry k() { ret; }",
            ["unexpected-token", "incomplete-statement"],
        ),
        (".section .debug_x {\n.b8 1\n.entry k() { ret; }", ["unclosed-brace"]),
        (".version 9", ["unexpected-token"]),
        (".target", ["unexpected-end"]),
        (".target sm_90,", ["unexpected-end"]),
        ("mov.u32 a, [", ["unexpected-end"]),
        ("ret", ["missing-semicolon"]),
        (".file 1", ["unexpected-end"]),
    ],
)
def test_beyond_instructions(text: str, rules: list[str]) -> None:
    module = parse(text)
    assert [one.rule for one in module.diagnostics] == rules
    if "ret;" in text:
        assert len(list(instructions(module, "ret"))) == 1


def test_deep_scopes_are_read_but_flattened() -> None:
    depth = 10_000
    module = parse("{" * depth + "ret;" + "}" * depth)
    (found,) = module.diagnostics
    assert found.rule == "nested-too-deeply"
    assert sum(1 for node in walk(module) if isinstance(node, Block)) == MAX_SCOPES
    assert len(list(instructions(module))) == 1
    assert parse(str(module)) == module
    assert module == parse(laid_out(module))


def test_reading_ends_after_very_many_problems() -> None:
    module = parse(";\n" * 100_000)
    assert [one.rule for one in module.diagnostics[-2:]] == ["unexpected-token", "too-many-problems"]
    assert len(module.diagnostics) == 10_001
    assert isinstance(module.statements[-1], Malformed)


@pytest.mark.sample(every=9)
@pytest.mark.parametrize(
    "piece",
    [
        *(
            "{",
            "}",
            "/* \n",
            "/**",
            '"',
            'x "\\";\n',
            "a ",
            "a\n",
            "add.s32 %r1 ",
            "a b{",
            "a:",
            "@p a ",
            "a ((",
            "a [",
            "- ",
        ),
        *(
            ".loc 1 2 3\n\n",
            "# 1 \n",
            "\\\n",
            ".",
            ".entry f {\n",
            ".section .x {\n",
            ".reg .b32 a,",
            "9",
            "é",
            "\0",
            "a b?",
        ),
        *(
            "call\n",
            "a {b, ",
            "x {a,b},{c",
            "a b|",
            "a(",
            ".b8 1\n",
            '.pragma "x" ',
            "add.s32 %r1, %r2, %r3;",
            "\n",
            "//",
            "};",
            "}//\n",
            "} .b8 1\n",
            ".section .x {\n} .b8 1\n",
            ".entry k\nret;\n}\nret;\n}\n",
            ".func f(;",
            "a {b c}, d;\n",
            "a {b c};x",
            "a }b;",
        ),
    ],
)
def test_long_nonsense_is_read_in_one_pass(piece: str) -> None:
    text = piece * (150_000 // len(piece))  # anything quadratic would take minutes here
    module = parse(text)
    assert module.source.text == text


def test_a_line_of_ten_megabytes() -> None:
    module = parse("x" * 10_000_000)
    assert [one.rule for one in module.diagnostics] == ["missing-semicolon"]
