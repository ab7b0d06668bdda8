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
        ("cp.async.bulk.prefetch.L2.global [%a], 16;", True, False),
        ("prefetch.global.L2 [%a];", True, False),
    ],
)
def test_what_is_done_through_a_pointer(does: str, loaded: bool, stored: bool) -> None:
    text = f"""
    .visible .entry k(.param .u64 p) {{
    .shared .align 16 .b8 tile[64]; .reg .b64 %a; .reg .f32 %f;
    ld.param.u64 %a, [p]; {does} ret; }}
    """
    [use] = parameter_uses(parse(text).functions["k"])
    assert (use.pointer, use.loaded, use.stored) == (True, loaded, stored)
