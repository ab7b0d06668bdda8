"""Runs of instructions give the same strip by strip, outlined, and as a whole warp at a time."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import families
from machine.opcode_inputs import INPUTS, pool
from machine.opcode_kernels import HEADER, kernel, pools
from machine.opcode_recording import FOLDER, load
from machine.small_kernels import entry
from ptxloom.machine import semantics
from ptxloom.machine.codegen import lengths, strips
from ptxloom.machine.codegen.strip import strip_lanes
from ptxloom.machine.compile import variant
from ptxloom.machine.plan.planner import plan

if TYPE_CHECKING:
    from machine.opcode_cases import Case

NEVER = 1 << 30
FAMILIES = {name: cases for name, cases in families() if name not in {"approximate", "warp", "atomic"}}
REGISTERS = ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %rd<20>; .reg .f64 %d<9>;"
STEPS = (
    "add.s32 %r{a}, %r{b}, %r{c};",
    "@%p{p} mad.lo.s32 %r{a}, %r{b}, %r{c}, %r{a};",
    "@!%p{p} xor.b32 %r{a}, %r{b}, 0x5bd1e995;",
    "@%p{p} mul.wide.u32 %rd{d}, %r{b}, %r{c};",
    "shr.u64 %rd{d}, %rd{e}, %r{b};",
    "cvt.u32.u64 %r{a}, %rd{d};",
    "setp.lt.s32 %p{p}, %r{a}, %r{b};",
    "setp.gt.and.u32 %p{p}|%p{q}, %r{a}, %r{b}, !%p{q};",
    "@%p{q} setp.ne.or.b32 %p{p}, %r{a}, %r{b}, %p{p};",
    "not.pred %p{p}, %p{q};",
    "@%p{p} xor.pred %p{q}, %p{p}, %p{q};",
    "selp.b32 %r{a}, %r{b}, %r{c}, %p{p};",
    "cvt.rn.f32.s32 %f{a}, %r{b};",
    "@%p{p} fma.rn.f32 %f{a}, %f{b}, %f{c}, %f{a};",
    "fma.rm.f32 %f{a}, %f{b}, %f{c}, %f{a};",
    "cvt.rzi.s32.f32 %r{a}, %f{b};",
    "cvt.u16.u32 %h{h}, %r{a};",
    "@!%p{p} cvt.s32.s16 %r{a}, %h{h};",
    "mov.b64 %rd{d}, {{%r{a}, %r{b}}};",
    "@%p{p} mov.b64 {{%r{a}, %r{b}}}, %rd{e};",
    "cvt.f64.f32 %d{h}, %f{a};",
    "@%p{q} add.f64 %d{h}, %d{h}, 0d3FF8000000000000;",
    "cvt.rn.f32.f64 %f{a}, %d{h};",
    "fma.rn.f16x2 %r{a}, %r{b}, %r{c}, %r{a};",
    "setp.lt.f16x2 %p{p}|%p{q}, %r{a}, %r{b};",
)


def results(monkeypatch: pytest.MonkeyPatch, text: str, name: str, out: np.ndarray, *inputs: object) -> np.ndarray:
    """What a kernel writes with every run in strips; checked to be what it writes without any, and outlined."""
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    found: list[np.ndarray] = []
    for shortest, long in ((1, NEVER), (NEVER, NEVER), (1, 0)):
        monkeypatch.setattr(strips, "SHORTEST", shortest)
        monkeypatch.setattr(lengths, "LONG", long)
        target = out.copy()
        pl.kernel(pl.parse(text), name).launch(target.shape[-1] // 64, 64, [target, *inputs])
        found.append(target)
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
    return found[0]


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("seed", range(3))
def test_every_instruction_is_the_same_in_strips(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    recorded: list[Case] = [case for f, known in FAMILIES.items() for case in load(FOLDER / f"{f}.npz.xz", known)]
    cases = tuple(random.Random(seed).sample(recorded, 60))
    inputs = [pool(kind, at) for kind, at in pools(cases)]
    text = HEADER + kernel("cases", cases)
    results(monkeypatch, text, "cases", np.zeros((len(cases), INPUTS), np.uint64), *inputs)


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(4))
def test_long_runs_under_predicates_and_divergence(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng = random.Random(seed)
    lines = [chosen(rng) for _ in range(120)]
    lines.insert(60, "and.b32 %r39, %r38, 3; setp.eq.u32 %p8, %r39, 1; @%p8 bra ODD;")
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
{REGISTERS}
mov.u32 %r35, 0; mov.u32 %r38, %tid.x; mov.u32 %r37, %ctaid.x; mad.lo.u32 %r37, %r37, 64, %r38;
ld.param.u64 %rd19, [out];
{" ".join(f"mad.lo.u32 %r{n}, %r37, {2 * n + 1}, {n * n}; cvt.rn.f32.u32 %f{n}, %r{n};" for n in range(10))}
{" ".join(f"mul.wide.u32 %rd{n}, %r{n}, %r{n + 1}; cvt.f64.f32 %d{n}, %f{n};" for n in range(8))}
{" ".join(f"cvt.u16.u32 %h{n}, %r{n}; setp.lt.u32 %p{n}, %r{n}, 300;" for n in range(8))}
{chr(10).join(lines)}
ODD:
{" ".join(chosen(rng) for _ in range(30))}
{" ".join(f"cvt.rzi.u32.f32 %r{20 + n}, %f{n};" for n in range(10))}
{" ".join(f"cvt.u32.u64 %r{30 + n}, %rd{n};" for n in range(5))}
{" ".join(f"selp.b32 %r36, {1 << n}, 0, %p{n}; add.u32 %r35, %r35, %r36;" for n in range(8))}
mul.wide.u32 %rd18, %r37, 4; add.u64 %rd19, %rd19, %rd18;
{" ".join(f"st.global.u32 [%rd19+{4096 * at}], %r{n};" for at, n in enumerate((*range(10), *range(20, 36))))}
}}"""
    out = results(monkeypatch, text, "k", np.zeros((26, 1024), np.uint32))
    assert len(np.unique(out[0])) > 100  # the kernel computes something


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(4))
def test_values_written_once_are_there_as_long_as_they_are_needed(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """As compilers write code: many registers, each written once, some read at once, some much later."""
    rng = random.Random(seed)
    first, last = 40, 240
    lines: list[str] = []
    for n in range(first, last):
        near, far = rng.randrange(max(n - 4, first - 10), n), rng.randrange(first - 10, n)
        lines.append(f"mad.lo.u32 %r{n}, %r{near}, {rng.randrange(99)}, %r{far};")
        if rng.random() < 0.2:
            lines.append(f"setp.lt.u32 %p{n}, %r{near}, %r{far}; @%p{n} xor.b32 %r{n}, %r{near}, 77;")
        if rng.random() < 0.1:
            lines.append(f"st.global.u32 [%rd1+{4096 * rng.randrange(8)}], %r{far};")
        if rng.random() < 0.05:
            jump = f"setp.gt.u32 %p{n + last}, %r{near}, %r{far}; @%p{n + last} bra L{n};"
            lines.append(f"{jump} add.u32 %r{far}, %r{far}, 3; L{n}:")
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{{
.reg .pred %p<{2 * last}>; .reg .b32 %r<{last}>; .reg .b64 %rd<4>;
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
ld.param.u64 %rd2, [out]; mul.wide.u32 %rd3, %r4, 4; add.u64 %rd1, %rd2, %rd3;
{" ".join(f"mad.lo.u32 %r{n}, %r4, {n}, {n * n};" for n in range(first - 10, first))}
{chr(10).join(lines)}
st.global.u32 [%rd1+{4096 * 8}], %r{last - 1};
}}"""
    out = results(monkeypatch, text, "k", np.zeros((9, 1024), np.uint32))
    assert len(np.unique(out[8])) > 100


def test_a_value_needed_only_within_a_run_is_not_stored() -> None:
    body = (
        "mov.u32 %r1, %tid.x; add.u32 %r2, %r1, 1; add.u32 %r3, %r2, %r2; add.u32 %r4, %r3, %r1; add.u32 %r5, %r4, 1;"
    )
    module = pl.parse(
        f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n{body} "
        "bar.sync 0; st.shared.u32 [%r5], %r4;\n}}"
    )
    ir = variant.translate(plan(module, "k", semantics.BlockCuts()), whole=True).ir
    assert ir.count(f"store <{strip_lanes()} x i32>") == 2  # r4 and r5, in the loop over the strips


def test_a_byte_is_written_in_a_part_of_the_lanes_where_a_wider_register_lay() -> None:
    out = np.zeros(40, np.uint32)
    body = """.reg .b8 %b<4>; setp.ge.u32 %p1, %r0, 35; @%p1 ret; cvt.u16.u32 %h1, %r0; add.u16 %h2, %h1, 3;
    cvt.u32.u16 %r3, %h2; cvt.u8.u32 %b1, %r3; cvt.u32.u8 %r4, %b1; add.u32 %r4, %r4, 1; st.global.u32 [%rd0], %r4;"""
    entry(body).launch(1, 40, [out])
    assert out.tolist() == [*range(4, 39), 0, 0, 0, 0, 0]


def chosen(rng: random.Random) -> str:
    return rng.choice(STEPS).format(
        a=rng.randrange(10), b=rng.randrange(10), c=rng.randrange(10), d=rng.randrange(8), e=rng.randrange(8),
        h=rng.randrange(8), p=rng.randrange(8), q=rng.randrange(8),
    )  # fmt: skip


def test_code_grows_with_the_number_of_instructions_and_its_pieces_stay_short() -> None:
    rng = random.Random(0)
    sizes: list[int] = []
    for count in (200, 800, 3200):
        body = "\n".join(chosen(rng) for _ in range(count))
        module = pl.parse(
            f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n{body}\n}}"
        )
        ir = variant.translate(plan(module, "k", semantics.BlockCuts()), whole=True).ir
        pieces = [len(piece.splitlines()) for piece in ir.split("\nS")]
        assert max(pieces) < 1500  # what LLVM compiles as a whole does not grow with the kernel
        sizes.append(len(ir.splitlines()) // count)
    assert max(sizes) < 1.2 * min(sizes)
