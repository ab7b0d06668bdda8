"""Racecheck against the memory consistency model (`memory_model`), on random programs of a few threads.

Threads of a CTA, of a cluster, or of several clusters store, load and copy data, set flags and look at them with
fences, acquire and release of every scope, arrive at mbarriers and meet at barriers. What each look has seen is written
down by the kernel, so that the model knows what happened; it then has to come to the same races as the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.memory_model import Execution, Node, Thread
from ptxloom.machine import kernel
from ptxloom.syntax import parse
from sweeps import examples

LOOKS: Final = 40  # how often a thread looks at a flag before it goes on
FLAGS: Final = 3
DATA: Final = 3


@dataclass(frozen=True)
class Arena:
    """Where a program runs: CTAs of a grid, its clusters, who acts, and in which memory."""

    name: str
    space: str
    ctas: int
    cluster: int
    threads: int
    actors: tuple[int, ...]  # numbers of threads in the grid

    def thread(self, number: int) -> Thread:
        """Who a number means."""
        cta = number // self.threads
        return cta // self.cluster, cta, number % self.threads


ARENAS: Final = (
    Arena("cta", "shared", 1, 1, 96, (0, 5, 33, 70)),
    Arena("cluster", "shared::cluster", 2, 2, 64, (0, 5, 33, 64, 97)),
    Arena("grid", "global", 3, 1, 64, (0, 5, 33, 64, 97, 128)),
    Arena("clusters", "global", 4, 2, 32, (0, 1, 32, 64, 96)),
)


@dataclass(frozen=True)
class Access:
    """A load, a store or an exchange of a word or two of data; strong if it has a scope."""

    who: int
    at: int
    write: bool
    size: int = 4
    scope: str = ""
    exchange: bool = False

    def ptx(self, number: int, space: str) -> str:
        """Every store writes what no other does."""
        verb = "volatile" if self.scope == "sys" else f"relaxed.{self.scope}" if self.scope else "weak"
        place = f"[data+{8 * self.at}]"
        register = {4: "%v", 8: "%d"}[self.size]
        head = f"{verb}.{space}.b{8 * self.size}"
        if verb == "volatile":
            head = f"volatile.{space}.b{8 * self.size}"
        if self.exchange:
            return (
                f"mov.u32 %v, {(number + 1) * 0x01010101}; mov.b64 %d, {{%v, %v}};\n"
                f"atom.relaxed.{self.scope}.{space}.exch.b{8 * self.size} {register}, {place}, {register};\n{self.seen}"
            )
        if self.write:
            return f"mov.u32 %v, {(number + 1) * 0x01010101}; mov.b64 %d, {{%v, %v}};\nst.{head} {place}, {register};"
        return f"ld.{head} {register}, {place};\n{self.seen}" if self.scope else f"ld.{head} {register}, {place};"

    def node(self, number: int, arena: Arena) -> Node:
        """What the model takes it for."""
        reads, place = self.exchange or not self.write, f"data {self.at}"
        return Node(number, arena.thread(self.who), "", self.scope, place, range(self.size), reads, self.write)

    @property
    def seen(self) -> str:
        """Puts the number of the step whose value has been read into the mask: each of its bytes is that number."""
        narrow = "cvt.u32.u64 %v, %d; " if self.size == 8 else ""
        return f"{narrow}and.b32 %v, %v, 255;\n{SEE}"


@dataclass(frozen=True)
class Fence:
    """A memory fence."""

    who: int
    sem: str
    scope: str

    def ptx(self, number: int, space: str) -> str:  # noqa: ARG002 - as in the other steps
        """The old spelling for some of the strongest."""
        if self.sem == "sc" and self.scope == "gpu":
            return "membar.gl;"
        return f"fence.{self.sem}.{self.scope};"


@dataclass(frozen=True)
class Put:
    """A strong write of the number of its step to a flag, by a store or an exchange, which sees what was there."""

    who: int
    flag: int
    sem: str
    scope: str
    exchange: bool

    def ptx(self, number: int, space: str) -> str:
        """What it sees goes into the mask."""
        place = f"[flags+{4 * self.flag}]"
        if self.exchange:
            return f"atom.{self.sem}.{self.scope}.{space}.exch.b32 %v, {place}, {number + 1};\n" + SEE
        return f"st.{self.sem}.{self.scope}.{space}.b32 {place}, {number + 1};"


@dataclass(frozen=True)
class Get:
    """Looks at a flag, until a certain step has written it or for some time."""

    who: int
    flag: int
    wanted: int
    sem: str
    scope: str

    def ptx(self, number: int, space: str) -> str:
        """All that is seen goes into the mask."""
        load = f"ld.{self.sem}.{self.scope}" if self.sem != "volatile" else "ld.volatile"
        return (
            f"mov.u32 %n, 0; mov.u32 %first, 0;\nW{number}: {load}.{space}.b32 %v, [flags+{4 * self.flag}];\n{SEE}\n"
            f"setp.eq.u32 %q, %n, 0; @%q mov.u32 %first, %b;\n"
            f"nanosleep.u32 1; add.u32 %n, %n, 1; setp.ne.u32 %q, %v, {self.wanted + 1};\n"
            f"setp.lt.and.u32 %q, %n, {LOOKS}, %q;\n@%q bra W{number};"
        )


@dataclass(frozen=True)
class Meet:
    """A barrier of a CTA, of a warp, or of the cluster, behind a relaxed arrival or not."""

    kind: str

    def groups(self, arena: Arena) -> list[list[int]]:
        """The actors that meet."""
        size = {"warp": 32, "cta": arena.threads}.get(self.kind, arena.threads * arena.cluster)
        groups: dict[int, list[int]] = {}
        for actor in arena.actors:
            groups.setdefault(actor // size, []).append(actor)
        return list(groups.values())

    def ptx(self, number: int, space: str) -> str:  # noqa: ARG002 - as in the other steps
        """All threads come."""
        return {
            "warp": "bar.warp.sync -1;",
            "cta": "bar.sync 0;",
            "cluster": "barrier.cluster.arrive; barrier.cluster.wait;",
            "relaxed": "barrier.cluster.arrive.relaxed; barrier.cluster.wait;",
        }[self.kind]


Pairs: TypeAlias = set[tuple[int, int]]  # of steps
Step: TypeAlias = Access | Fence | Put | Get | Meet
SEE: Final = "shl.b32 %b, 1, %v; or.b32 %mask, %mask, %b;"


class Author:
    """Makes programs up: data is handed from thread to thread, mostly well, with all kinds of things between."""

    def __init__(self, arena: Arena, number: int) -> None:
        self.arena = arena
        self.random = Random(number)
        self.steps: list[Step] = []

    def program(self) -> list[Step]:
        """A program of at most 28 steps."""
        holder, at = self.actor(), self.random.randrange(DATA)
        self.steps.append(Access(holder, at, self.random.random() < 0.7, self.size()))
        if self.random.random() < 0.3:
            self.count(at)
        for _ in range(self.random.randint(1, 4)):
            self.sprinkle(0.3)
            holder = self.meet() if self.random.random() < 0.15 else self.hop(holder)
        self.sprinkle(0.3)
        if self.random.random() < 0.2:
            at = self.random.randrange(DATA)
        self.steps.append(self.access(holder, at, 0.5, 0.1))
        return self.steps[:28]

    def hop(self, holder: int) -> int:
        """A flag is set by one thread and looked at by another, which holds from now on."""
        ways = [("relaxed", False), ("relaxed", True), ("release", False), ("acq_rel", True)]
        sem, exchange = self.random.choice(ways)
        if sem == "relaxed" and self.random.random() < 0.6:
            self.fence(holder, "acq_rel", "release")
            self.sprinkle(0.2)
        flag = self.random.randrange(FLAGS)
        self.steps.append(Put(holder, flag, sem, self.scope(), exchange))
        wanted = len(self.steps) - 1
        if self.random.random() < 0.2:
            self.steps.append(Put(self.actor(), flag, "relaxed", self.scope(), self.random.random() < 0.7))
        self.sprinkle(0.1)
        holder = self.actor()
        if self.random.random() < 0.35:  # what it knows is behind this fence, what the look teaches is not
            self.fence(holder, "acq_rel", "release")
        sem = self.random.choice(["acquire", "acquire", "relaxed", "relaxed", "volatile"])
        self.steps.append(Get(holder, flag, wanted, sem, "sys" if sem == "volatile" else self.scope()))
        if sem != "acquire" and self.random.random() < 0.8:
            if self.random.random() < 0.2:
                holder = self.meet()
            self.fence(holder, "acq_rel", "acquire")
        return holder

    def sprinkle(self, chance: float) -> None:
        """Something else, perhaps."""
        while self.random.random() < chance:
            match self.random.randrange(4):
                case 0:
                    self.fence(self.actor(), "acq_rel", "acquire", "release")
                case 1:
                    self.meet()
                case _:
                    self.steps.append(self.access(self.actor(), self.random.randrange(DATA), 0.4, 0.5))

    def count(self, at: int) -> None:
        """As at a counter: several threads exchange a word, and one of them, or one that it meets, goes on without."""
        size, last = self.size(), self.actor()
        for _ in range(self.random.randint(1, 3)):
            last = self.actor()
            self.steps.append(Access(last, at, write=True, size=size, scope=self.scope(), exchange=True))
            self.sprinkle(0.1)
        if self.random.random() < 0.3:
            last = self.meet()
        self.steps.append(Access(last, at, self.random.random() < 0.7, size))

    def access(self, who: int, at: int, writes: float, strong: float) -> Access:
        """A load or a store, perhaps a strong one, or an exchange."""
        scope = self.strength(strong)
        if scope and self.random.random() < 0.3:
            return Access(who, at, write=True, size=self.size(), scope=self.scope(), exchange=True)
        return Access(who, at, self.random.random() < writes, self.size(), scope)

    def meet(self) -> int:
        """A barrier; gives a thread that goes on."""
        kinds = ["warp", "cta", "cta", *(["cluster", "relaxed"] if self.arena.cluster > 1 else [])]
        self.steps.append(Meet(self.random.choice(kinds)))
        return self.actor()

    def fence(self, who: int, *sems: str) -> None:
        """A memory fence of one of some semantics."""
        self.steps.append(Fence(who, self.random.choice(sems), self.scope()))

    def actor(self) -> int:
        """Anybody."""
        return self.random.choice(self.arena.actors)

    def scope(self) -> str:
        """Mostly one that holds all."""
        wide = {"cta": "cta", "cluster": "cluster"}.get(self.arena.name, "gpu")
        return self.random.choice([wide] * 5 + ["cta", "gpu", "cluster" if self.arena.cluster > 1 else "gpu"])

    def strength(self, chance: float) -> str:
        """A scope, if an access is to be strong."""
        return self.random.choice([self.scope(), "sys"]) if self.random.random() < chance else ""

    def size(self) -> int:
        """Mostly the same."""
        return self.random.choice([4, 4, 4, 8])


def text_of(arena: Arena, program: list[Step]) -> tuple[str, list[range]]:
    """The kernel, and the lines of each step."""
    shared = f".shared .align 8 .b8 sdata[{8 * DATA}]; .shared .align 8 .b8 sflags[{4 * FLAGS}];"
    lines = [
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u64 g)\n{",
        ".reg .pred %p, %q; .reg .b32 %who, %t, %c, %v, %n, %b, %mask, %first;",
        ".reg .b32 data32, flags32; .reg .b64 %d, %o, data, flags;",
        f"{shared} ld.param.u64 %o, [o]; mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x;",
        f"mad.lo.u32 %who, %c, {arena.threads}, %t;",
    ]
    if arena.space == "global":
        lines.append(f"ld.param.u64 data, [g]; add.u64 flags, data, {8 * DATA};")
    else:
        lines.append("mov.u32 data32, sdata; mov.u32 flags32, sflags;")
        zero = [f"st.shared.b32 [sdata+{4 * n}], 0;" for n in range(2 * DATA)]
        zero += [f"st.shared.b32 [sflags+{4 * n}], 0;" for n in range(FLAGS)]
        lines.append("setp.ne.u32 %p, %t, 0; @%p bra ZERO;\n" + " ".join(zero) + "\nZERO:")
        if arena.cluster > 1:
            lines.append("mapa.shared::cluster.u32 data32, data32, 0; mapa.shared::cluster.u32 flags32, flags32, 0;")
            lines.append("barrier.cluster.arrive; barrier.cluster.wait;")
        else:
            lines.append("bar.sync 0;")
        lines.append("cvt.u64.u32 data, data32; cvt.u64.u32 flags, flags32;")
    places: list[range] = []
    for number, step in enumerate(program):
        first = "\n".join(lines).count("\n") + 2
        text = step.ptx(number, arena.space)
        if not isinstance(step, Meet):
            text = f"@%p bra S{number};\nmov.u32 %mask, 0; mov.u32 %first, 0;\n{text}"
            text = f"setp.ne.u32 %p, %who, {step.who};\n{text}"
            if isinstance(step, Get) or (isinstance(step, Put) and step.exchange) or looks(step):
                text += f"\nst.global.v2.b32 [%o+{8 * number}], {{%mask, %first}};"
            text += f"\nS{number}:"
        lines.append(text)
        places.append(range(first, "\n".join(lines).count("\n") + 2))
    end = "barrier.cluster.arrive; barrier.cluster.wait;" if arena.cluster > 1 else ""
    return "\n".join([*lines, end, "ret;\n}\n"]), places


def looks(step: Step) -> bool:
    """Whether a step is an access to data that says what it has seen."""
    return isinstance(step, Access) and bool(step.scope) and (step.exchange or not step.write)


def execution_of(arena: Arena, program: list[Step], seen: list[tuple[int, int]]) -> Execution:
    """What happened, as the values say that each step has seen, at any time and at first."""
    run = Execution()
    writers: dict[int, int] = {}
    readers: dict[int, int] = {}  # by node: the steps it has seen, as bits
    for number, step in enumerate(program):
        mask, first = seen[number]
        match step:
            case Access():
                writers[number] = run.add(step.node(number, arena))
                readers[writers[number]] = mask if looks(step) else 0
            case Fence(who, sem, scope):
                run.add(Node(number, arena.thread(who), sem, scope))
            case Put(who, flag, sem, scope, exchange):
                node = Node(number, arena.thread(who), sem, scope, f"flag {flag}", range(4), exchange, writes=True)
                writers[number] = run.add(node)
                readers[writers[number]] = mask
            case Get(who, flag, _, sem, scope):
                sem = "relaxed" if sem == "volatile" else sem
                node = Node(number, arena.thread(who), sem, scope, f"flag {flag}", range(4), reads=True)
                if mask != first:  # what it learns at first need not come before all that it sees
                    readers[run.add(node)] = first
                readers[run.add(node)] = mask
            case Meet(kind):
                for group in step.groups(arena):
                    run.meet(number, [arena.thread(a) for a in group], relaxed=kind == "relaxed")
    for node, mask in readers.items():
        run.seen[node] = {writers[bit - 1] for bit in range(1, 32) if mask >> bit & 1}
    run.close()
    return run


def judge(
    arena: Arena, program: list[Step], seed: int, threads: int = 1
) -> tuple[Pairs, dict[tuple[int, int, str], bool]]:
    """The races that the machine tells, and those of the model."""
    text, places = text_of(arena, program)
    out, data = np.zeros((32, 2), np.uint32), np.zeros(2 * DATA + FLAGS + 1, np.uint32)
    watching = "racecheck:global" if arena.space == "global" else "racecheck"
    run = kernel(parse(text), "k").launch(
        arena.ctas,
        arena.threads,
        [out, data],
        checks=("memcheck", watching),
        cluster=arena.cluster,
        timeout=120,
        schedule_seed=seed,
        threads=threads,
    )
    told: set[tuple[int, int]] = set()
    for hazard in run.hazards:
        assert hazard.other is not None
        pair = [next(n for n, place in enumerate(places) if line in place) for line in (hazard.line, hazard.other.line)]
        told.add((min(pair), max(pair)))
    model = execution_of(arena, program, [(int(mask), int(first)) for mask, first in out])
    return told, model.races(lambda one, other: one.step == other.step)


def compare(arena: Arena, program: list[Step], seed: int, threads: int = 1) -> None:
    """The machine tells no other races, and one at least of those at every place."""
    told, expected = judge(arena, program, seed, threads)
    assert told <= {(one, other) for one, other, _ in expected}
    for place in {place for (_, _, place), certain in expected.items() if certain}:
        assert told & {(one, other) for one, other, where in expected if where == place}, place


@pytest.mark.parametrize("arena", ARENAS, ids=lambda arena: arena.name)
def test_races_are_those_of_the_memory_model(arena: Arena) -> None:
    @settings(max_examples=examples(8), deadline=None)
    @given(st.integers(0, 1 << 32), st.integers(0, 3))
    def law(number: int, seed: int) -> None:
        program = Author(arena, number).program()
        compare(arena, program, seed)
        if arena.ctas > arena.cluster:
            compare(arena, program, seed + 4, threads=3)

    law()


def test_a_read_of_a_peer_is_told_by_its_own_line() -> None:
    program: list[Step] = [Access(64, 0, False), Access(33, 0, True), Access(64, 1, False)]
    told, expected = judge(ARENAS[1], program, 1)
    assert told == {(0, 1)}
    assert expected == {(0, 1, "data 0"): True}
