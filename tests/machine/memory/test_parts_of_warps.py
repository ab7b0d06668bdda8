"""Loads of some lanes of a warp: at one address, in a row, apart; what other lanes' registers name is of no account."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine.small_kernels import HEAD, of_any_target
from ptxloom.diagnostics import TOOLS
from ptxloom.machine import LaunchError

if TYPE_CHECKING:
    from ptxloom.machine import Kernel

LANES = 32
BYTES = 1024
TURNS = 40

EVERY = (1 << LANES) - 1
BEYOND = (1 << 62, 2**64 - 8, 3, BYTES)
TYPES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "v2.u32": 8, "v4.u32": 16, "v2.u64": 16}
FORMS = {"branch": "@!%on bra SKIP;\n{load}\nSKIP:", "guard": "@%on {load}"}


def kernel(kind: str, space: str, form: str) -> Kernel:
    """Stores what each lane has loaded, or what it had before."""
    scalar, parts = kind.rpartition(".")[2], int(kind[1]) if kind[0] == "v" else 1
    wide, size = "rd" if scalar == "u64" else "r", 8 if scalar == "u64" else 4
    values = [f"%{wide}{10 + n}" for n in range(parts)]
    listed = f"{{{', '.join(values)}}}" if parts > 1 else values[0]
    load = f"ld.{space}.{kind} {listed}, [%at];"
    bits = "b64" if size == 8 else "b32"
    before = "\n".join(f"mov.{bits} {one}, {77 + n};" for n, one in enumerate(values))
    stores = "\n".join(f"st.global.{bits} [%to+{size * n}], {one};" for n, one in enumerate(values))
    base = "add.u64 %at, %at, %data;" if space == "global" else "mov.u64 %base, area; add.u64 %at, %at, %base;"
    text = f"""{HEAD}.visible .entry k(.param .u64 out, .param .u64 table, .param .u64 data, .param .u32 mask) {{
.shared .align 16 .b8 area[{BYTES}];
.reg .b32 %r<16>; .reg .b64 %rd<16>, %at, %to, %data, %table, %base; .reg .pred %on, %more;
mov.u32 %r0, %tid.x; ld.param.u64 %to, [out]; ld.param.u64 %table, [table]; ld.param.u64 %data, [data];
ld.param.u32 %r1, [mask]; shr.u32 %r1, %r1, %r0; and.b32 %r1, %r1, 1; setp.ne.u32 %on, %r1, 0;
mul.lo.u32 %r2, %r0, 8;
FILL:
cvt.u64.u32 %rd0, %r2; add.u64 %rd1, %data, %rd0; ld.global.u64 %rd2, [%rd1];
mov.u64 %rd3, area; add.u64 %rd3, %rd3, %rd0; st.shared.u64 [%rd3], %rd2;
add.u32 %r2, %r2, 256; setp.lt.u32 %more, %r2, {BYTES}; @%more bra FILL;
bar.sync 0;
mad.wide.u32 %table, %r0, 8, %table; ld.global.u64 %at, [%table]; {base}
mad.wide.u32 %to, %r0, 16, %to;
{before}
{FORMS[form].format(load=load)}
{stores}
ret; }}"""
    return of_any_target(text, "k")


def drawn(draw: random.Random, size: int) -> tuple[int, list[int]]:
    """Which lanes load, and from where; the others' addresses are anything."""
    mask = draw.choice([draw.getrandbits(32), 1 << draw.randrange(32), EVERY, EVERY >> draw.randrange(32), 0])
    first = size * draw.randrange(BYTES // size - LANES + 1) if size * LANES <= BYTES else 0
    offsets = draw.choice([
        [first] * LANES,
        [first + size * lane for lane in range(LANES)],
        [size * draw.randrange(BYTES // size) for _ in range(LANES)],
        [draw.choice([first, first + size]) for _ in range(LANES)],
    ])  # fmt: skip
    return mask, [at if mask >> lane & 1 else draw.choice([at, *BEYOND]) for lane, at in enumerate(offsets)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("kind", TYPES)
def test_some_lanes_load_what_each_names_and_others_keep_what_they_had(kind: str, space: str, form: str) -> None:
    draw, made, size = random.Random(f"{kind} {space} {form}"), kernel(kind, space, form), TYPES[kind]
    data = np.frombuffer(draw.randbytes(BYTES), np.uint8).copy()
    parts = int(kind[1]) if kind[0] == "v" else 1
    element, width = size // parts, 8 if kind.endswith("u64") else 4
    for turn in range(TURNS):
        mask, offsets = drawn(draw, size)
        out = np.zeros((LANES, 16), np.uint8)
        table = np.array(offsets, np.uint64)
        # with every tool, nothing is loaded by a short cut
        made.launch(1, LANES, [out, table, data, mask], checks=TOOLS if turn % 10 == 0 else None)
        for lane, at in enumerate(offsets):
            for part in range(parts):
                got = int.from_bytes(out[lane, part * width : (part + 1) * width].tobytes(), "little")
                there = int.from_bytes(data[at + part * element :][:element].tobytes(), "little")
                wanted = there if mask >> lane & 1 else 77 + part
                assert got == wanted, (turn, hex(mask), lane, part)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("at", [BYTES, BYTES - 2, 2, 2**64 - 4])
def test_one_address_that_is_wrong_is_of_all_lanes_that_load(space: str, form: str, at: int) -> None:
    """And of no other."""
    made, mask = kernel("u32", space, form), 0x00F0F001
    out, table, data = np.zeros((LANES, 16), np.uint8), np.full(LANES, at, np.uint64), np.zeros(BYTES, np.uint8)
    with pytest.raises(LaunchError) as caught:
        made.launch(1, LANES, [out, table, data, mask])
    (hazard,) = caught.value.hazards
    assert [*hazard.lanes] == [lane for lane in range(LANES) if mask >> lane & 1]
    assert hazard.kind == ("out-of-bounds" if at % 4 == 0 else "misaligned")


@pytest.mark.parametrize("mask", [EVERY, 0x00F0F001])
@pytest.mark.parametrize("step", [0, 4])
def test_a_load_half_beyond_its_array_is_told_where_the_one_before_was_within(mask: int, step: int) -> None:
    text = f"""{HEAD}.visible .entry k(.param .u64 data, .param .u64 beyond, .param .u32 mask) {{
.reg .b32 %r<8>; .reg .b64 %at, %beyond, %rd; .reg .pred %on, %p;
mov.u32 %r0, %tid.x; ld.param.u64 %at, [data]; ld.param.u64 %beyond, [beyond]; ld.param.u32 %r1, [mask];
shr.u32 %r1, %r1, %r0; and.b32 %r1, %r1, 1; setp.ne.u32 %on, %r1, 0;
mul.lo.u32 %r2, %r0, {step}; cvt.u64.u32 %rd, %r2; add.u64 %at, %at, %rd; mov.u32 %r3, 0;
AGAIN:
@%on ld.global.u32 %r4, [%at];
add.u64 %at, %at, %beyond; add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, 2; @%p bra AGAIN;
ret; }}"""
    last = mask.bit_length() - 1
    data = np.zeros(BYTES + 2, np.uint8)
    with pytest.raises(LaunchError) as caught:
        of_any_target(text, "k").launch(1, LANES, [data, BYTES - step * last, mask])
    (hazard,) = caught.value.hazards
    assert hazard.kind == "out-of-bounds"
    assert [*hazard.lanes] == ([last] if step else [lane for lane in range(LANES) if mask >> lane & 1])
