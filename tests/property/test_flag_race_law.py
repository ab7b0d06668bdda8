"""Racecheck in shared memory against happens-before by hand: threads of a CTA that signal each other.

As in `test_grid_race_law`, whose oracle serves here: an access, hands from thread to thread, another access. Hands are
barriers of the CTA, of two warps and of a warp, flags with fences of all kinds, mbarriers, and copies' waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from property.test_grid_race_law import Node, Threads, pairs
from ptxloom.machine import kernel
from ptxloom.syntax import parse
from sweeps import examples

THREADS = 96
SINGLE = (0, 5, 33, 70)


@dataclass(frozen=True)
class Access:
    """One thread loads, stores, or copies asynchronously and waits for its copy."""

    who: int
    how: str
    size: int

    def ptx(self, number: int) -> str:
        """A guarded instruction. No two steps write equal bytes."""
        bits = 8 * self.size
        register = {8: "%h", 32: "%v", 64: "%d"}[bits]
        match self.how:
            case "copy":
                text = (
                    f"cp.async.ca.shared.global [tile], [%src+{16 * number}], {max(self.size, 4)};\ncp.async.wait_all;"
                )
            case "unwaited":
                text = f"cp.async.ca.shared.global [tile], [%src+{16 * number}], {max(self.size, 4)};"
            case "store":
                text = f"mov.u32 %v, {number + 1}; cvt.u16.u32 %h, %v; mov.b64 %d, {{%v, %v}};\n"
                text += f"st.shared.b{bits} [tile], {register};"
            case _:
                text = f"ld.shared.b{bits} {register}, [tile];"
        return guarded(self.who, text, number)


@dataclass(frozen=True)
class Meeting:
    """A barrier."""

    kind: str

    def groups(self) -> list[list[int]]:
        """Who meets."""
        match self.kind:
            case "whole":
                return [list(range(THREADS))]
            case "two":
                return [list(range(64))]
            case _:
                return [list(range(start, start + 32)) for start in range(0, THREADS, 32)]

    def ptx(self, number: int) -> str:
        """Everybody comes who may."""
        return {"whole": "bar.sync 0;", "warp": "bar.warp.sync -1;"}.get(
            self.kind, f"setp.ge.u32 %p, %r0, 64;\n@%p bra M{number};\nbarrier.sync 1, 64;\nM{number}:"
        )


@dataclass(frozen=True)
class Signal:
    """One thread sets a flag or arrives at an mbarrier, another one waits for it."""

    setter: int
    setting: str
    waiter: int
    waiting: str

    def ptx(self, number: int) -> str:
        """The flag of a step is its own."""
        flag, gate = f"[flags+{4 * number}]", f"[gates+{8 * number}]"
        if self.setting == "arrive":
            wait = f"W{number}: mbarrier.try_wait.parity.shared.b64 %p, {gate}, 0;\n@!%p bra W{number};"
            arrive = f"mbarrier.arrive.shared.b64 _, {gate};"
            return guarded(self.setter, arrive, number) + "\n" + guarded(self.waiter, wait, number, "T")
        publish = {
            "fence": f"fence.acq_rel.cta;\nst.relaxed.cta.shared.u32 {flag}, 1;",
            "membar": f"membar.cta;\nst.volatile.shared.u32 {flag}, 1;",
            "release": f"st.release.cta.shared.u32 {flag}, 1;",
        }.get(self.setting, f"atom.relaxed.cta.shared.exch.b32 %v, {flag}, 1;")
        load = {"acquire": "ld.acquire.cta", "volatile": "ld.volatile"}.get(self.waiting, "ld.relaxed.cta")
        wait = f"W{number}: {load}.shared.u32 %v, {flag};\nsetp.eq.u32 %p, %v, 0;\n@%p bra W{number};"
        wait += {"fence": "\nfence.acq_rel.cta;", "volatile": "\nmembar.cta;"}.get(self.waiting, "")
        return guarded(self.setter, publish, number) + "\n" + guarded(self.waiter, wait, number, "T")


Step: TypeAlias = Access | Meeting | Signal


def guarded(who: int, text: str, number: int, mark: str = "S") -> str:
    """What one thread does."""
    return f"setp.ne.u32 %p, %r0, {who};\n@%p bra {mark}{number};\n{text}\n{mark}{number}:"


single = st.sampled_from(SINGLE)
meetings = st.sampled_from([None, None, Meeting("whole"), Meeting("two"), Meeting("warp")])
signals = st.builds(
    Signal, single, st.sampled_from(["fence", "membar", "release", "arrive", "arrive", "none"]),
    single, st.sampled_from(["fence", "acquire", "volatile", "acquire", "none"]),
)  # fmt: skip
hows = st.sampled_from(["load", "store", "copy"])


@st.composite
def chains(draw: st.DrawFn) -> list[Step]:
    """An access, hands, an access; most of what orders them is strong enough."""
    holder = draw(single)
    first = draw(st.sampled_from(["load", "store", "copy", "store", "unwaited"]))
    sizes = st.sampled_from([1, 4, 8])
    found: list[Step] = [Access(holder, first, draw(sizes))]
    for _ in range(draw(st.integers(1, 3))):
        if (meeting := draw(meetings)) is not None:
            found.append(meeting)
            holder = draw(single)
        if draw(st.integers(0, 2)):
            hop = draw(signals)
            found.append(Signal(holder, hop.setting, hop.waiter, hop.waiting))
            holder = hop.waiter
    last = draw(hows) if first != "load" else draw(st.sampled_from(["store", "copy"]))
    return [*found, Access(holder if draw(st.integers(0, 5)) else draw(single), last, draw(sizes))]


def text_of(program: list[Step]) -> tuple[str, list[range]]:
    """The kernel, and the lines of each step."""
    gates = "".join(f"mbarrier.init.shared.b64 [gates+{8 * n}], 1;" for n in range(len(program)))
    flags = "".join(f"st.shared.u32 [flags+{4 * n}], 0;" for n in range(len(program)))
    lines = [
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 src)\n{",
        ".reg .pred %p; .reg .b32 %r0, %v; .reg .b16 %h; .reg .b64 %d, %src; .shared .align 16 .b8 tile[16];",
        f".shared .align 4 .b8 flags[{4 * len(program)}]; .shared .align 8 .b8 gates[{8 * len(program)}];",
        "ld.param.u64 %src, [src]; mov.u32 %r0, %tid.x;",
        guarded(0, gates + flags, 99),
        "bar.sync 0;",
    ]
    places: list[range] = []
    for number, step in enumerate(program):
        start = "\n".join(lines).count("\n") + 2
        lines.append(step.ptx(number))
        places.append(range(start, "\n".join(lines).count("\n") + 2))
    return "\n".join([*lines, "ret;\n}\n"]), places


def races(program: list[Step]) -> bool:
    """Whether the first access and the last race."""
    threads = Threads()
    first, last = program[0], program[-1]
    assert isinstance(first, Access)
    assert isinstance(last, Access)
    threads.before[0, first.who] = frozenset({(0, (0, first.who))})
    for step in program[1:-1]:
        match step:
            case Meeting():
                threads.meet([[(0, t) for t in group] for group in step.groups()])
            case Signal(setter, setting, waiter, waiting):
                how = "release" if setting == "arrive" else setting
                published = threads.set_flag((0, setter), how)
                threads.wait((0, waiter), "acquire" if setting == "arrive" else waiting, published)
            case Access():
                pass
    node: Node = (0, (0, first.who))
    return first.how == "unwaited" or node not in threads.before[0, last.who]


def reported(program: list[Step], seed: int) -> set[tuple[int, int]]:
    """The pairs of steps that the machine says race."""
    text, places = text_of(program)
    source = np.arange(101, 101 + 16 * len(program), dtype=np.uint8)
    run = kernel(parse(text), "k").launch(
        1, THREADS, [source], checks=("memcheck", "racecheck"), threads=1, timeout=300, schedule_seed=seed
    )
    return pairs(run.hazards, places)


@settings(max_examples=examples(25), deadline=None)
@given(chains(), st.integers(0, 3))
def test_what_hands_on_in_shared_memory_is_what_happens_before_allows(program: list[Step], seed: int) -> None:
    assert reported(program, seed) == ({(0, len(program) - 1)} if races(program) else set())
