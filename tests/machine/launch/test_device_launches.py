"""Kernels that launch kernels (CUDA's dynamic parallelism): what runs, in which order, within which limits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from machine.small_kernels import HEAD
from ptxloom.diagnostics import UsageError
from ptxloom.machine import Kernel, LaunchError, UnsupportedInstruction, kernel
from ptxloom.syntax import parse

TAIL, FIRE_AND_FORGET = 3, 4
OK, INVALID_VALUE, INVALID_CONFIGURATION, DEPTH, PENDING, INVALID_FUNCTION = 0, 1, 9, 65, 69, 98
EXTERN = """
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
    (.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);
.extern .func (.param .b64 r) cudaGetParameterBuffer(.param .b64 a, .param .b64 s);
.extern .func (.param .b32 r) cudaLaunchDevice
    (.param .b64 f, .param .b64 p, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s, .param .b64 t);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2PeekAtLastError();
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
"""
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>;\n"
NUMBERS = itertools.count()


def launch(
    name: str, params: tuple[str, ...], grid: int = 1, block: int = 1, *, stream: int = 0, shared: int = 0
) -> str:
    """What nvcc makes of `name<<<grid, block, shared, stream>>>(params)`; the error of the launch is in %r15."""
    skip = f"skip{next(NUMBERS)}"
    extents = "".join(
        f".param .align 4 .b8 {what}[12]; st.param.b32 [{what}], {x}; st.param.b32 [{what}+4], 1; "
        f"st.param.b32 [{what}+8], 1;\n"
        for what, x in (("g", grid), ("b", block))
    )
    stores = "".join(f"st.u64 [%d14+{8 * n}], {value};\n" for n, value in enumerate(params))
    return f"""
    mov.u32 %r15, 999; mov.u64 %d15, {name};
    {{ .param .b64 f; .param .b32 s; .param .b64 r; st.param.b64 [f], %d15; st.param.b32 [s], {shared};
    {extents} call (r), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %d14, [r]; }}
    setp.eq.s64 %p3, %d14, 0; @%p3 bra {skip};
    {stores}
    {{ .param .b64 p; .param .b64 s; .param .b32 r; st.param.b64 [p], %d14; st.param.b64 [s], {stream};
    call (r), __cudaCDP2LaunchDeviceV2, (p, s); ld.param.b32 %r15, [r]; }}
    {skip}:
    """


LAST_ERROR = "{ .param .b32 r; call (r), __cudaCDP2GetLastError, (); ld.param.b32 %r14, [r]; }\n"
PEEK = LAST_ERROR.replace("GetLastError", "PeekAtLastError")
NOTE = """
.visible .entry note(.param .u64 out, .param .u64 what)
{ .reg .b64 %d<8>; .reg .b32 %r<2>; ld.param.u64 %d0, [out]; ld.param.u64 %d1, [what];
  atom.add.u64 %d2, [%d0], 1; mad.lo.u64 %d3, %d2, 8, %d0; st.u64 [%d3+8], %d1; ret; }
"""


def made(body: str, before: str = "", name: str = "k") -> Kernel:
    start = "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; ld.param.u64 %d1, [n];"
    params = ".param .u64 out, .param .u64 n"
    text = f"{HEAD}{EXTERN}{before}\n.visible .entry {name}({params}) {{ {REGISTERS}{start}{body} ret; }}"
    return kernel(parse(text), name)


def noted(what: Kernel, grid: int = 1, block: int = 1, n: int = 0, **options: object) -> list[int]:
    out = np.zeros(4096, np.uint64)
    what.launch(grid, block, [out, n], **options)  # pyright: ignore[reportArgumentType]
    return out[1 : 1 + int(out[0])].tolist()


def test_a_child_has_its_parameters_its_extents_and_the_parent_s_memory() -> None:
    child = """.visible .entry child(.param .u64 out, .param .u64 n) { .reg .b64 %d<8>; .reg .b32 %r<8>;
        ld.param.u64 %d0, [out]; ld.param.u64 %d1, [n];
        mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
        mad.lo.u32 %r0, %r0, %r1, %r2; mad.wide.u32 %d2, %r0, 8, %d0; ld.u64 %d3, [%d2]; add.u64 %d3, %d3, %d1;
        st.u64 [%d2], %d3; ret; }"""
    out = np.arange(100, dtype=np.uint64)
    result = made("st.u64 [%d0], 7;" + launch("child", ("%d0", "%d1"), 2, 40), child).launch(1, 1, [out, 5])
    assert out.tolist() == [12, *range(6, 85), *range(80, 100)]
    assert result.instructions > 4 * 10


def test_tails_run_behind_all_that_others_launch_in_the_order_in_which_they_were_launched() -> None:
    inner = launch("note", ("%d0", "21"), stream=TAIL) + launch("note", ("%d0", "20"))
    middle = f".visible .entry middle(.param .u64 out) {{ {REGISTERS} ld.param.u64 %d0, [out]; {inner} ret; }}"
    body = (
        launch("note", ("%d0", "30"), stream=TAIL)
        + launch("note", ("%d0", "31"), stream=TAIL)
        + launch("middle", ("%d0",))
        + launch("note", ("%d0", "22"), stream=FIRE_AND_FORGET)
    )
    assert noted(made(body, NOTE + middle)) == [20, 21, 22, 30, 31]


def test_the_older_calls_say_all_at_the_launch() -> None:
    extents = ".param .align 4 .b8 g[12]; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 2;"
    body = f"""mov.u64 %d2, 16; {{ .param .b64 a; .param .b64 r; st.param.b64 [a], %d2;
        call (r), cudaGetParameterBuffer, (a, a); ld.param.b64 %d3, [r]; }} st.u64 [%d3], %d0; st.u64 [%d3+8], 77;
        mov.u64 %d4, note; {{ .param .b64 f; .param .b64 p; .param .b32 s; .param .b64 t; .param .b32 r; {extents}
        st.param.b64 [f], %d4; st.param.b64 [p], %d3; st.param.b32 [s], 0; st.param.b64 [t], 0;
        call (r), cudaLaunchDevice, (f, p, g, g, s, t); ld.param.b32 %r1, [r]; }}"""
    assert noted(made(body, NOTE)) == [77, 77, 77, 77]


def itself(stream: int) -> str:
    """A kernel that notes how often it is still to launch itself, and what came of the launch."""
    again = launch("k", ("%d0", "%d2"), stream=stream)
    return f"""setp.eq.u64 %p0, %d1, 0; @%p0 bra done; sub.u64 %d2, %d1, 1; {again} {LAST_ERROR}
        cvt.u64.u32 %d3, %r14; {{ .reg .b64 %at; atom.add.u64 %at, [%d0], 1; mad.lo.u64 %at, %at, 8, %d0;
        st.u64 [%at+8], %d3; }} done:"""


def test_grids_are_nested_24_deep_and_tails_as_deep_as_they_like() -> None:
    assert noted(made(itself(0)), n=30) == [OK] * 24 + [DEPTH]
    assert noted(made(itself(TAIL)), n=60) == [OK] * 60


def test_2048_launches_wait_and_no_more() -> None:
    error = f"{LAST_ERROR} cvt.u64.u32 %d3, %r14; setp.eq.u64 %p0, %d3, 0; @%p0 bra fine; st.u64 [%d0+16], %d3; fine:"
    body = launch("count", ("%d0",)) + error
    count = """.visible .entry count(.param .u64 out) { .reg .b64 %d<2>; ld.param.u64 %d0, [out];
        red.add.u64 [%d0], 1; ret; }"""
    out = np.zeros(4, np.uint64)
    made(body, count).launch(3, 683, [out, 0])
    assert out.tolist() == [2048, 0, PENDING, 0]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (launch("note", ("%d0", "1"), 0), INVALID_CONFIGURATION),
        (launch("note", ("%d0", "1"), 1, 1025), INVALID_CONFIGURATION),
        (launch("note", ("%d0", "1"), shared=1 << 20), INVALID_CONFIGURATION),
        (launch("somewhere", ("%d0", "1")).replace("%d15, somewhere", "%d15, 4096"), INVALID_FUNCTION),
        (launch("note", ("%d0", "1")).replace("[p], %d14", "[p], %d0"), INVALID_VALUE),
    ],
    ids=["no grid", "a large block", "much shared memory", "no kernel", "no buffer"],
)
def test_a_wrong_launch_leaves_its_error_with_the_thread_that_made_it(body: str, error: int) -> None:
    told = "".join(f"cvt.u64.u32 %d3, %r14; st.u64 [%d0+{at}], %d3;" for at in (8,))
    again = "".join(f"cvt.u64.u32 %d3, %r14; st.u64 [%d0+{at}], %d3;" for at in (16,))
    last = "cvt.u64.u32 %d3, %r14; st.u64 [%d0+24], %d3; st.u64 [%d0], 3;"
    one = f"setp.ne.u32 %p0, %r0, 1; @%p0 bra all; {body} all:"
    report = f"setp.ne.u32 %p0, %r0, %r13; @%p0 bra end; {PEEK}{told}{LAST_ERROR}{again}{LAST_ERROR}{last} end:"
    assert noted(made(f"{one} mov.u32 %r13, 1; {report}", NOTE), block=2) == [error, error, OK]
    assert noted(made(f"{one} mov.u32 %r13, 0; {report}", NOTE), block=2) == [OK, OK, OK]


def test_parameters_are_stored_in_a_launch_s_own_room() -> None:
    with pytest.raises(LaunchError, match="out of bounds"):
        made(launch("note", ("%d0", "1")).replace("st.u64 [%d14+8]", "st.u64 [%d14+2000000]"), NOTE).launch(
            1, 1, [np.zeros(4, np.uint64), 0]
        )


WILD = """.visible .entry wild(.param .u64 out) { .reg .b64 %d<2>; ld.param.u64 %d0, [out];
    st.u64 [%d0+800], %d0; ret; }"""


def test_a_child_that_goes_out_of_bounds_is_named() -> None:
    with pytest.raises(LaunchError) as ended:
        made(launch("wild", ("%d0",)), WILD).launch(1, 1, [np.zeros(4, np.uint64), 0])
    assert ended.value.reason == "`wild`, which a kernel launched: the kernel was ended by an error"
    (hazard,) = ended.value.hazards
    assert (hazard.rule, hazard.kernel) == ("memcheck.out-of-bounds", "wild")
    assert "in kernel wild, which a kernel launched" in str(hazard)


def test_a_child_s_hazards_are_told_once_with_its_name() -> None:
    racy = """.visible .entry racy(.param .u64 out) { .shared .b32 s; .reg .b32 %r<2>; mov.u32 %r0, %tid.x;
        st.shared.u32 [s], %r0; ret; }"""
    result = made(launch("racy", ("%d0",), block=64) + launch("racy", ("%d0",), block=64), racy).launch(
        1, 2, [np.zeros(4, np.uint64), 0], checks=["racecheck"]
    )
    assert {hazard.kernel for hazard in result.hazards} == {"racy"}
    assert len(result.hazards) == len({(h.rule, h.line) for h in result.hazards})


def test_what_is_printed_comes_in_the_order_of_the_grids() -> None:
    text = ", ".join(map(str, b"%d\n\0"))
    saying = f""".global .b8 form[4] = {{{text}}};
        .visible .entry say(.param .u64 what) {{ .local .align 8 .b8 room[8]; .reg .b64 %d<4>; ld.param.u64 %d0, [what];
        st.local.u64 [room], %d0; mov.u64 %d1, room; cvta.local.u64 %d1, %d1; mov.u64 %d2, form;
        {{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d2; st.param.b64 [v], %d1;
        call (r), vprintf, (f, v); }} ret; }}"""
    body = launch("say", ("3",), stream=TAIL) + launch("say", ("1",)) + launch("say", ("2",))
    assert made(body, saying).launch(1, 1, [np.zeros(4, np.uint64), 0]).output == "1\n2\n3\n"


def test_what_a_grid_allocates_another_one_of_the_family_may_free() -> None:
    freeing = """.visible .entry freeing(.param .u64 what) { .reg .b64 %d<2>; ld.param.u64 %d0, [what];
        { .param .b64 p; st.param.b64 [p], %d0; call free, (p); } ret; }"""
    taken = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n); ld.param.b64 %d5, [r]; }"
    for body, leaks in ((launch("freeing", ("%d5",)), 0), ("", 1)):
        result = made(taken + body, freeing).launch(1, 1, [np.zeros(4, np.uint64), 0], checks=["memcheck:leaks"])
        assert [hazard.rule for hazard in result.hazards] == ["memcheck.leak"] * leaks


def test_a_family_without_end_ends_at_the_time_limit() -> None:
    with pytest.raises(LaunchError, match="time limit"):
        made(launch("k", ("%d0", "%d1"), stream=TAIL)).launch(1, 1, [np.zeros(4, np.uint64), 0], timeout=1.0)


def test_too_much_shared_memory_beside_a_child_s_own_ends_it() -> None:
    large = ".visible .entry large() { .shared .b8 s[4096]; .reg .b32 %r<2>; ld.shared.u8 %r0, [s]; ret; }"
    with pytest.raises(LaunchError, match=r"`large`, which a kernel launched: it was launched with 230,000 bytes"):
        made(launch("large", (), shared=230_000), large).launch(1, 1, [np.zeros(4, np.uint64), 0])


def test_where_bytes_come_from_is_not_followed_and_a_kernel_cannot_be_called() -> None:
    with pytest.raises(UsageError, match="a kernel launches kernels"):
        made(launch("note", ("%d0", "1")), NOTE).launch(1, 1, [np.zeros(4, np.uint64), 0], provenance=True)
    with pytest.raises(UnsupportedInstruction, match="is a kernel"):
        kernel(parse(f"{HEAD}.entry other() {{ ret; }} .entry k() {{ call other; ret; }}"), "k", unchecked=True)
