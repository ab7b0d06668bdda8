"""Calls, frames and the stack, and kernels that forge all they can reach: nothing that steers the machine is there."""

from __future__ import annotations

from typing import Final

import pytest

from attack.guarded import Attack, Outcome, Room, attack

HEAD: Final = """.version 8.8
.target sm_90
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
"""
REGISTERS: Final = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>;"
STORE: Final = "ld.param.u64 %d1, [out]; mov.u32 %r0, %tid.x; mad.wide.u32 %d1, %r0, 4, %d1; st.global.u32 [%d1], %r1;"
ROOM: Final = Room(128)
WHOLE: Final = ((0, 128),)  # every thread has stored its word


def kernel(body: str, before: str = "") -> Attack:
    """A launch of one warp whose threads store `%r1`, if they get there."""
    text = f"{HEAD}{before}\n.visible .entry k(.param .u64 out) {{ {REGISTERS}\n{body}\n{STORE}\nret; }}"
    return Attack(text, (ROOM,), label=body[:300])


def judged(launches: list[Attack]) -> tuple[Outcome, ...]:
    """How launches ended; every one of them was held."""
    ends = attack(launches)
    assert [(one.label, end) for one, end in zip(launches, ends, strict=True) if not end.holds] == []
    return ends


# -- what lies around a frame

FORGED: Final = (0, 1, 16, 0x41414140, 0x7FFFFFF0, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF)
OVERWRITE: Final = """
.func (.param .b32 r) forge(.param .b32 n) {{
    .reg .pred %p<2>; .reg .b32 %a, %b, %c, %at; .reg .b64 %x; .local .align 16 .b8 x[32];
    ld.param.b32 %a, [n]; mov.u64 %x, x; cvt.u32.u64 %at, %x; add.u32 %b, %a, 7; setp.eq.u32 %p0, %a, 0; @%p0 bra FORGE;
    sub.u32 %c, %a, 1;
    {{ .param .b32 pn; .param .b32 pr; st.param.b32 [pn], %c; call (pr), forge, (pn); ld.param.b32 %c, [pr]; }}
    add.u32 %b, %b, %c;
    bra DONE;
FORGE:
    mov.u32 %at, 0;
AGAIN:
    st.local.u32 [%at], {value}; add.u32 %at, %at, 4; setp.lt.u32 %p1, %at, {end}; @%p1 bra AGAIN;
DONE:
    st.param.b32 [r], %b; ret;
}}
"""
CALL_FORGE: Final = """mov.u32 %r2, 3; mov.u32 %r1, 9;
{ .param .b32 pn; .param .b32 pr; st.param.b32 [pn], %r2; call (pr), forge, (pn); }
"""


def test_a_callee_that_overwrites_all_frames_returns_all_the_same() -> None:
    ends = judged([kernel(CALL_FORGE, OVERWRITE.format(value=value, end=16384)) for value in FORGED])
    assert {(end.kind, end.written) for end in ends} == {("done", WHOLE)}


def test_one_that_goes_on_to_the_end_is_stopped_there() -> None:
    ends = judged([kernel(CALL_FORGE, OVERWRITE.format(value=value, end="0xffffffff")) for value in FORGED[:3]])
    assert {(end.kind, end.hazards) for end in ends} == {("fault", ("memcheck.out-of-bounds",))}


# -- the stack's arithmetic

TOKENS: Final = (8, 16, 0x3FF8, 0x7FFFFFFF, 0x80000000, 0xFFFFBFF0, 0xFFFFFFF0, 0xFFFFFFFF)
WIDE_TOKENS: Final = (*TOKENS, 1 << 32, (1 << 32) + 8, 1 << 63, (1 << 64) - 16, (1 << 64) - 1)
AFTER: Final = "alloca.u64 %d3, 64; st.local.u64 [%d3], 1; " + CALL_FORGE


@pytest.mark.parametrize("bits", [32, 64])
def test_a_token_that_nobody_gave_restores_nothing(bits: int) -> None:
    register = "%r3" if bits == 32 else "%d4"
    launches = [
        kernel(
            f"mov.u{bits} {register}, {token:#x}; stackrestore.u{bits} {register}; {AFTER}",
            OVERWRITE.format(value=0xFFFFFFF0, end=16384),
        )
        for token in (TOKENS if bits == 32 else WIDE_TOKENS)
    ]
    assert {(end.kind, end.hazards) for end in judged(launches)} == {("fault", ("memcheck.bad-token",))}


def test_a_callee_cannot_give_back_what_its_caller_has_taken() -> None:
    before = ".func f() { .reg .b64 %t; mov.u64 %t, 0; stackrestore.u64 %t; ret; }"
    (end,) = judged([kernel("alloca.u64 %d2, 64; call f; mov.u32 %r1, 1;", before)])
    assert end.hazards == ("memcheck.bad-token",)


SIZES: Final = (16384, 1 << 20, 1 << 31, (1 << 32) - 8, 1 << 32, (1 << 32) + 8, 1 << 63, (1 << 64) - 8, (1 << 64) - 1)


def test_alloca_takes_what_it_is_asked_for_or_nothing() -> None:
    launches = [
        kernel(f"mov.u64 %d3, {size:#x}; alloca.u64 %d2, %d3; st.local.u32 [%d2], 1; mov.u32 %r1, 1;") for size in SIZES
    ]
    ends = judged(launches)
    assert ends[0].kind == "done"
    assert {(end.kind, end.hazards) for end in ends[1:]} == {("fault", ("memcheck.stack-overflow",))}


@pytest.mark.parametrize("space", ["local", "param"])
def test_frames_of_any_size_fit_or_are_refused(space: str) -> None:
    sizes = (1 << 19, (1 << 19) + 1, (1 << 32) - 16, 1 << 32, (1 << 32) + 16, 1 << 40, 1 << 64)
    heads = [f".func f() {{ .reg .b32 %a; .{space} .align 4 .b8 x[{size}]; ret; }}" for size in sizes]
    ends = judged([kernel("call f; mov.u32 %r1, 1;", head) for head in heads])
    assert [end.kind for end in ends] == ["fault"] + ["refused"] * 6
    assert ends[0].hazards == ("memcheck.stack-overflow",)
    entries = judged([kernel(f".{space} .align 4 .b8 x[{size}]; mov.u32 %r1, 1;") for size in sizes[1:]])
    assert {end.kind for end in entries} == {"refused"}


def test_alignments_are_kept_or_refused() -> None:
    def aligned(alignment: int) -> Attack:
        before = f""".func (.param .b32 r) f() {{
        .reg .b64 %x; .reg .b32 %a; .local .b8 y; .local .align {alignment} .b8 x[8]; mov.u64 %x, x;
        st.local.b64 [%x], %x; cvt.u32.u64 %a, %x; and.b32 %a, %a, {alignment - 1}; st.param.b32 [r], %a; ret; }}
        .func (.param .b32 r) g() {{ .local .b8 z[24]; .reg .b32 %a;
        {{ .param .b32 pr; call (pr), f; ld.param.b32 %a, [pr]; }} st.param.b32 [r], %a; ret; }}"""
        call = "{ .param .b32 pr; call (pr), g; ld.param.b32 %r1, [pr]; } setp.ne.u32 %p1, %r1, 0; @%p1 trap;"
        return kernel(call + "mov.u32 %r1, 1;", before)

    ends = judged([aligned(alignment) for alignment in (8, 128, 1024, 4096, 3, 1 << 20, 1 << 40)])
    assert [end.kind for end in ends] == ["done"] * 4 + ["refused"] * 3
    check = "setp.ne.b64 %p1, %d2, 0; @%p1 trap;"
    blocks = [kernel(f"alloca.u64 %d2, 8, {n}; and.b64 %d2, %d2, {n - 1}; {check}") for n in (8, 64, 4096)]
    assert {end.kind for end in judged(blocks)} == {"done"}


# -- functions and calls must agree

GIVES: Final = (
    ".func (.param .b32 r) f(.param .b32 n) { .reg .b32 %a; ld.param.b32 %a, [n]; st.param.b32 [r], %a; ret; }"
)


OTHER_SIZES: Final = (
    ("align 4 .b8 {}[400000]", "b32 {}"),
    ("b64 {}", "b32 {}"),
    ("b32 {}", "b64 {}"),
    ("align 1 .b8 {}[2]", "b32 {}"),
    ("b32 {}", "align 4 .b8 {}[400000]"),
    ("b32 {}", "align 1 .b8 {}[1]"),
)


def test_an_indirect_call_of_other_sizes_is_stopped() -> None:
    launches: list[Attack] = []
    for result, argument in OTHER_SIZES:
        prototype = f"P: .callprototype (.param .{result.format('_')}) _ (.param .{argument.format('_')});"
        places = f".param .{result.format('pr')}; .param .{argument.format('pa')};"
        body = f"mov.u64 %d2, f; {{ {places} {prototype} call (pr), %d2, (pa), P; ld.param.b8 %r1, [pr]; }}"
        launches.append(kernel(body, GIVES))
    assert {(end.kind, end.hazards) for end in judged(launches)} == {("fault", ("memcheck.call-mismatch",))}


REFUSED: Final = (
    "{ .param .align 4 .b8 pr[400000]; .param .b64 pa; call (pr), malloc, (pa); }",
    "{ .param .b32 pr; .param .b64 pa; call (pr), malloc, (pa); }",
    "{ .param .b64 pr; .param .align 4 .b8 pa[400000]; call (pr), malloc, (pa); }",
    "{ .param .b64 pr; call (pr), malloc; }",
    "{ .param .b64 pa; call malloc, (pa); }",
    "{ .param .b32 pa; call free, (pa); }",
    "call free;",
    "{ .param .b32 pr; .param .b64 pa; call (pr), vprintf, (pa); }",
    "{ .param .b32 pr; .param .b64 pa; call (pr), f, (pa); }",
    "{ .param .align 4 .b8 pr[400000]; .param .b32 pa; call (pr), f, (pa); }",
    "{ .param .b32 pr; call (pr), f; }",
    "call f;",
    "call k;",
)


def test_a_direct_call_of_other_sizes_is_refused() -> None:
    ends = judged([kernel(call, GIVES) for call in REFUSED])
    assert [end.kind for end in ends] == ["refused"] * len(REFUSED)
    assert all(end.words for end in ends)


def test_a_call_of_what_is_no_function_is_stopped() -> None:
    window = 1 << 51
    targets = [0, 1, 16, window, window + 1, window + 17, window + 16 * 100, window + (1 << 40), (1 << 64) - 16]
    bodies = [f"mov.u64 %d2, {at:#x}; P: .callprototype _ (); call %d2, (), P;" for at in targets]
    bodies.append("mov.u64 %d2, k; P: .callprototype _ (); call %d2, (), P;")
    ends = judged([kernel(body, GIVES) for body in bodies])
    assert {(end.kind, end.hazards) for end in ends} == {("fault", ("memcheck.bad-call",))}


# -- every way back ends at the time limit

ENDLESS: Final = {
    "brx.idx": ("T: .branchtargets L, M;\nL: brx.idx %r5, T;\nM:", ""),
    "one lane in brx.idx": (
        "mov.u32 %r5, %laneid; setp.ne.u32 %p1, %r5, 3; T: .branchtargets L;\nL: @%p1 bra M;\nbrx.idx %r6, T;\nM:", ""),
    "calls": ("L: call f; bra L;", ".func f() { ret; }"),
    "recursion of many branches": (
        "mov.u32 %r2, 60; { .param .b32 pa; st.param.b32 [pa], %r2; call f, (pa); }",
        """.func f(.param .b32 n) {
        .reg .pred %p; .reg .b32 %a, %b; ld.param.b32 %a, [n]; setp.eq.u32 %p, %a, 0; @%p ret;
        sub.u32 %b, %a, 1; { .param .b32 pa; st.param.b32 [pa], %b; call f, (pa); }
        { .param .b32 pa; st.param.b32 [pa], %b; call f, (pa); } ret; }"""),
    "indirect calls": (
        "mov.u64 %d2, f; P: .callprototype _ ();\nT: .branchtargets L;\nL: call %d2, (), P;\nbrx.idx %r5, T;",
        ".func f() { ret; }"),
}  # fmt: skip


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("label", ENDLESS)
def test_every_way_back_heeds_the_time_limit(label: str) -> None:
    body, before = ENDLESS[label]
    one = kernel("mov.u32 %r5, 0; mov.u32 %r6, 0;" + body, before)
    (end,) = judged([Attack(one.ptx, one.args, timeout=0.5, label=label)])
    assert ("time limit" in end.words, end.kind) == (True, "fault")
