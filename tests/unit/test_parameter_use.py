"""What a kernel does with its parameters, read off its text."""

from __future__ import annotations

import pytest

from ptxloom.parameter_use import parameter_uses
from ptxloom.syntax import parse


@pytest.mark.parametrize(
    ("does", "loaded", "stored"),
    [
        ("ld.global.f32 %f, [%a];", True, False),
        ("st.global.f32 [%a], %f;", False, True),
        ("red.global.add.f32 [%a], %f;", True, True),
        ("cp.async.ca.shared.global [tile], [%a], 16;", True, False),
        ("cp.async.bulk.global.shared::cta.bulk_group [%a], [tile], 16;", False, True),
        ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%a], [tile], 16;", True, True),
        ("cp.async.bulk.prefetch.L2.global [%a], 16;", False, False),
        ("prefetch.global.L2 [%a];", False, False),
        ("discard.global.L2 [%a], 128;", False, False),
        ("wmma.store.d.sync.aligned.row.m8n32k16.global.f16 [%a], {%h, %h, %h, %h};", False, True),
        ("wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%h, %h, %h, %h}, [%a], 8;", True, False),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%a], {%h};", False, True),
        ("multimem.st.weak.global.u32 [%a], %h;", False, True),
        ("multimem.ld_reduce.weak.global.add.u32 %h, [%a];", True, False),
        ("tensormap.replace.tile.rank.global.b1024.b32 [%a], 1;", True, True),
    ],
)
def test_what_is_done_through_a_pointer(does: str, loaded: bool, stored: bool) -> None:
    text = f"""
    .visible .entry k(.param .u64 p) {{
    .shared .align 16 .b8 tile[64]; .reg .b64 %a; .reg .f32 %f; .reg .b32 %h;
    ld.param.u64 %a, [p]; {does} ret; }}
    """
    [use] = parameter_uses(parse(text).functions["k"])
    assert (use.pointer, use.loaded, use.stored) == (True, loaded, stored)
