"""Bad input ends in one clear report: the process goes on, and arrays hold no more than the kernel itself wrote."""

from __future__ import annotations

import signal
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from late import launched_late
from machine.small_kernels import HEAD, entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine import LaunchError, kernel
from ptxloom.syntax import parse

AREA = ".shared .align 16 .b8 area[512]; .const .align 4 .b32 table[4];\n"
ROW = "mov.u32 %r2, area; mov.u64 %rd2, 0; mov.u64 %rd3, area; cvta.shared.u64 %rd3, %rd3;\n"
MARK = "st.global.u32 [%rd1], 77;\n"
GUARD = 0xA5A5A5A5


def guarded(size: int = 64) -> tuple[Any, Any]:
    """An array, and the larger one that it is the middle of."""
    whole = np.full(3 * size, GUARD, np.uint32)
    whole[size : 2 * size] = 0
    return whole[size : 2 * size], whole


def still_works(out: Any) -> None:
    out[:] = 0
    entry("st.global.u32 [%rd0], %r0;").launch(1, 64, [out])
    assert out.tolist() == list(range(64))


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        ("atom.global.add.u32 %r1, [%rd1+256], 1;", "out-of-bounds"),
        ("atom.global.add.u32 %r1, [%rd1+2], 1;", "misaligned"),
        ("atom.add.u32 %r1, [%rd2], 1;", "null"),
        ("red.global.add.u32 [%rd2], 1;", "null"),
        ("atom.global.add.u32 %r1, [%rd3], 1;", "wrong-space"),
        ("atom.shared.cas.b32 %r1, [area+512], 0, 1;", "out-of-bounds"),
        ("red.shared.add.u64 [area+4], %rd0;", "misaligned"),
        ("cp.async.ca.shared.global [%r2+512], [%rd1], 4;", "out-of-bounds"),
        ("cp.async.ca.shared.global [%r2], [%rd1+256], 4;", "out-of-bounds"),
        ("cp.async.ca.shared.global [%r2+2], [%rd1], 4;", "misaligned"),
        ("cp.async.ca.shared.global [%r2], [%rd1+2], 4;", "misaligned"),
        ("cp.async.cg.shared.global [%r2], [%rd2], 16;", "null"),
        ("cp.async.cg.shared.global [%r2], [%rd3], 16;", "wrong-space"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2+512];", "out-of-bounds"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2+8];", "misaligned"),
        ("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd2];", "wrong-space"),
        ("mbarrier.init.shared.b64 [area+512], 1;", "out-of-bounds"),
        ("mbarrier.arrive.shared.b64 %rd4, [area];", "no-mbarrier"),
        ("st.u32 [%rd1+256], %r1;", "out-of-bounds"),
        ("ld.u32 %r1, [%rd1+3];", "misaligned"),
        ("ld.global.u32 %r1, [%rd2+-4];", "out-of-bounds"),
        ("st.global.u32 [%rd3], %r1;", "wrong-space"),
    ],
)
def test_an_illegal_access_is_named_and_leaves_the_rest_alone(instruction: str, kind: str) -> None:
    out, whole = guarded()
    with pytest.raises(LaunchError) as caught:
        entry(f"{MARK}{ROW}{instruction}", before=AREA).launch(1, 32, [out])
    (hazard,) = caught.value.hazards
    assert (hazard.tool, hazard.kind, hazard.line) == ("memcheck", kind, 14)
    assert hazard.instruction == instruction
    assert (hazard.block, hazard.warp, hazard.lanes[0]) == ((0, 0, 0), 0, 0)
    assert out[0] == 77  # what was written before stays
    assert (out[1:] == 0).all()
    assert (whole[:64] == GUARD).all()
    assert (whole[128:] == GUARD).all()
    still_works(out)


@pytest.mark.parametrize("overlap", [slice(0, 32), slice(16, 48), slice(32, 64), slice(0, 64)])
def test_a_read_only_array_stays_so_beside_a_writable_part_of_it(overlap: slice) -> None:
    whole = np.zeros(64, np.uint32)
    fixed = whole.view()
    fixed.flags.writeable = False
    writable = range(64)[overlap]
    for at in range(0, 64, 8):
        place = f"[%rd1+{4 * at}]"
        step = entry(f"ld.global.u32 %r1, {place}; st.global.u32 {place}, 1;", ".param .u64 out, .param .u64 part")
        if at in writable:
            step.launch(1, 1, [fixed, whole[overlap]])
        else:
            with pytest.raises(LaunchError, match="read-only"):
                step.launch(1, 1, [fixed, whole[overlap]])
    assert whole.tolist() == [int(n % 8 == 0 and n in writable) for n in range(64)]


@pytest.mark.parametrize(("grid", "threads"), [(1, 1), (8, 2)])
def test_an_endless_loop_leaves_what_it_wrote_and_a_usable_process(grid: int, threads: int) -> None:
    out, whole = guarded()
    loop = entry(f"{MARK}LOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;")
    with pytest.raises(LaunchError, match="time limit") as caught:
        launched_late(lambda limit: loop.launch(grid, 32, [out], threads=threads, timeout=limit), 0.1)
    assert caught.value.hazards[0].line in {13, 14}
    assert out[0] == 77
    assert (whole[:64] == GUARD).all()
    still_works(out)


def test_a_barrier_that_waits_for_a_wrong_count_says_who_waits_where() -> None:
    out, _ = guarded()
    with pytest.raises(LaunchError, match="deadlocked") as caught:
        entry(f"{MARK}bar.sync 3, 96;").launch(1, 64, [out])
    (hazard,) = caught.value.hazards
    assert (hazard.rule, hazard.line) == ("synccheck.deadlock", 12)
    assert hazard.message.startswith("64 threads wait for others that never come: barrier 3 has 64 of 96 threads")
    still_works(out)


RECURSION = """
.func (.param .b32 r) down(.param .b32 n)
{ .reg .b32 %a; ld.param.b32 %a, [n]; add.u32 %a, %a, 1;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %a; call.uni (y), down, (x); ld.param.b32 %a, [y]; }
st.param.b32 [r], %a; ret; }
"""


@pytest.mark.parametrize("stack", [0, 64, 512 * 1024])
def test_recursion_without_end_fills_the_stack_and_no_more(stack: int) -> None:
    out, whole = guarded()
    body = MARK + "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), down, (x); ld.param.b32 %r1, [y]; }"
    with pytest.raises(LaunchError, match="stack of lane 0 is full"):
        entry(body, before=RECURSION).launch(1, 32, [out], stack_bytes=stack)
    assert (whole[:64] == GUARD).all()
    assert (whole[128:] == GUARD).all()
    still_works(out)


@pytest.mark.parametrize("divisor", ["%r9", "0"])
def test_a_division_by_zero_is_defined(divisor: str) -> None:
    out, _ = guarded()
    steps = "".join(
        f"{name}.{kind}32 %r1, %r0, {divisor}; st.global.u32 [%rd0+{128 * number}], %r1;\n"
        for number, (name, kind) in enumerate([("div", "u"), ("rem", "u")])
    )
    entry(f"mov.u32 %r9, 0;\n{steps}div.s32 %r1, %r0, {divisor}; rem.s32 %r1, %r0, {divisor};").launch(1, 32, [out])
    assert out.tolist() == [0xFFFFFFFF] * 64  # both, as recorded on an H200


@pytest.mark.parametrize("threads", [1, 2])
def test_the_interrupt_key_stops_a_run_and_nothing_else(threads: int) -> None:
    out, whole = guarded()
    endless = entry(f"{MARK}LOOP:\nld.global.u32 %r1, [%rd1];\nbra LOOP;")
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            endless.launch(8, 32, [out], threads=threads, timeout=300)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert out[0] == 77
    assert (whole[:64] == GUARD).all()
    still_works(out)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(64, np.uint32)[::-1],
        np.zeros(64, np.uint32)[::2],
        np.zeros((4, 8), np.uint32).T,
        np.zeros((8, 8), np.uint32, order="F"),
        np.broadcast_to(np.uint32(1), (64,)),
    ],
    ids=["reversed", "strided", "transposed", "fortran", "broadcast"],
)
def test_an_array_that_is_not_contiguous_is_refused(array: Any) -> None:
    kept = array.copy()
    with pytest.raises(UsageError, match=r"args\[0\] .* C-contiguous array for out"):
        entry(MARK).launch(1, 1, [array])
    assert (array == kept).all()


@pytest.mark.parametrize(
    ("value", "said"),
    [([1, 2], "a number for out"), ("x", "a number for out"), (2.5, "a number for out"), (1 << 64, "range of out")],
)
def test_a_wrong_type_is_named_with_its_parameter(value: object, said: str) -> None:
    with pytest.raises(UsageError, match=rf"args\[0\] is .*{said}"):
        entry(MARK).launch(1, 1, [value])


@pytest.mark.parametrize("args", [None, 5])
def test_arguments_that_are_no_sequence_are_refused(args: Any) -> None:
    with pytest.raises(UsageError, match=r"^args is"):
        entry(MARK).launch(1, 1, args)


def test_the_name_of_a_kernel_is_needed_where_there_are_several() -> None:
    one, two = HEAD + ".entry one() { ret; }\n", ".entry two() { ret; }\n"
    assert kernel(parse(one)).name == "one"
    with pytest.raises(UsageError, match=r"name is (''|None); it must be a kernel of the module: one, two"):
        kernel(parse(one + two))
    with pytest.raises(UsageError, match=r"name is None; it must be a kernel of the module, which has no kernels"):
        kernel(parse(HEAD))


def test_a_module_with_a_sampler_runs_its_other_kernels() -> None:
    text = """.version 8.0
.target sm_90, texmode_independent
.address_size 64
.global .samplerref linear = { filter_mode = linear };
.visible .entry k(.param .u64 out) { .reg .b64 %rd1; ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], 7; ret; }
"""
    out = np.zeros(1, np.uint32)
    one = kernel(parse(text), "k")
    one.launch(1, 1, [out])
    assert out[0] == 7
    with pytest.raises(UsageError, match="linear"):
        one.global_array("linear")


@pytest.mark.parametrize(
    ("directive", "block", "cluster", "wrong"),
    [
        (".reqntid 128", 64, None, "block"),
        (".reqntid 128", (64, 2), None, "block"),
        (".reqntid 128", 128, None, ""),
        (".reqntid 8, 4", (8, 4), None, ""),
        (".reqntid 8, 4", (4, 8), None, "block"),
        (".maxntid 8, 8", 64, None, ""),
        (".maxntid 8, 8", (65, 1), None, "block"),
        (".maxclusterrank 4", 32, 4, ""),
        (".maxclusterrank 4", 32, (4, 2), "cluster"),
    ],
)
def test_a_launch_is_as_the_kernel_s_directives_want_it(
    directive: str, block: int | tuple[int, ...], cluster: int | tuple[int, ...] | None, wrong: str
) -> None:
    ready = kernel(parse(f"{HEAD}.entry k() {directive} {{ret;}}"), "k")
    if not wrong:
        ready.launch((8, 8), block, [], cluster=cluster)
        return
    with pytest.raises(UsageError, match=directive.split(maxsplit=1)[0]) as caught:
        ready.launch((8, 8), block, [], cluster=cluster)
    assert caught.value.argument == wrong


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"args": "text"}, "args is 'text'; it must be a sequence of values"),
    ({"args": {}}, "args is {}; it must be a sequence of values"),
    ({"args": []}, "the number of args is 0; it must be 1, one for each parameter: out"),
    ({"args": [np.zeros(4, ">u4")]}, "it must be an array in this machine's byte order"),
    ({"grid": {2, 1}}, "grid is {1, 2}; it must be one to three integers"),
    ({"checks": "memcheck"}, "checks is 'memcheck'; it must be a sequence of names of tools"),
    ({"checks": [[]]}, "checks is .*; it must be any of memcheck"),
    ({"trace": "ldmatrix"}, "trace is 'ldmatrix'; it must be a sequence of patterns"),
    ({"trace": 5}, "trace is 5; it must be a sequence"),
    ({"trace": [None]}, "trace is None; it must be a pattern or a line"),
    ({"uninitialised": 5}, "uninitialised is 5; it must be a sequence of arrays"),
    ({"progress": 5}, "progress is 5; it must be a function"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_an_option_of_the_wrong_kind_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"grid": 1, "block": 1, "args": [np.zeros(4, np.uint32)], **options}
    with pytest.raises(UsageError, match=message):
        entry(MARK).launch(**given)


def test_an_architecture_is_a_name() -> None:
    with pytest.raises(UsageError, match="target is 90; it must be a target"):
        kernel(parse(f"{HEAD}.entry k(){{ret;}}"), "k", target=90)  # pyright: ignore[reportArgumentType] - the mistake


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2, 2), (ml_dtypes.bfloat16(-3), -3), (np.float16(0.5), 0.5), (10**400, np.inf), (-(10**400), -np.inf)],
)
def test_a_float_parameter_takes_numbers_of_every_kind(value: object, expected: float) -> None:
    out = np.zeros(1, np.float32)
    body = "ld.param.f32 %f1, [value]; st.global.f32 [%rd1], %f1;"
    entry(body, ".param .u64 out, .param .f32 value").launch(1, 1, [out, value])
    assert out[0] == expected


def test_an_array_without_elements_is_named_when_it_is_used() -> None:
    with pytest.raises(LaunchError, match=r"args\[0\] is out of bounds: args\[0\] has 0 bytes"):
        entry(MARK).launch(1, 1, [np.zeros(0, np.uint32)])


def test_what_a_progress_callback_raises_ends_the_run() -> None:
    def broken(started: int, total: int) -> None:
        raise ArithmeticError(f"{started} of {total}")

    with pytest.raises(ArithmeticError, match="of 4"):
        entry("L: bra L;").launch(4, 32, [np.zeros(4, np.uint32)], progress=broken, timeout=300)
