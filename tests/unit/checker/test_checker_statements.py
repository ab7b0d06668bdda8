"""Findings about statements, with the words that they point at; what is right beside them has no finding."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.checker.core.type_compatibility import register_fits
from ptxloom.syntax import parse

HEAD = ".version 9.0\n.target {target}\n.address_size 64\n"
KERNEL = """.global .texref t; .global .b32 g; .const .b32 c;
.func one(.param .b32 a) {{ ret; }}
.entry other() {{ ret; }}
.entry k(.param .b64 prm) {{
.shared .align 16 .b8 sh[64]; .local .b32 lo; .reg .b32 r<9>; .reg .b64 rd<4>; .reg .f32 f<8>; .reg .pred p;
{body}
ret; }}
"""
Said = list[tuple[str, str]]


def said(text: str, target: str = "sm_100a") -> Said:
    """The rule of each finding, and what it points at."""
    return [(one.rule, one.span.text) for one in check(parse(HEAD.format(target=target) + text))]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cvta.shared.u64 rd0, sh;", []),
        ("cvta.shared.u64 rd0, g;", [("state-space", "g")]),
        ("cvta.global.u64 rd0, sh;", [("state-space", "sh")]),
        ("cvta.local.u64 rd0, lo; cvta.const.u64 rd0, c; cvta.param.u64 rd0, prm; cvta.global.u64 rd0, g;", []),
        ("cvta.local.u64 rd0, c; cvta.const.u64 rd0, g;", [("state-space", "c"), ("state-space", "g")]),
        ("selp.b32 r0, r1, r2, !p;", []),
        ("selp.b32 r0, r1, r2, !r3;", [("operand-type", "r3")]),
        ("setp.eq.and.s32 p, r0, r1, !r3;", [("operand-type", "r3")]),
        ("add.s32 r0, !r1, r2;", [("operand-kind", "!r1")]),
        ("selp.b32 r0, r1, r2, -p;", [("operand-kind", "-p")]),
        ("st.shared.v2.b32 [sh], {r0, r1};", []),
        ("st.shared.v2.b32 [sh], {r0, rd0};", [("element-types", "rd0")]),
        ("call rd0, (r0), list; list: .calltargets nowhere, one, other;", []),
    ],
)
def test_an_instruction(body: str, expected: Said) -> None:
    assert said(KERNEL.format(body=body)) == expected


def test_of_a_list_of_functions_those_count_that_can_be_called() -> None:
    """Neither a name that is nothing nor a kernel is among them."""
    body = "list: .calltargets nowhere, other, one; call rd0, ({}), list;"
    assert said(KERNEL.format(body=body.format("r0"))) == []
    assert said(KERNEL.format(body=body.format("rd1"))) == [("call-signature", "rd1")]


@pytest.mark.parametrize(
    ("operands", "says"),
    [("[t]", "holds 2 to 3 operands, not 1"), ("[t, t, {f4, f5}, f6]", "holds 2 to 3 operands, not 4")],
)
def test_how_many_operands_brackets_hold(operands: str, says: str) -> None:
    text = HEAD.format(target="sm_90") + KERNEL.format(body=f"tex.2d.v4.f32.f32 {{f0, f1, f2, f3}}, {operands};")
    assert [(one.rule, says in one.message) for one in check(parse(text))] == [("operand-count", True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".global .b32 a[] = {1}; .global .b32 b[2] = {}; .global .b32 d[2] = {1};", []),
        (".global .b32 a[] = {};", [("initial-value", "{}")]),
        (".global .v2 .b32 e[2] = {{1, 2}, {}};", [("initial-value", "{}")]),
        (".func plain() { ret; }", []),
        (".func %tid() { ret; }", [("reserved-name", "%tid")]),
        (".entry %laneid() { ret; }", [("reserved-name", "%laneid")]),
        (".global .b32 %ctaid;", [("reserved-name", "%ctaid")]),
    ],
)
def test_a_statement_of_a_module(text: str, expected: Said) -> None:
    assert said(text) == expected


def test_instructions_outside_functions_are_one_finding() -> None:
    found = said("bar.sync 0;\nbar.sync 0;\n{ ret; }\nbar.sync 0;\n")
    assert found == [("misplaced-directive", "bar.sync 0;")]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("sm_90", []), ("sm_90, debug", []),
        ("debug", [("misplaced-directive", "debug")]),
        ("texmode_independent, sm_90", [("misplaced-directive", "texmode_independent")]),
    ],
)  # fmt: skip
def test_the_architecture_comes_first(target: str, expected: Said) -> None:
    assert said(".entry k() { ret; }", target) == expected


@pytest.mark.parametrize(("target", "fits"), [("sm_75", False), ("sm_90a", False), ("sm_100", True), ("sm_120", True)])
def test_static_shared_memory_is_limited_before_sm_100(target: str, fits: bool) -> None:
    text = ".entry k() {{ .shared .b8 a[{}]; .reg .b64 r; mov.b64 r, a; ret; }}"
    assert said(text.format(48 * 1024), target) == []
    assert [rule for rule, _ in said(text.format(48 * 1024 + 1), target)] == ["memory-limit"] * (not fits)


def test_what_is_no_type_fits_nothing_and_holds_nothing() -> None:
    for name in ("b32", "u8", "f16x2", "pred", "e4m3", "b8x16"):
        assert not register_fits("texref", name)
        assert not register_fits(name, "opaque")
