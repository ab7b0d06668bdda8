"""Vectors of constants alone; verdicts as ptxas 13.5 gives them."""

from __future__ import annotations

import pytest

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse

HEAD = """.version 9.0
.target sm_90
.address_size 64
.global .texref texture;
.entry k() { .reg .b32 r<8>; .reg .s32 s<4>; .reg .b64 rd<2>; .reg .b128 q; .reg .f32 f<8>;
.shared .align 16 .b8 tile[64];
"""
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, "


PLACE = "tex.2d.v4.f32.f32 {f0, f1, f2, f3}, [texture, "


@pytest.mark.parametrize(
    ("statement", "severity", "at"),
    [
        (f"{PLACE}{{f4, f5}}];", "", ""),
        (f"{PLACE}{{s0, s1}}];", "warning", "s0"),
        (f"{PLACE}{{1, 2}}];", "error", "1"),
        ("tex.2d.v4.f32.f32 {s0, s1, s2, s3}, [texture, {f4, f5}];", "warning", "s0"),
        ("tex.2d.v4.f32.f32 {_, s1, s2, s3}, [texture, {f4, f5}];", "warning", "s1"),
        ("st.shared.v2.u64 [tile], {1, r0};", "error", "r0"),
        ("st.shared.v2.u64 [tile], {r0, 1};", "error", "r0"),
        ("tex.2d.v4.f32.f32 {rd0, s1, s2, s3}, [texture, {f4, f5}];", "error", "s1"),
    ],
)
def test_the_register_that_decides_the_type_is_the_one_that_is_shown(statement: str, severity: str, at: str) -> None:
    found = check(parse(f"{HEAD}{statement}\n}}\n"))
    assert [(each.severity.value, each.span.text) for each in found] == [(severity, at)] * bool(severity)


@pytest.mark.parametrize(("mask", "severity"), [("h0", ""), ("{h0}", "warning"), ("{h0, h1}", "error")])
def test_one_value_may_stand_in_braces_where_ptxas_says_so(mask: str, severity: str) -> None:
    head = ".version 9.5\n.target sm_107a\n.address_size 64\n.entry k() { .reg .b32 r<4>; .reg .b64 rd; .reg .b16 h<2>;"
    put = (
        "fabric.try_put.async.shared::cta.mbarrier::complete_tx::16B.mbarrier::report::fabric.cp_mask.relaxed.sys.b128"
    )
    found = check(parse(f"{head}\n{put} [r0, rd], [r1], 256, [r2], {mask};\n}}\n"))
    assert {each.severity.value for each in found} == {severity} - {""}


@pytest.mark.parametrize(
    ("statement", "rules"),
    [
        ("mov.b64 rd0, {0f00000000, 0f3F800000};", []),
        ("mov.b64 rd0, {0.0, 1.0};", ["vector-length"]),
        ("mov.b64 rd0, {1, 2.0};", ["element-types"]),
        ("mov.b128 q, {0.0, 1.0};", []),
        ("st.shared.v2.f32 [tile], {1.0, 2.0};", []),
        ("st.shared.v2.b64 [tile], {1.0, 2.0};", []),
        ("st.shared.v2.b32 [tile], {1.0, 2.0};", ["constant-type"]),
        ("st.shared.v2.b32 [tile], {1.0, r0};", []),
        ("st.shared.v2.b32 [tile], {0f3F800000, 0f3F800000};", []),
        ("st.shared.v2.f32 [tile], {1.0, 2};", ["element-types"]),
        (f"{MMA}{{0f00000000, 0f00000000, 0f00000000, 0f00000000}};", []),
        (f"{MMA}{{0.0, f1, 0.0, 0.0}};", []),
        (f"{MMA}{{0.0, 0.0, 0.0, 0.0}};", ["constant-type"]),
        ("tex.grad.2d.v4.f32.f32 {f0, f1, f2, f3}, [texture, {f4, f5}], {1.0, 1.0}, {1.0, 1.0};", []),
    ],
)
def test_constants_among_themselves_have_a_type(statement: str, rules: list[str]) -> None:
    found = check(parse(f"{HEAD}{statement}\n}}\n"))
    assert [each.rule for each in found if each.severity is Severity.ERROR] == rules


@pytest.mark.parametrize("element", ["unknown", "texture"])
def test_of_a_vector_with_an_element_that_is_wrong_by_itself_nothing_else_is_said(element: str) -> None:
    found = check(parse(f"{HEAD}tex.2d.v4.f32.f32 {{rd0, s1, {element}, f3}}, [texture, {{f4, f5}}];\n}}\n"))
    assert [each.span.text for each in found] == [element]
