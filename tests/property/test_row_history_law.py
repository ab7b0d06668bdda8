"""Racecheck of whole rows of global memory as word by word: one list of hazards, whatever a random grid does."""

from __future__ import annotations

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxloom.machine import kernel
from ptxloom.machine.launch.shadows import racecheck
from ptxloom.syntax import parse
from sweeps import examples

CTAS, THREADS = 7, 64
WORDS = 4096
CHECKS = ("memcheck", "racecheck:global")
LANES = {"": "", "%q0": "one warp", "%q1": "half a warp", "%q2": "odd lanes", "%q3": "one lane"}
PLACES = {
    "own": "mad.lo.u32 %v, %cta, 64, %me;",
    "common": "mov.b32 %v, %me;",
    "next": "add.u32 %v, %me, 1;",
    "swapped": "xor.b32 %v, %me, 32;",
    "turned": "sub.u32 %v, 63, %me;",
    "apart": "mul.lo.u32 %v, %me, 3;",
    "tiled": "and.b32 %v, %me, 15; shr.u32 %w, %me, 4; mad.lo.u32 %v, %w, 64, %v; mad.lo.u32 %v, %cta, 16, %v;",
    "one": "mov.b32 %v, 5;",
}
VERBS = ("ld.global", "ld.global", "ld.global", "ld.global.nc", "st.global", "st.global", "red")


@dataclass(frozen=True)
class Access:
    """What some lanes of a CTA, or of all (-1), do to words of a place."""

    verb: str
    cta: int
    lanes: str
    place: str
    words: int
    shift: int

    def ptx(self, number: int) -> str:
        """Each store writes a number of its step, or the thread's."""
        at = f"{PLACES[self.place]} mul.wide.u32 %at, %v, {4 * self.words}; add.u64 %at, %at, %out;"
        address = f"[%at+{4 * self.words * self.shift}]"
        vector = {1: ("b32", "%a"), 2: ("v2.b32", "{%a, %b}"), 4: ("v4.b32", "{%a, %b, %c, %d}")}
        kind, registers = vector[self.words]
        act = f"{self.verb}.{kind} {registers}, {address};"
        if self.verb == "st.global":
            act = f"mov.b32 %a, {number % 3}; mov.b32 %b, %me; {self.verb}.{kind} {address}, {registers};"
        if self.verb == "red":
            act = f"red.global.add.u32 {address}, 1;"
        other = f"setp.ne.u32 %p, %cta, {self.cta};\n@%p bra S{number};" if self.cta >= 0 else ""
        return "\n".join([other, f"@!{self.lanes} bra S{number};" if self.lanes else "", at, act, f"S{number}:"])


accesses = st.builds(
    Access,
    st.sampled_from(VERBS),
    st.sampled_from([-1, -1, -1, 0, 1, 5]),
    st.sampled_from([*[""] * 4, *LANES]),
    st.sampled_from(["own", "common", "tiled", *PLACES]),
    st.sampled_from([1, 1, 2, 4]),
    st.sampled_from([0, 0, 0, 0, 16, 64, 300]),
)
reads = st.builds(
    Access,
    st.just("ld.global"),
    st.sampled_from([-1, -1, 0, 1, 5]),
    st.sampled_from(["", "", "%q0", "%q1"]),
    st.sampled_from(["common", "common", "next", "tiled", "swapped"]),
    st.sampled_from([1, 1, 2]),
    st.sampled_from([0, 0, 16]),
)
writes = st.builds(
    Access,
    st.just("st.global"),
    st.sampled_from([-1, 5, 1]),
    st.just(""),
    st.sampled_from(["common", "tiled"]),
    st.sampled_from([1, 2]),
    st.sampled_from([0, 0, 16]),
)
mixed = st.lists(st.one_of(accesses, accesses, st.none()), min_size=2, max_size=10)
many = st.lists(st.one_of(reads, reads, reads, reads, st.none()), min_size=6, max_size=14)
last = st.lists(st.one_of(writes, accesses), min_size=1, max_size=2)
programs = st.one_of(mixed, st.tuples(many, last).map(lambda both: [*both[0], *both[1]]))


def text_of(program: list[Access | None]) -> str:
    """The kernel."""
    head = """.version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out)\n{
.reg .pred %q<9>, %p; .reg .b32 %me, %cta, %v, %w, %a, %b, %c, %d; .reg .b64 %out, %at;
ld.param.u64 %out, [out]; mov.u32 %me, %tid.x; mov.u32 %cta, %ctaid.x;
mov.b32 %a, 1; mov.b32 %b, 2; mov.b32 %c, 3; mov.b32 %d, 4; and.b32 %v, %me, 1;
setp.lt.u32 %q0, %me, 32; setp.lt.u32 %q1, %me, 16; setp.eq.u32 %q2, %v, 1; setp.eq.u32 %q3, %me, 9;"""
    steps = [step.ptx(number) if step is not None else "bar.sync 0;" for number, step in enumerate(program)]
    return "\n".join([head, *steps, "ret;\n}\n"])


@settings(max_examples=examples(8))
@given(programs, st.integers(0, 7))
def test_rows_are_judged_as_words(program: list[Access | None], start: int) -> None:
    made = kernel(parse(text_of(program)), "k")
    memory = np.zeros(WORDS + 8, np.uint32)
    out = memory[4 * (start % 2) : WORDS + start]
    found: list[list[object]] = []
    made.launch(CTAS + 1, THREADS, [out], checks=CHECKS, threads=1)  # compiles what it needs on its way
    for in_rows in (True, False):
        memory[:] = 0
        with patch.object(racecheck, "IN_ROWS", new=in_rows):
            result = made.launch(CTAS, THREADS, [out], checks=CHECKS, threads=1)
        found.append([*result.hazards])
    assert found[0] == found[1]
