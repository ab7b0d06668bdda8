"""`.reg .b32 %r<n>` costs what is mentioned of it, and a register has every spelling that ptxas gives it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine import semantics
from ptxloom.machine.plan.planner import plan
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from types import FrameType


CALL = "st.param.b32 [a], %r1; call (c), f, (a);"
STORE = "st.global.u32 [%rd0], %r1;"


def run(body: str, before: str = "") -> list[int]:
    out = np.zeros(8, np.uint32)
    entry(body, before=before).launch(1, 8, [out])
    return out.tolist()


@pytest.mark.parametrize("spelled", ["%r1", "%r01", "%r001", "%r000000000000000000000000000001"])
@pytest.mark.parametrize(
    "body",
    [
        "add.u32 {r}, %r0, 5; st.global.u32 [%rd0], %r1;",
        "add.u32 %r1, %r0, 5; st.global.u32 [%rd0], {r};",
        "add.u32 %r01, %r0, 5; mov.b64 %rd3, {{{r}, %r2}}; st.global.u32 [%rd0], %rd3;",
        "cvt.u64.u32 %rd03, 0; add.u64 %rd3, %rd0, %rd03; add.u32 {r}, %r0, 5; st.global.u32 [%rd003+0], %r1;",
        "setp.ge.u32 %p01, %r0, 0; @%p1 add.u32 {r}, %r0, 5; @%p001 st.global.u32 [%rd0], %r1;",
        "setp.eq.u32 %p02|%p01, %r0, 99; add.u32 %r2, %r0, 5; selp.u32 {r}, %r2, 0, %p1; st.global.u32 [%rd0], %r1;",
        "{{ .reg .b32 %r<3>; mov.u32 %r1, 9; }} add.u32 {r}, %r0, 5; {{ .reg .b32 x; st.global.u32 [%rd0], %r1; }}",
        "add.u32 %r5, %r0, 4; {{ .reg .b32 q<3>; mov.u32 q1, %r5; add.u32 %r1, q01, 1; }} st.global.u32 [%rd0], {r};",
        f"{{{{ .param .b32 a; .param .b32 c; add.u32 {{r}}, %r0, 2; {CALL} ld.param.b32 {{r}}, [c]; {STORE} }}}}",
    ],
)
def test_leading_zeros_name_the_same_register(spelled: str, body: str) -> None:
    called = ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %r<4>; ld.param.b32 %r01, [x]; add.u32 %r1, %r1, 3;"
    text = body.replace("{r}", spelled).replace("{{", "{").replace("}}", "}")
    assert run(text, f"{called} st.param.b32 [y], %r001; ret; }}\n") == [n + 5 for n in range(8)]


def test_a_name_of_its_own_is_no_member() -> None:
    body = ".reg .b32 x01; .reg .b32 x1; add.u32 x1, %r0, 5; mov.u32 x01, 7; st.global.u32 [%rd0], x1;"
    assert run(body) == [n + 5 for n in range(8)]


NAMES = {
    "before its own declaration a name means the outer one": """add.u32 %r1, %r0, 5;
        { st.global.u32 [%rd0], %r1; .reg .f32 %r<4>; mov.f32 %r1, 0f00000000; }""",
    "and after it the inner one": """mov.u32 %r1, 7;
        { mov.u32 %r2, %r1; .reg .b32 %r1; add.u32 %r1, %r0, 5; st.global.u32 [%rd0], %r1; }""",
    "a series hides what has a name of its own outside": """.reg .b32 x01; mov.u32 x01, 3;
        { mov.u32 %r1, x01; .reg .b32 x<2>; add.u32 x01, %r0, 2; add.u32 %r1, %r1, x1; st.global.u32 [%rd0], %r1; }
        """,
    "the outer one keeps its value": """add.u32 %r1, %r0, 5;
        { mov.u32 %r2, %r1; .reg .b32 %r1; mov.u32 %r1, 1; { .reg .b32 %r1; mov.u32 %r1, 2; } }
        st.global.u32 [%rd0], %r1;""",
    "a register hides a special one": """.reg .b32 %laneid; add.u32 %laneid, %r0, 5; mov.b64 %rd3, {%laneid, %r0};
        st.global.u32 [%rd0], %laneid; cvt.u32.u64 %r1, %rd3; st.global.u32 [%rd0], %r1;""",
    "before its declaration the special one is meant": """mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 4;
        .reg .v4 .b32 %tid; mov.u32 %tid.x, 1; add.u32 %r1, %r1, %tid.x; st.global.u32 [%rd0], %r1;""",
    "in a run of instructions, too": """.reg .v4 .b32 %tid; mov.u32 %tid.x, 2; mov.u32 %tid.y, 3;
        add.u32 %r2, %tid.x, %tid.y;
        add.u32 %r3, %r2, %tid.y; sub.u32 %r4, %r3, %tid.y; add.u32 %r1, %r4, %r0; st.global.u32 [%rd0], %r1;""",
    "a label hides no register that is named before it": """.reg .b32 L; add.u32 L, %r0, 5;
        { st.global.u32 [%rd0], L; L: mov.u32 %r1, 0; }""",
    "a branch goes to the label of its own braces": """mov.u32 %r1, %r0; bra L; L: add.u32 %r1, %r1, 5;
        { setp.ge.u32 %p1, %r0, 0; @%p1 bra L; add.u32 %r1, %r1, 99; L: st.global.u32 [%rd0], %r1; }""",
    "a parameter is hidden from its new declaration on": """add.u32 %r1, %r0, 5;
        { ld.param.u64 %rd3, [out]; .reg .b32 out; mov.u32 out, %r1; st.global.u32 [%rd0], out; }""",
}


@pytest.mark.parametrize("body", NAMES.values(), ids=NAMES)
def test_names_mean_what_ptxas_has_them_mean(body: str) -> None:
    assert run(body) == [n + 5 for n in range(8)]


def steps(count: int) -> int:
    """The calls that it takes to plan a kernel with a series of `count` registers."""
    text = (
        f".version 9.0 .target sm_90 .address_size 64 .entry k() {{ .reg .b32 %r<{count}>; .reg .v2 .f32 %v<{count}>;"
    )
    module = parse(f"{text} mov.u32 %r{count - 1}, 7; add.u32 %r0, %r{count - 1}, 1; ret; }}")
    found = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal found
        found += event in {"call", "c_call"}

    sys.setprofile(note)
    try:
        plan(module, "k", semantics.BlockCuts())
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.skipif(sys.getprofile() is not None, reason="a profiler is at work")
def test_a_series_costs_what_is_mentioned_of_it() -> None:
    steps(8)
    assert steps(8_000_000) == steps(8)
