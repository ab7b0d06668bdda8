"""`printf`, `malloc`, `free` and `assert` of a kernel, as nvcc compiles them to calls of the device run-time."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine import LaunchError, UnsupportedInstruction

EXTERN = """
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.extern .func elsewhere();
"""


def string(name: str, text: str) -> str:
    codes = ", ".join(str(b) for b in [*text.encode(), 0])
    return f".global .align 1 .b8 {name}[{len(text.encode()) + 1}] = {{{codes}}};\n"


PRINT = """
.local .align 8 .b8 room[32]; .reg .b64 %at; .reg .f64 %half;
mov.u64 %at, room; cvta.local.u64 %at, %at; st.local.u32 [room], %r0; mov.u64 %rd4, word;
st.local.u64 [room+8], %rd4; mov.f64 %half, 0d3FE0000000000000; st.local.f64 [room+16], %half;
mov.u64 %rd5, form;
{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd5; st.param.b64 [v], %at;
call (r), vprintf, (f, v); }
"""


def test_printing_is_collected_lane_by_lane() -> None:
    before = EXTERN + string("form", "%3d|%-5s|%.2f|%%\n") + string("word", "abc")
    guard = "setp.gt.u32 %p1, %r0, 1; @%p1 bra DONE;"
    out = entry(guard + PRINT + "DONE:", before=before).launch(1, 40, [np.zeros(40, np.uint32)])
    assert out.output == "  0|abc  |0.50|%\n  1|abc  |0.50|%\n"


ALLOCATE = """
mov.u64 %rd4, 64;
{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd4; call (r), malloc, (n); ld.param.b64 %rd5, [r]; }
st.u32 [%rd5+60], %r0; ld.u32 %r1, [%rd5+60];
"""
FREE = "{ .param .b64 p; st.param.b64 [p], %rd5; call free, (p); }"


def test_allocated_memory_is_each_lane_s_own_and_bounded() -> None:
    out = np.zeros(40, np.uint32)
    entry(ALLOCATE + "st.global.u32 [%rd0], %r1;" + FREE, before=EXTERN).launch(1, 40, [out])
    assert out.tolist() == list(range(40))
    with pytest.raises(LaunchError, match="out of bounds"):
        entry(ALLOCATE + "ld.u32 %r1, [%rd5+64];", before=EXTERN).launch(1, 1, [out])


def test_freed_memory_cannot_be_used() -> None:
    with pytest.raises(LaunchError, match=r"use-after-free: read of 4 bytes at malloc.0., which has been freed"):
        entry(ALLOCATE + FREE + "ld.u32 %r1, [%rd5];", before=EXTERN).launch(1, 1, [np.zeros(1, np.uint32)])


def test_a_failed_assertion_names_what_and_where() -> None:
    before = EXTERN + string("message", "x > 0") + string("file", "a.cu") + string("function", "void f()")
    body = """
    setp.ne.u32 %p1, %r0, 33; @%p1 bra FINE;
    mov.u64 %rd4, message; mov.u64 %rd5, file; mov.u64 %rd6, function; mov.u64 %rd7, 1; mov.u32 %r1, 12;
    { .param .b64 m; .param .b64 f; .param .b32 l; .param .b64 n; .param .b64 s;
    st.param.b64 [m], %rd4; st.param.b64 [f], %rd5; st.param.b32 [l], %r1; st.param.b64 [n], %rd6;
    st.param.b64 [s], %rd7; call __assertfail, (m, f, l, n, s); }
    FINE:
    """
    with pytest.raises(LaunchError, match=r"assertion `x > 0` failed at a\.cu:12, in void f\(\)") as caught:
        entry(body, before=before).launch(1, 64, [np.zeros(1, np.uint32)])
    assert (caught.value.hazards[0].warp, caught.value.hazards[0].lanes) == (1, (1,))


def test_a_function_without_a_body_is_refused() -> None:
    with pytest.raises(UnsupportedInstruction, match="no function `elsewhere` is defined"):
        entry("call elsewhere, ();", before=EXTERN)
