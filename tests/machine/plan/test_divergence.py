"""Random control flow: the machine's warps against a plain interpreter that runs one lane at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ptxloom.machine import kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

REGISTERS = 4
FUEL = 25
MASK = 0xFFFFFFFF


@dataclass(frozen=True)
class Step:
    opcode: str
    target: int
    left: int
    right: int
    predicate: int  # -1 none, else the register whose low bit guards it

    def ptx(self, name: str) -> str:
        """Through a temporary of its own, so that many registers compete for places."""
        guard = (
            f"and.b32 %{name}a, %r{self.predicate}, 1; setp.ne.u32 %p1, %{name}a, 0; " if self.predicate >= 0 else ""
        )
        at = "@%p1 " if guard else ""
        temporary = (
            f".reg .b32 %{name}, %{name}a, %{name}b; {guard}{at}{self.opcode} %{name}, %r{self.left}, %r{self.right};"
        )
        return f"{temporary} {at}mov.b32 %{name}b, %{name}; {at}mov.b32 %r{self.target}, %{name}b;"

    def run(self, r: list[int]) -> None:
        if self.predicate >= 0 and not r[self.predicate] & 1:
            return
        x, y = r[self.left], r[self.right]
        r[self.target] = {
            "add.u32": x + y,
            "sub.u32": x - y,
            "xor.b32": x ^ y,
            "mul.lo.u32": x * y,
            "min.u32": min(x, y),
        }[self.opcode] & MASK


@dataclass(frozen=True)
class Chunk:
    steps: tuple[Step, ...]
    kind: str  # jump, branch, fall, table, exit
    targets: tuple[int, ...]
    register: int
    bit: int


@st.composite
def programs(draw: st.DrawFn) -> tuple[Chunk, ...]:
    count = draw(st.integers(2, 7))
    register = st.integers(0, REGISTERS - 1)
    step = st.builds(
        Step,
        st.sampled_from(["add.u32", "sub.u32", "xor.b32", "mul.lo.u32", "min.u32"]),
        register,
        register,
        register,
        st.integers(-1, REGISTERS - 1),
    )
    chunk = st.builds(
        Chunk,
        st.lists(step, max_size=3).map(tuple),
        st.sampled_from(["jump", "branch", "branch", "branch", "fall", "table", "exit"]),
        st.tuples(st.integers(0, count), st.integers(0, count), st.integers(0, count)),
        register,
        st.integers(0, 4),
    )
    return tuple(draw(st.lists(chunk, min_size=count, max_size=count)))


def ptx(chunks: tuple[Chunk, ...]) -> str:
    lines = [
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{",
        ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b32 %t<8>; .reg .b32 %fuel; .reg .b64 %rd<4>;",
        f"mov.u32 %fuel, {FUEL}; mov.u32 %t7, %tid.x; mov.u32 %r0, %t7; mul.lo.u32 %r1, %t7, 40503;",
        "shr.u32 %r2, %r1, 3; xor.b32 %r3, %r2, 0x5a5a;",
    ]
    for number, chunk in enumerate(chunks):
        lines.append(f"L{number}: sub.u32 %fuel, %fuel, 1; setp.eq.u32 %p0, %fuel, 0; @%p0 bra L{len(chunks)};")
        lines += [step.ptx(f"t{number}_{n}") for n, step in enumerate(chunk.steps)]
        bit = f"shr.u32 %t1, %r{chunk.register}, {chunk.bit}; and.b32 %t1, %t1, 1; setp.ne.u32 %p2, %t1, 0;"
        match chunk.kind:
            case "jump":
                lines.append(f"bra L{chunk.targets[0]};")
            case "branch":
                lines.append(f"{bit} @%p2 bra L{chunk.targets[0]};")
            case "table":
                names = ", ".join(f"L{t}" for t in chunk.targets)
                lines.append(f"T{number}: .branchtargets {names};")
                lines.append(f"shr.u32 %t2, %r{chunk.register}, {chunk.bit}; and.b32 %t2, %t2, 1;")
                lines.append(f"brx.idx %t2, T{number};")
            case "exit":
                lines.append(f"{bit} @%p2 exit;")
            case _:
                pass
    lines.append(f"L{len(chunks)}: ld.param.u64 %rd0, [out]; mul.wide.u32 %rd1, %t7, 16; add.u64 %rd1, %rd0, %rd1;")
    lines.append("st.global.v4.u32 [%rd1], {%r0, %r1, %r2, %r3};\nret;\n}")
    return "\n".join(lines)


def interpret(chunks: tuple[Chunk, ...], lane: int) -> list[int] | None:
    """One lane by itself: its registers at the end, or None if it exited early."""
    start = lane * 40503 & MASK
    r = [lane, start, start >> 3, start >> 3 ^ 0x5A5A]
    fuel, at = FUEL, 0
    while at < len(chunks):
        chunk = chunks[at]
        fuel -= 1
        if fuel == 0:
            return r
        for step in chunk.steps:
            step.run(r)
        chosen = r[chunk.register] >> chunk.bit
        at += 1
        match chunk.kind:
            case "jump":
                at = chunk.targets[0]
            case "branch" if chosen & 1:
                at = chunk.targets[0]
            case "table":
                at = chunk.targets[chosen & 1]
            case "exit" if chosen & 1:
                return None
            case _:
                pass
    return r


def run(chunks: tuple[Chunk, ...], threads: int) -> NDArray[np.uint32]:
    out = np.full((threads, 4), 0xDEAD, np.uint32)
    kernel(parse(ptx(chunks)), "k").launch(1, threads, [out], threads=1, timeout=300)
    return out


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_every_lane_ends_as_if_it_ran_alone(chunks: tuple[Chunk, ...]) -> None:
    out = run(chunks, 40)
    for lane in range(40):
        expected = interpret(chunks, lane)
        assert out[lane].tolist() == (expected or [0xDEAD] * 4)
