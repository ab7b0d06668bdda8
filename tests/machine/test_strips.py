"""Runs of instructions give the same strip by strip as a whole warp at a time."""

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
from ptxloom.machine import compiler, semantics, strips
from ptxloom.machine.program import plan

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
    """What a kernel writes with every run in strips; checked to be what it writes without any."""
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    found: list[np.ndarray] = []
    for shortest in (1, NEVER):
        monkeypatch.setattr(strips, "SHORTEST", shortest)
        target = out.copy()
        pl.kernel(pl.parse(text), name).launch(target.shape[-1] // 64, 64, [target, *inputs])
        found.append(target)
    assert np.array_equal(found[0], found[1])
    return found[0]


@pytest.mark.parametrize("seed", range(3))
def test_every_instruction_is_the_same_in_strips(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    recorded: list[Case] = [case for f, known in FAMILIES.items() for case in load(FOLDER / f"{f}.npz.xz", known)]
    cases = tuple(random.Random(seed).sample(recorded, 60))
    inputs = [pool(kind, at) for kind, at in pools(cases)]
    text = HEADER + kernel("cases", cases)
    results(monkeypatch, text, "cases", np.zeros((len(cases), INPUTS), np.uint64), *inputs)


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
        ir = compiler.translate(plan(module, "k", semantics.Table()), whole=True).ir
        pieces = [len(piece.splitlines()) for piece in ir.split("\nS")]
        assert max(pieces) < 1500  # what LLVM compiles as a whole does not grow with the kernel
        sizes.append(len(ir.splitlines()) // count)
    assert max(sizes) < 1.2 * min(sizes)
