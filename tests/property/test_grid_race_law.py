"""Racecheck in global memory against happens-before worked out by hand, of random grids whose CTAs signal each other.

As in `test_race_law`, the oracle knows no clocks: it keeps, for each thread, the set of accesses that come before what
the thread does next. A signal hands on what its thread's last fence covered; a wait is worth what a fence makes of it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.machine import kernel
from ptxloom.syntax import parse
from sweeps import examples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine import Hazard

CTAS, THREADS = 3, 64
WORDS = 8
GROUPS = {
    "%q0": (0,),
    "%q1": (5,),
    "%q2": (33,),
    "%q3": (0, 32),
    "%q4": tuple(range(32, 64)),
    "": tuple(range(THREADS)),
}
Thread: TypeAlias = tuple[int, int]  # CTA, thread
Node: TypeAlias = tuple[int, Thread]  # step, who


@dataclass(frozen=True)
class Access:
    """A load or store of some threads of one CTA, or of all (-1); a strong one if it has a scope."""

    cta: int
    group: str
    write: bool
    at: int
    size: int
    scope: str = ""

    def threads(self) -> list[Thread]:
        """Who makes it."""
        return [(c, t) for c in range(CTAS) if self.cta in {c, -1} for t in GROUPS[self.group]]

    def ptx(self, number: int) -> str:
        """Each store writes, in every byte, what no other does."""
        bits = 8 * self.size
        register = {8: "%h", 32: "%v", 64: "%d"}[bits]
        strength = f".relaxed.{self.scope}" if self.scope else ""
        verb = (
            f"st{strength}.global.b{bits} [%out+{self.at}], {register};"
            if self.write
            else f"ld{strength}.global.b{bits} {register}, [%out+{self.at}];"
        )
        return guarded(self.cta, self.group, f"{values(number)}\n{verb}", number)


@dataclass(frozen=True)
class Barrier:
    """A barrier of all threads of each CTA, or of each warp."""

    text: str

    def ptx(self, number: int) -> str:  # noqa: ARG002 - as in the other steps
        """Everybody comes."""
        return self.text


@dataclass(frozen=True)
class Signal:
    """One thread of a CTA sets a flag, one of another waits for it; each with more or less order."""

    source: int
    setter: str
    setting: str
    target: int
    waiter: str
    waiting: str

    def ptx(self, number: int) -> str:
        """The flag of a step is its own."""
        flag = f"[%flags+{4 * number}]"
        publish = {
            "fence": f"fence.acq_rel.gpu;\nst.relaxed.gpu.global.u32 {flag}, 1;",
            "membar": f"membar.gl;\natom.global.add.u32 %v, {flag}, 1;",
            "release": f"st.release.gpu.global.u32 {flag}, 1;",
            "none": f"st.relaxed.gpu.global.u32 {flag}, 1;",
            "cta": f"fence.acq_rel.cta;\nst.relaxed.gpu.global.u32 {flag}, 1;",
        }[self.setting]
        load = {"acquire": "ld.acquire.gpu", "volatile": "ld.volatile"}.get(self.waiting, "ld.relaxed.gpu")
        wait = f"W{number}: {load}.global.u32 %v, {flag};\nsetp.eq.u32 %p, %v, 0;\n@%p bra W{number};"
        wait += {"fence": "\nfence.acq_rel.gpu;", "volatile": "\nmembar.gl;"}.get(self.waiting, "")
        return (
            guarded(self.source, self.setter, publish, number)
            + "\n"
            + guarded(self.target, self.waiter, wait, number, "T")
        )


Step: TypeAlias = Access | Barrier | Signal


def values(number: int) -> str:
    """What a store of this step puts everywhere: a byte of the step and the thread."""
    byte = f"mad.lo.u32 %v, %who, 11, {number}; and.b32 %v, %v, 255;"
    return f"{byte} mul.lo.u32 %v, %v, 0x01010101; cvt.u16.u32 %h, %v; mov.b64 %d, {{%v, %v}};"


def byte_of(who: Thread, number: int) -> int:
    return ((who[0] * THREADS + who[1]) * 11 + number) & 255


def guarded(cta: int, group: str, text: str, number: int, mark: str = "S") -> str:
    """What some threads of a CTA do."""
    tests = ([f"setp.ne.u32 %p, %cta, {cta};\n@%p bra {mark}{number};"] if cta >= 0 else []) + (
        [f"@!{group} bra {mark}{number};"] if group else []
    )
    return "\n".join([*tests, text, f"{mark}{number}:"])


ctas = st.integers(-1, CTAS - 1)
single = st.sampled_from(["%q0", "%q1", "%q2"])
groups = st.sampled_from(["%q0", "%q0", *sorted(GROUPS)])
sizes = st.sampled_from([1, 4, 8])
scopes = st.sampled_from(["", "", "gpu", "gpu", "cta"])
settings_ = st.sampled_from(["fence", "membar", "release", "fence", "membar", "release", "none", "cta"])
waitings = st.sampled_from(["fence", "acquire", "volatile", "fence", "acquire", "none"])
barriers = st.sampled_from([None, Barrier("bar.sync 0;"), Barrier("bar.sync 0;"), Barrier("bar.warp.sync -1;")])


@st.composite
def anything(draw: st.DrawFn) -> list[Step]:
    """Accesses, barriers and signals in any order."""
    found: list[Step] = []
    for _ in range(draw(st.integers(3, 10))):
        match draw(st.integers(0, 2)):
            case 0:
                size = draw(sizes)
                at = draw(st.integers(0, 3)) * size
                found.append(Access(draw(ctas), draw(groups), draw(st.booleans()), at, size, draw(scopes)))
            case 1:
                found.append(draw(barriers) or Barrier("bar.sync 0;"))
            case _:
                found.append(signal(draw, draw(st.integers(0, CTAS - 1))))
    return found


@st.composite
def chains(draw: st.DrawFn) -> list[Step]:
    """An access, signals from CTA to CTA, an access in the last: and most of what orders them is strong enough."""
    cta, holder = draw(st.integers(0, CTAS - 1)), draw(single)
    writes = draw(st.booleans())
    found: list[Step] = [Access(cta, holder, writes, 0, draw(sizes))]
    for _ in range(draw(st.integers(1, 3))):
        holder = hand(draw, found, holder)
        hop = signal(draw, cta)
        found.append(Signal(cta, holder, hop.setting, hop.target, hop.waiter, hop.waiting))
        cta, holder = hop.target, hop.waiter
    holder = hand(draw, found, holder)
    found.append(Access(cta, holder, not writes or draw(st.booleans()), 0, draw(sizes)))
    return found


def hand(draw: st.DrawFn, found: list[Step], holder: str) -> str:
    """Who goes on in a CTA: the one who knows, or another, behind a barrier or behind none."""
    barrier = draw(barriers)
    if barrier is not None:
        found.append(barrier)
    return draw(single) if barrier is not None or draw(st.integers(0, 5)) == 0 else holder


def signal(draw: st.DrawFn, source: int) -> Signal:
    """From a CTA to another one."""
    target = (source + draw(st.integers(1, CTAS - 1))) % CTAS
    return Signal(source, draw(single), draw(settings_), target, draw(single), draw(waitings))


def text_of(program: list[Step]) -> tuple[str, list[range]]:
    """The kernel, and the lines of each step."""
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 flags)\n{",
        ".reg .pred %q<9>, %p; .reg .b32 %r0, %cta, %v, %who; .reg .b16 %h; .reg .b64 %d, %out, %flags;",
        "ld.param.u64 %out, [out]; ld.param.u64 %flags, [flags];",
        f"mov.u32 %r0, %tid.x; mov.u32 %cta, %ctaid.x; mad.lo.u32 %who, %cta, {THREADS}, %r0;",
        "setp.eq.u32 %q0, %r0, 0; setp.eq.u32 %q1, %r0, 5; setp.eq.u32 %q2, %r0, 33;",
        "and.b32 %v, %r0, 31; setp.eq.u32 %q3, %v, 0; setp.ge.u32 %q4, %r0, 32;",
    ]
    places: list[range] = []
    for number, step in enumerate(program):
        first = "\n".join(lines).count("\n") + 2
        lines.append(step.ptx(number))
        places.append(range(first, "\n".join(lines).count("\n") + 2))
    return "\n".join([*lines, "ret;\n}\n"]), places


class Threads:
    """What comes before what each thread does next."""

    def __init__(self) -> None:
        self.before: dict[Thread, frozenset[Node]] = defaultdict(frozenset)
        self.fenced: dict[Thread, frozenset[Node]] = defaultdict(frozenset)
        self.glimpsed: dict[Thread, frozenset[Node]] = defaultdict(frozenset)
        self.total: dict[Thread, bool] = defaultdict(bool)  # whether the last fence is a `fence.sc`
        self.seen_total: dict[Node, frozenset[Node]] = {}  # what was published behind one, by the read that saw it

    def fence(self, who: Thread, *, total: bool) -> None:
        """All that relaxed reads have seen is known, and all that is known may be published.

        The order of `fence.sc` (`membar`) is one: behind a read, of whichever thread, that saw what stands behind
        another one, it comes later than that one, or the read would be before what it saw.
        """
        self.before[who] |= self.glimpsed[who]
        known: frozenset[Node] | None = None
        while total and known != self.before[who]:
            known = self.before[who]
            self.before[who] = known.union(*(self.seen_total[read] for read in known if read in self.seen_total))
        self.fenced[who] = self.before[who]
        self.total[who] = total

    def set_flag(self, who: Thread, how: str) -> frozenset[Node]:
        """What a signal hands on: of the thread's own accesses those before its fence, and all it knows of others."""
        if how in {"fence", "membar"}:
            self.fence(who, total=how == "membar")
        if how == "release":
            return self.before[who]
        has_fenced = any(number >= 0 for number, _ in self.fenced[who])
        others = {node for node in self.before[who] if node[1] != who} if has_fenced else set[Node]()
        return self.fenced[who] | others

    def wait(self, who: Thread, how: str, published: frozenset[Node], read: Node | None = None) -> None:
        """What a wait is worth; `read` is its own one if it sees what stands behind a `fence.sc`."""
        if read is not None:
            self.seen_total[read] = published
            self.before[who] |= {read}
        if how == "acquire":
            self.before[who] |= published
        self.glimpsed[who] |= published
        if how in {"fence", "volatile"}:
            self.fence(who, total=how == "volatile")

    def meet(self, groups: list[list[Thread]]) -> None:
        """Barriers."""
        for group in groups:
            known = frozenset[Node]().union(*(self.before[t] for t in group))
            for who in group:
                self.before[who] = known


def ancestors(program: list[Step]) -> dict[Node, frozenset[Node]]:
    """For each access all those that come before it."""
    threads = Threads()
    found: dict[Node, frozenset[Node]] = {}
    for number, step in enumerate(program):
        match step:
            case Access():
                for who in step.threads():
                    found[number, who] = threads.before[who]
                    threads.before[who] |= {(number, who)}
            case Barrier():
                width = 32 if "warp" in step.text else THREADS
                starts = range(0, THREADS, width)
                threads.meet([[(c, t) for t in range(s, s + width)] for c in range(CTAS) for s in starts])
            case Signal():
                setter, waiter = (step.source, GROUPS[step.setter][0]), (step.target, GROUPS[step.waiter][0])
                published = threads.set_flag(setter, step.setting)
                total = threads.total[setter] and step.setting != "release"
                threads.wait(waiter, step.waiting, published, (-1 - number, waiter) if total else None)
    return found


def races(program: list[Step]) -> set[tuple[int, int]]:
    """Pairs of steps that race, whatever strong loads have seen."""
    before = ancestors(program)
    touching: dict[int, list[Node]] = defaultdict(list)
    for node in before:
        step = program[node[0]]
        assert isinstance(step, Access)
        for byte in range(step.at, step.at + step.size):
            touching[byte].append(node)
    found: set[tuple[int, int]] = set()
    for nodes in touching.values():
        writers = {node for node in nodes if _writes(program, node)}
        for one, other in combinations(nodes, 2):
            if one[1] == other[1] or not {one, other} & writers or one in before[other] or other in before[one]:
                continue
            if are_morally_strong(program, one, other):
                continue
            weak = not any(_access(program, node).scope for node in (one, other))
            if weak and {one, other} <= writers and byte_of(one[1], one[0]) == byte_of(other[1], other[0]):
                continue
            found.add((min(one[0], other[0]), max(one[0], other[0])))
    return found


def may_be_seen(program: list[Step], pair: tuple[int, int]) -> bool:
    """Whether a strong load between the two steps of a pair may have seen the first: then they do not race (8.9.5).

    What it has seen is a matter of the schedule; `test_memory_model_law` writes it down and judges by it.
    """
    return any(
        isinstance(step, Access) and step.scope and step.write for step in (program[pair[0]], program[pair[1]])
    ) and any(isinstance(step, Access) and step.scope and not step.write for step in program)


def are_morally_strong(program: list[Step], one: Node, other: Node) -> bool:
    """Whether two accesses are strong, in each other's scope, and of the same bytes."""
    first, second = _access(program, one), _access(program, other)
    scopes = {first.scope, second.scope}
    inside = "" not in scopes and (one[1][0] == other[1][0] or scopes == {"gpu"})
    return inside and (first.at, first.size) == (second.at, second.size)


def _access(program: list[Step], node: Node) -> Access:
    step = program[node[0]]
    assert isinstance(step, Access)
    return step


def _writes(program: list[Step], node: Node) -> bool:
    return _access(program, node).write


def pairs(hazards: Iterable[Hazard], places: list[range]) -> set[tuple[int, int]]:
    """The steps that races are between, by the lines of each step."""
    found: set[tuple[int, int]] = set()
    for hazard in hazards:
        assert hazard.other is not None
        pair = [next(n for n, place in enumerate(places) if line in place) for line in (hazard.line, hazard.other.line)]
        found.add((min(pair), max(pair)))
    return found


def reported(program: list[Step], seed: int, threads: int = 1) -> set[tuple[int, int]]:
    """The same as the machine sees it."""
    text, places = text_of(program)
    out, flags = np.zeros(WORDS, np.uint64), np.zeros(len(program), np.uint32)
    run = kernel(parse(text), "k").launch(
        CTAS,
        THREADS,
        [out, flags],
        checks=("memcheck", "racecheck:global"),
        timeout=300,
        schedule_seed=seed,
        threads=threads,
    )
    return pairs(run.hazards, places)


@settings(max_examples=examples(25), deadline=None)
@given(st.one_of(chains(), chains(), chains(), anything()), st.integers(0, 3))
def test_races_between_ctas_are_those_that_happens_before_allows(program: list[Step], seed: int) -> None:
    expected = races(program)
    for seen in (reported(program, seed), reported(program, seed + 4, threads=3)):
        assert seen <= expected
        assert bool(seen) == bool(expected) or all(may_be_seen(program, pair) for pair in expected)


def test_the_oracle_itself() -> None:
    store, load = Access(0, "%q0", True, 0, 4), Access(1, "%q0", False, 3, 1)
    assert races([store, load]) == {(0, 1)}
    assert races([store, Signal(0, "%q0", "fence", 1, "%q0", "fence"), load]) == set()
    assert races([store, Signal(0, "%q2", "fence", 1, "%q0", "fence"), load]) == {(0, 2)}
    assert races([store, Barrier("bar.sync 0;"), Signal(0, "%q2", "fence", 1, "%q0", "acquire"), load]) == set()
    assert races([store, Signal(0, "%q0", "none", 1, "%q0", "fence"), load]) == {(0, 2)}
    assert races([store, Signal(0, "%q0", "release", 1, "%q0", "none"), load]) == {(0, 2)}


@pytest.mark.parametrize(
    ("first", "last", "ordered"),
    [
        ("membar", "volatile", True),
        ("membar", "fence", False),
        ("fence", "volatile", False),
        ("none", "volatile", False),
    ],
)
def test_fences_that_are_in_one_order_reach_over_a_relaxed_read(first: str, last: str, ordered: bool) -> None:
    """Two `fence.sc`, and before the second a read, by another thread, of what stands behind the first."""
    load, store = Access(0, "%q0", False, 0, 1), Access(2, "%q1", True, 0, 1)
    seen = Signal(0, "%q0", first, 2, "%q0", "none")
    other = Signal(1, "%q0", "fence", 2, "%q1", last)
    program: list[Step] = [load, seen, Barrier("bar.sync 0;"), other, store]
    expected: set[tuple[int, int]] = set() if ordered else {(0, 4)}
    assert races(program) == expected
    assert reported(program, 0) == expected
