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
.entry k() { .reg .b32 r<8>; .reg .b64 rd<2>; .reg .b128 q; .reg .f32 f<8>; .shared .align 16 .b8 tile[64];
"""
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {f0, f1, f2, f3}, {r0, r1, r2, r3}, {r4, r5}, "


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
