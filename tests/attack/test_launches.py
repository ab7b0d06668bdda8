"""Kernels that launch kernels and mean harm: no buffer, depth or number of launches reaches beyond what is there."""

from __future__ import annotations

import pytest

from attack.guarded import Attack, Room, attack
from machine.launch.test_device_launches import EXTERN, FIRE_AND_FORGET, LAST_ERROR, NOTE, REGISTERS, TAIL, launch
from machine.small_kernels import HEAD

TOOLS = (("memcheck", "synccheck"), (), ("racecheck", "racecheck:global"), ("initcheck", "initcheck:global"))
START = "mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out]; ld.param.u64 %d1, [n]; st.u64 [%d0], 0;"
COUNT_BYTES = 8  # what `note` counts in, at the start of the array
LATE = "time limit"  # of a kernel that runs, or that was not yet compiled when it came: a busy machine's doing
OWN = launch("note", ("%d0", "1"))


def attacks(body: str, block: int = 1, timeout: float = 60.0, threads: int = 1) -> list[Attack]:
    """A kernel `k` of an array and a number, under every tool."""
    entry = f".visible .entry k(.param .u64 out, .param .u64 n) {{ {REGISTERS}{START}{body} ret; }}"
    text = f"{HEAD}{EXTERN}{NOTE}{entry}"
    return [
        Attack(text, (Room(4096), 0), block=block, checks=tools, timeout=timeout, threads=threads) for tools in TOOLS
    ]


@pytest.mark.parametrize("at", [-4096, 16384 * 64, 1 << 22, 1 << 31, -(1 << 31), 1 << 47, -(1 << 47)])
def test_a_store_beyond_the_buffers_ends_the_kernel(at: int) -> None:
    body = OWN.replace("st.u64 [%d14+8], 1;", f"add.s64 %d13, %d14, {at}; st.u64 [%d13], 1;")
    for end in attack(attacks(body)):
        assert (end.kind, end.broken) == ("fault", ()), end


@pytest.mark.parametrize(
    "buffer",
    ["%d0", "0", "-1", "8", "128", "-128", "0x100000000", "0x7fffffffffffffff", "0x8000000000000000"],
)
@pytest.mark.parametrize("is_sum", [False, True])
def test_what_is_no_buffer_of_this_grid_launches_nothing(buffer: str, is_sum: bool) -> None:
    forged = f"add.s64 %d13, %d14, {buffer};" if is_sum else f"mov.b64 %d13, {buffer};"
    taken = OWN.replace("{ .param .b64 p; .param .b64 s;", f"{forged} {{ .param .b64 p; .param .b64 s;")
    body = taken.replace("st.param.b64 [p], %d14", "st.param.b64 [p], %d13")
    assert body.count("%d13") == 2
    launches = (buffer, is_sum) == ("0", True)
    for end in attack(attacks(body)):
        assert (end.kind, end.broken, end.written[0][1] > COUNT_BYTES) == ("done", (), launches), end


def test_a_buffer_is_launched_once_however_often_it_is_asked_for() -> None:
    start = OWN.rindex("{ .param .b64 p;")
    twice = OWN[:start] + OWN[start:].rsplit("skip", 1)[0] * 3 + "skip" + OWN.rsplit("skip", 1)[1]
    for end in attack(attacks(twice)):
        assert (end.kind, end.broken, end.written[0]) == ("done", (), (0, 2 * COUNT_BYTES)), end


@pytest.mark.parametrize("stream", [0, TAIL, FIRE_AND_FORGET])
@pytest.mark.parametrize("children", [1, 3])
def test_launches_without_end_end_with_the_time(stream: int, children: int) -> None:
    body = "".join(launch("k", ("%d0", "%d1"), stream=stream) for _ in range(children))
    is_endless = stream == TAIL or children > 1
    for end in attack(attacks(body, timeout=1.0 if is_endless else 60.0)):
        assert (end.kind, end.broken) == ("fault" if is_endless else "done", ()), end
        assert end.kind == "done" or LATE in end.words


def test_lanes_that_have_parted_launch_each_for_itself() -> None:
    body = f"""setp.lt.u32 %p0, %r0, 7; @%p0 bra low; {launch("note", ("%d0", "2"))} bra all;
    low: {launch("note", ("%d0", "3"))} all: {LAST_ERROR}"""
    for threads in (1, 4):
        for end in attack(attacks(body, block=32, threads=threads)):
            assert (end.kind, end.broken, end.written[0]) == ("done", (), (0, 33 * COUNT_BYTES)), end
