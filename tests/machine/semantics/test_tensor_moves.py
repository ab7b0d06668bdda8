"""`tcgen05.ld`, `.st` and `.ld.red` of every shape: registers are where the maps and the manual's formulas say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.fragments import fragment

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SPLIT = 40
KERNEL = """
.version 9.0
.target sm_103a
.address_size 64
.visible .entry kernel(.param .u64 before, .param .u64 given, .param .u64 loaded, .param .u64 after)
{{
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .b32 %v<{registers}>; .reg .b32 %q<8>;
    .shared .align 16 .b8 slot[16];
    ld.param.u64 %rd1, [before]; ld.param.u64 %rd2, [given]; ld.param.u64 %rd3, [loaded]; ld.param.u64 %rd4, [after];
    mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; setp.ne.u32 %p1, %r2, 0; mov.u32 %r3, slot;
    @%p1 bra taken;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], 512;
taken:
    bar.sync 0;
    ld.shared.u32 %r4, [slot];
    shl.b32 %r5, %r2, 21; add.u32 %r5, %r5, %r4;
    mul.wide.u32 %rd5, %r1, 4; add.u64 %rd6, %rd1, %rd5; add.u64 %rd7, %rd4, %rd5;
    mul.wide.u32 %rd8, %r1, {lane_bytes}; add.u64 %rd9, %rd2, %rd8; add.u64 %rd10, %rd3, %rd8;
    mov.u32 %r6, 0; mov.u32 %r7, %r5;
put:
    ld.global.u32 %r8, [%rd6];
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r7], {{%r8}};
    add.u64 %rd6, %rd6, 512; add.u32 %r7, %r7, 1; add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 512;
    @%p2 bra put;
    tcgen05.wait::st.sync.aligned;
    {body}
    tcgen05.wait::ld.sync.aligned;
    tcgen05.wait::st.sync.aligned;
    mov.u32 %r6, 0; mov.u32 %r7, %r5;
get:
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r8}}, [%r7];
    tcgen05.wait::ld.sync.aligned;
    st.global.u32 [%rd7], %r8;
    add.u64 %rd7, %rd7, 512; add.u32 %r7, %r7, 1; add.u32 %r6, %r6, 1;
    setp.lt.u32 %p2, %r6, 512;
    @%p2 bra get;
    bar.sync 0;
    @%p1 bra done;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 512;
done:
    ret;
}}
"""


def run(body: str, registers: int, before: NDArray[np.uint32], given: NDArray[np.uint32]) -> tuple[Any, Any]:
    """What each thread stored of its registers, `[thread][register]`, and tensor memory behind, `[column][lane]`."""
    text = KERNEL.format(body=body, registers=max(registers, 1), lane_bytes=4 * given.shape[1])
    loaded, after = np.zeros_like(given), np.zeros_like(before)
    outcome = pl.kernel(pl.parse(text), "kernel").launch(1, 128, [before, given, loaded, after])
    assert not outcome.hazards
    return loaded, after


def vector(count: int) -> str:
    """A list of `count` registers."""
    return "{" + ", ".join(f"%v{n}" for n in range(count)) + "}"


SHAPES = [
    ("32x32b", 1), ("32x32b", 16), ("32x32b", 128), ("16x64b", 2), ("16x64b", 16), ("16x128b", 1), ("16x128b", 8),
    ("16x256b", 1), ("16x256b", 4), ("16x32bx2", 1), ("16x32bx2", 8),
]  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("upper", [0, 16])
@pytest.mark.parametrize(("shape", "num"), SHAPES)
def test_registers_are_the_places_that_the_map_says(shape: str, num: int, upper: int, packed: bool) -> None:
    if upper and shape == "32x32b":
        upper = 0  # its rows are all lanes of a quarter
    load, store = (f"tcgen05.{word}.sync.aligned.{shape}.x{num}{f'.{way}::16b' * packed}.b32" for word, way in
                   (("ld", "pack"), ("st", "unpack")))  # fmt: skip
    held = fragment(load)
    count, rng = held.registers, np.random.default_rng(num)
    split = f", {SPLIT}" * (shape == "16x32bx2")
    before, given = rng.integers(0, 1 << 32, (512, 128), np.uint32), rng.integers(0, 1 << 32, (128, count), np.uint32)
    body = f"add.u32 %r9, %r5, {upper << 16}; {load} {vector(count)}, [%r9]{split}; tcgen05.wait::ld.sync.aligned;"
    body += "".join(f"st.global.u32 [%rd10+{4 * n}], %v{n}; ld.global.u32 %v{n}, [%rd9+{4 * n}];" for n in range(count))
    body += f"add.u32 %r9, %r9, 256; {store} [%r9]{split}, {vector(count)};"
    loaded, after = run(body, count, before, given)
    wanted, stored = np.zeros_like(given), before.copy()
    for warp in range(4):
        for e in held.elements:
            column, lane = e.column + SPLIT * e.matrix, 32 * warp + upper + e.row
            wanted[32 * warp + e.lane, e.register] |= (
                before[column, lane] & np.uint32((1 << e.width) - 1)
            ) << np.uint32(e.bit)
            stored[256 + column, lane] = given[32 * warp + e.lane, e.register] >> np.uint32(e.bit) & np.uint32(
                (1 << e.width) - 1
            )
    assert (loaded == wanted).all()
    assert (after == stored).all()


def test_registers_are_the_places_of_the_manual_s_formulas() -> None:
    """The five shapes by arithmetic of their own: lane t, register r."""
    places: dict[str, Callable[[int, int], tuple[int, int]]] = {
        "32x32b": lambda t, r: (t, r),
        "16x64b": lambda t, r: (t // 4 + 8 * (t & 1), 2 * r + (t >> 1 & 1)),
        "16x128b": lambda t, r: (t // 4 + 8 * (r & 1), 4 * (r >> 1) + (t & 3)),
        "16x256b": lambda t, r: (t // 4 + 8 * (r >> 1 & 1), 8 * (r >> 2) + 2 * (t & 3) + (r & 1)),
        "16x32bx2": lambda t, r: (t % 16, r + t // 16 * SPLIT),
    }
    for shape, num in SHAPES:
        for e in fragment(f"tcgen05.ld.sync.aligned.{shape}.x{num}.b32").elements:
            assert places[shape](e.lane, e.register) == (e.row, e.column + SPLIT * e.matrix)


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.5, 3e-42, -3e-42]
REDUCTIONS = [
    "min.u32",
    "max.s32",
    "min.s32",
    "max.u32",
    "min.f32",
    "max.f32",
    "min.abs.f32",
    "max.NaN.f32",
    "min.abs.NaN.f32",
]


def least(values: NDArray[np.uint32], words: str) -> int:
    """The smallest or the largest, as the manual has `min` and `max`: -0 below +0, NaN last or first."""
    pick = min if words.startswith("min") else max
    if not words.endswith("f32"):
        return int(pick(values.view(np.int32) if words.endswith("s32") else values)) & 0xFFFFFFFF
    bits = [int(v) & 0x7FFFFFFF if "abs" in words else int(v) for v in values]
    numbers = [v for v in bits if v & 0x7FFFFFFF <= 0x7F800000]
    if not numbers or ("NaN" in words and len(numbers) < len(bits)):
        return 0x7FFFFFFF
    return pick(numbers, key=lambda v: -(v & 0x7FFFFFFF) - 1 if v >> 31 else v)


def test_loads_that_reduce_find_the_extreme_of_each_thread_s_registers() -> None:
    rng = np.random.default_rng(0)
    before = rng.choice(np.array(SPECIAL, np.float32).view(np.uint32), (512, 128))
    before[:, 64:] = rng.integers(0, 1 << 32, (512, 64), np.uint32)
    body = ""
    asked: list[tuple[str, str, int, int]] = []
    for words in REDUCTIONS:
        for shape, num in (("32x32b", 2), ("32x32b", 8), ("16x32bx2", 4)):
            split = f", {SPLIT}" * (shape == "16x32bx2")
            column = 3 * len(asked)
            body += f"add.u32 %r9, %r5, {column}; "
            body += f"tcgen05.ld.red.sync.aligned.{shape}.x{num}.{words} {vector(num)}, %q1, [%r9]{split};"
            body += f"st.global.u32 [%rd10+{4 * len(asked)}], %q1;"
            asked.append((words, shape, num, column))
    loaded, after = run(body, 8, before, np.zeros((128, len(asked)), np.uint32))
    assert (after == before).all()
    for number, (words, shape, num, column) in enumerate(asked):
        held = fragment(f"tcgen05.ld.sync.aligned.{shape}.x{num}.b32")
        for thread in range(128):
            mine = [e for e in held.elements if e.lane == thread % 32]
            places = [(column + e.column + SPLIT * e.matrix, thread // 32 * 32 + e.row) for e in mine]
            values = np.array([before[place] for place in places], np.uint32)
            assert loaded[thread, number] == least(values, words), (words, shape, num, thread)
