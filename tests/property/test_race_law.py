"""Racecheck against happens-before worked out by hand: a graph of all accesses and barriers, closed, of random kernels.

The oracle knows nothing of clocks: it makes a node of every access of every thread and of every barrier, an edge where
one comes before the other, and looks for pairs of accesses of one byte with no path either way.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.machine import kernel
from ptxloom.syntax import parse
from sweeps import examples

THREADS = 96
BYTES = 16
GROUPS: dict[str, tuple[int, ...]] = {
    "%q1": (0,),
    "%q2": (1, 2),
    "%q3": (33,),
    "%q4": (0, 32, 64),
    "%q5": tuple(range(16)),
    "%q6": (65,),
}
WARPS = {"%w0": (0,), "%w1": (1,), "%w01": (0, 1), "%w12": (1, 2), "": (0, 1, 2)}


def lanes_of(warps: tuple[int, ...]) -> tuple[int, ...]:
    """The threads of some warps."""
    return tuple(t for w in warps for t in range(w * 32, w * 32 + 32))


@dataclass(frozen=True)
class Access:
    """A load or store of some threads: at one address, or each at its own."""

    group: str
    write: bool
    at: int
    size: int
    strong: bool = False
    stride: int = 0

    @property
    def threads(self) -> tuple[int, ...]:
        """Who makes it."""
        return GROUPS[self.group] if self.group in GROUPS else lanes_of(WARPS[self.group])

    def bytes(self, thread: int) -> range:
        """What a thread touches."""
        start = self.at + self.stride * thread
        return range(start, start + self.size)

    def ptx(self, number: int) -> str:
        """The value a store writes differs from every other one in each of its bytes."""
        verb = ".volatile" if self.strong else ""
        bits = 8 * self.size
        register = {8: "%h2", 16: "%h2", 32: "%r2", 64: "%d2"}[bits]
        guard = f"@{self.group} " if self.group else ""
        place = f"mad.lo.u32 %r2, %r0, {self.stride}, %tile; "
        if not self.write:
            return f"{place}{guard}ld{verb}.shared.b{bits} {register}, [%r2+{self.at}];"
        return f"{place}{guard}st{verb}.shared.b{bits} [%r2+{self.at}], {register.replace('2', f'{number}x')};"


@dataclass(frozen=True)
class Barrier:
    """A barrier of warps, those that only arrive apart; or of the lanes of each warp."""

    kind: str
    waiting: str = ""
    arriving: str = ""

    def ptx(self, number: int) -> str:
        """Each barrier has a number of its own."""
        match self.kind:
            case "warp":
                return "bar.warp.sync -1;"
            case "whole":
                return "bar.sync 0;"
            case _:
                count = 32 * len({*WARPS[self.waiting], *(WARPS[self.arriving] if self.arriving else ())})
                arrive = f"@{self.arriving} bar.arrive {number}, {count};\n" if self.arriving else ""
                return f"{arrive}@{self.waiting} bar.sync {number}, {count};"


def access(group: str, write: bool, size: int, slot: int, strong: bool) -> Access:
    """All threads of a group at one place."""
    return Access(group, write, slot * size % BYTES, size, strong)


def row(group: str, write: bool, size: int, slot: int, wide: int) -> Access:
    """Every thread at its own place, without gaps or with."""
    return Access(group, write, slot * size, size, stride=(1 + wide) * size)


sizes = st.sampled_from([1, 2, 4, 8])
accesses = st.builds(access, st.sampled_from(sorted(GROUPS)), st.booleans(), sizes, st.integers(0, 3), st.booleans())
slots = st.sampled_from([0, 1, 2, 31, 32, 33])
rows = st.builds(row, st.sampled_from(sorted(WARPS)), st.booleans(), sizes, slots, st.integers(0, 1))
meetings = [("%w01", ""), ("%w12", ""), ("%w0", "%w1"), ("%w12", "%w0")]
barriers = st.one_of(
    st.just(Barrier("whole")),
    st.just(Barrier("warp")),
    st.sampled_from([Barrier("part", waiting, arriving) for waiting, arriving in meetings]),
)
programs = st.lists(st.one_of(accesses, accesses, rows, rows, barriers), min_size=2, max_size=9)


def text_of(program: list[Access | Barrier]) -> tuple[str, list[int]]:
    """The kernel, and the line of each step."""
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{",
        ".reg .pred %q<7>; .reg .pred %w0; .reg .pred %w1; .reg .pred %w01; .reg .pred %w12;",
        ".reg .b32 %r<4>; .reg .b16 %h2; .reg .b64 %d2; .shared .align 16 .b8 tile[4096];",
        ".reg .b32 %tile; mov.u32 %tile, tile;",
        "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5;",
        "min.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 4; shr.u32 %r3, %r1, 1; mad.lo.u32 %r2, %r3, 2, %r2;",
        "and.b32 %r3, %r0, 15; add.u32 %r3, %r3, %r2; mul.lo.u32 %r3, %r3, 9;",
        "setp.eq.u32 %w0, %r1, 0; setp.eq.u32 %w1, %r1, 1; setp.le.u32 %w01, %r1, 1; setp.ge.u32 %w12, %r1, 1;",
    ]
    for name, threads in GROUPS.items():
        tests = [f"setp.eq.u32 {name}, %r0, {threads[0]};"]
        if threads == tuple(range(16)):
            tests = [f"setp.lt.u32 {name}, %r0, 16;"]
        else:
            tests += [f"@!{name} setp.eq.u32 {name}, %r0, {t};" for t in threads[1:]]
        lines.append(" ".join(tests))
    places: list[int] = []
    for number, step in enumerate(program, 1):
        if isinstance(step, Access) and step.write:
            lines.append(
                f".reg .b32 %r{number}x; .reg .b16 %h{number}x; .reg .b64 %d{number}x;\n"
                f"add.u32 %r{number}x, %r3, {number};\n"
                f"mul.lo.u32 %r{number}x, %r{number}x, 0x01010101; cvt.u16.u32 %h{number}x, %r{number}x;\n"
                f"mov.b64 %d{number}x, {{%r{number}x, %r{number}x}};"
            )
        lines.append(step.ptx(number))
        places.append("\n".join(lines).count("\n") + 1)
    return "\n".join([*lines, "ret;\n}\n"]), places


def byte_of(thread: int, number: int) -> int:
    """What a store of a thread puts into every byte: no two put the same."""
    return ((thread & 15) + (0, 16, 18)[thread // 32]) * 9 + number


def ancestors(program: list[Access | Barrier]) -> dict[tuple[int, int], set[object]]:
    """For each access (step, thread), all accesses and barriers that come before it."""
    last: dict[int, set[object]] = defaultdict(set)
    found: dict[tuple[int, int], set[object]] = {}
    for number, step in enumerate(program):
        if isinstance(step, Access):
            for thread in step.threads:
                found[number, thread] = set(last[thread])
                last[thread] = last[thread] | {(number, thread)}
            continue
        if step.kind == "warp":
            pairs = [(lanes_of((w,)), lanes_of((w,))) for w in range(3)]
        else:
            waiting = lanes_of(WARPS[step.waiting])
            pairs = [(waiting, (*waiting, *(lanes_of(WARPS[step.arriving]) if step.arriving else ())))]
        for waiting, coming in pairs:
            joined = set[object]().union(*(last[t] for t in coming))
            for thread in waiting:
                last[thread] = joined
    return found


def may_be_seen(program: list[Access | Barrier], pair: tuple[int, int, bool]) -> bool:
    """Whether a strong load may have seen a strong store of a pair: then the two do not race (8.9.5).

    What it has seen is a matter of the schedule; `test_memory_model_law` writes it down and judges by it.
    """
    steps = [step for step in program if isinstance(step, Access) and step.strong]
    return any(step.write and step in (program[pair[0]], program[pair[1]]) for step in steps) and any(
        not step.write for step in steps
    )


def races(program: list[Access | Barrier]) -> set[tuple[int, int, bool]]:
    """Pairs of steps that race whatever strong loads have seen, and whether they do so within a warp."""
    before = ancestors(program)
    touching: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for number, thread in before:
        step = program[number]
        assert isinstance(step, Access)
        for byte in step.bytes(thread):
            touching[byte].append((number, thread))
    found: set[tuple[int, int, bool]] = set()
    for nodes in touching.values():
        for first, second in combinations(nodes, 2):
            one, other = program[first[0]], program[second[0]]
            assert isinstance(one, Access)
            assert isinstance(other, Access)
            if first[1] == second[1] or not (one.write or other.write):
                continue
            if one.strong and other.strong and one.bytes(first[1]) == other.bytes(second[1]):
                continue
            if first in before[second] or second in before[first]:
                continue
            weak = not (one.strong or other.strong)
            if (
                weak
                and one.write
                and other.write
                and byte_of(first[1], first[0] + 1) == byte_of(second[1], second[0] + 1)
            ):
                continue
            low, high = sorted((first[0], second[0]))
            found.add((low, high, first[1] // 32 == second[1] // 32))
    return found


def reported(program: list[Access | Barrier], seed: int) -> set[tuple[int, int, bool]]:
    """The same as the machine sees it."""
    text, places = text_of(program)
    run = kernel(parse(text), "k").launch(
        1, THREADS, [], checks=("memcheck", "racecheck"), threads=1, timeout=300, schedule_seed=seed
    )
    found: set[tuple[int, int, bool]] = set()
    for hazard in run.hazards:
        assert hazard.other is not None
        pair = sorted((places.index(hazard.line), places.index(hazard.other.line)))
        found.add((pair[0], pair[1], hazard.kind == "warp-order"))
    return found


def test_the_verdict_is_that_of_every_schedule() -> None:
    """A strong store comes behind a weak one, which it must not replace; and a weak load of the thread of that."""
    program: list[Access | Barrier] = [
        Access("%q1", True, 5, 1),
        Barrier("part", "%w01"),
        Access("%q1", False, 5, 1),
        Access("%q3", True, 5, 1, strong=True),
    ]
    assert races(program) == {(2, 3, False)}
    assert [reported(program, seed) for seed in range(12)] == [{(2, 3, False)}] * 12


def test_a_read_is_told_by_its_own_line_whatever_its_lane_has_read_since() -> None:
    """Lanes that read several places at once: the write meets the second of their three loads."""
    program: list[Access | Barrier] = [
        Access("%q1", False, 0, 1),
        Access("", False, 0, 1, stride=1),
        Access("%q1", False, 0, 1),
        Access("%q1", True, 1, 1),
    ]
    assert races(program) == {(1, 3, True)}
    assert [reported(program, seed) for seed in range(4)] == [{(1, 3, True)}] * 4


@settings(max_examples=examples(50), deadline=None)
@given(programs, st.integers(0, 3))
def test_races_are_those_that_happens_before_allows(program: list[Access | Barrier], seed: int) -> None:
    expected = races(program)
    for seen in (reported(program, seed), reported(program, seed + 4)):
        assert seen <= expected
        assert bool(seen) == bool(expected) or all(may_be_seen(program, pair) for pair in expected)


def test_the_oracle_itself() -> None:
    store, load = Access("%q1", True, 0, 4), Access("%q3", False, 3, 1)
    assert races([store, load]) == {(0, 1, False)}
    assert races([store, Barrier("whole", ""), load]) == set()
    assert races([store, Barrier("part", "%w01"), load]) == set()
    assert races([store, Barrier("part", "%w0", "%w1"), load]) == {(0, 2, False)}  # warp 1 only arrives
    assert races([store, Barrier("warp"), Access("%q2", False, 0, 1)]) == set()
