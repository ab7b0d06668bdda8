"""`ldmatrix`, `stmatrix` and `movmatrix` in a kernel do what they do on arrays, and say what is wrong with a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from machine.small_kernels import REGISTERS, entry, of_any_target
from ptxloom.fragments.execute import ldmatrix, movmatrix, stmatrix
from ptxloom.isa.matrix import MatrixMove, matrix_move, spellings
from ptxloom.machine import Kernel, LaunchError

BYTES = 4096
TRIED = [m for m in spellings() if m.space == "shared" or m.short.startswith("m8n8.x4")]
LOADS = [m for m in TRIED if m.opcode == "ldmatrix"]
STORES = [m for m in TRIED if m.opcode == "stmatrix"]
X4 = matrix_move("ldmatrix.sync.aligned.m8n8.x4.shared.b16")
GENERIC = matrix_move("ldmatrix.sync.aligned.m8n8.x4.b16")


def loop(name: str, body: str) -> str:
    """All of shared memory, 4 bytes a lane at a time: `%r3` there, `%rd6` in the second argument."""
    return f"""
    mov.u32 %r5, 0; add.u32 %r3, %r1, %r2; mad.wide.u32 %rd6, %r0, 4, %rd2;
    {name}: {body}
    add.u64 %rd6, %rd6, 128; add.u32 %r3, %r3, 128; add.u32 %r5, %r5, 1;
    setp.lt.u32 %p1, %r5, {BYTES // 128}; @%p1 bra {name};
    bar.warp.sync -1;
    """


def moving(move: MatrixMove, guard: str = "", target: str = "sm_90") -> Kernel:
    """A kernel (out: registers, memory, rows) that copies memory to shared memory, moves, and copies it back."""
    names = [f"%r{10 + n}" for n in range(move.registers)]
    address = f"[{'%r8' if move.space else '%rd8'}+16]"
    registers = f"{{{', '.join(names)}}}"
    load = move.opcode == "ldmatrix"
    operands = f"{registers}, {address}" if load else f"{address}, {registers}"
    places = [f"[%rd0+{128 * n}]" for n in range(move.registers)]
    take = " ".join(f"ld.global.u32 {name}, {place};" for name, place in zip(names, places, strict=True))
    give = " ".join(f"st.global.u32 {place}, {name};" for name, place in zip(names, places, strict=True))
    return of_any_target(
        f"""
.version 8.6
.target {target}
.address_size 64
.shared .align 128 .b8 area[{BYTES}];
.visible .entry k(.param .u64 out, .param .u64 memory, .param .u64 rows)
{{
    {REGISTERS}
    mov.u32 %r0, %tid.x; mov.u32 %r1, area; shl.b32 %r2, %r0, 2;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [memory]; ld.param.u64 %rd3, [rows];
    mad.wide.u32 %rd0, %r0, 4, %rd1; mad.wide.u32 %rd4, %r0, 4, %rd3;
    {loop("fill", "ld.global.u32 %r6, [%rd6]; st.shared.u32 [%r3], %r6;")}
    ld.global.u32 %r8, [%rd4]; add.u32 %r8, %r8, %r1; sub.u32 %r8, %r8, 16;
    cvt.u64.u32 %rd8, %r8; cvta.shared.u64 %rd8, %rd8;
    {take}
    setp.lt.u32 %p2, %r0, 16;
    {guard} {move.spelling} {operands};
    {give if load else loop("drain", "ld.shared.u32 %r6, [%r3]; st.global.u32 [%rd6], %r6;")}
    ret;
}}
""",
        "k",
    )


def random_rows(rng: np.random.Generator, used: int = 32) -> Any:
    """Rows that do not overlap; nonsense in the lanes from `used` on."""
    places = rng.permutation(BYTES // 16)[:32] * 16
    places[used:] = rng.integers(0, 1 << 31, 32 - used)
    return places.astype(np.uint32)


def random_memory(rng: np.random.Generator) -> Any:
    return rng.integers(0, 256, BYTES).astype(np.uint8)


@pytest.mark.parametrize("move", LOADS, ids=str)
def test_ldmatrix_equals_the_one_on_arrays(move: MatrixMove) -> None:
    rng = np.random.default_rng(7)
    memory, rows = random_memory(rng), random_rows(rng, move.address_lanes)
    out = np.zeros((move.registers, 32), np.uint32)
    moving(move).launch(1, 32, [out, memory, rows])
    assert np.array_equal(out.T, ldmatrix(move, memory, rows))


@pytest.mark.parametrize("move", STORES, ids=str)
def test_stmatrix_equals_the_one_on_arrays(move: MatrixMove) -> None:
    rng = np.random.default_rng(8)
    memory, rows = random_memory(rng), random_rows(rng, move.address_lanes)
    values = rng.integers(0, 1 << 32, (move.registers, 32)).astype(np.uint32)
    wanted = memory.copy()
    stmatrix(move, wanted, rows, np.ascontiguousarray(values.T))
    moving(move).launch(1, 32, [values, memory, rows])
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize("move", [X4, GENERIC], ids=str)
def test_lanes_present_get_their_share(move: MatrixMove) -> None:
    rng = np.random.default_rng(9)
    memory, rows = random_memory(rng), random_rows(rng)
    out = np.full((4, 32), 5, np.uint32)
    moving(move, "@%p2").launch(1, 32, [out, memory, rows])
    whole = ldmatrix(move, memory, rows).T
    assert np.array_equal(out[:, :16], whole[:, :16])
    assert (out[:, 16:] == 5).all()


def test_rows_of_absent_lanes_are_not_stored() -> None:
    rng = np.random.default_rng(10)
    memory, rows = random_memory(rng), random_rows(rng)
    values = rng.integers(0, 1 << 32, (4, 32)).astype(np.uint32)
    wanted = memory.copy()
    stmatrix("m8n8.x2.b16", wanted, rows, np.ascontiguousarray(values[:2].T))
    moving(matrix_move("stmatrix.sync.aligned.m8n8.x4.shared.b16"), "@%p2").launch(1, 32, [values, memory, rows])
    assert np.array_equal(memory, wanted)


@pytest.mark.parametrize("move", [X4, GENERIC], ids=str)
@pytest.mark.parametrize(("row", "kind"), [(24, "misaligned"), (BYTES, "out-of-bounds"), (BYTES - 8, "misaligned")])
def test_a_wrong_row_is_named(move: MatrixMove, row: int, kind: str) -> None:
    rng = np.random.default_rng(11)
    memory, rows = random_memory(rng), random_rows(rng)
    rows[21] = row
    with pytest.raises(LaunchError) as caught:
        moving(move).launch(1, 32, [np.zeros((4, 32), np.uint32), memory, rows])
    (hazard,) = caught.value.hazards
    assert (hazard.kind, hazard.lanes) == (kind, (21,))
    assert hazard.element == "row 5 of matrix 2, held by lanes 20-23 in register 2"
    # A lane that is not there is not judged.
    moving(move, "@%p2").launch(1, 32, [np.zeros((4, 32), np.uint32), memory, rows])


def test_generic_addresses_must_be_shared() -> None:
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n"
        "{ .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n"
        "ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%rd1]; ret; }"
    )
    with pytest.raises(LaunchError) as caught:
        pl.kernel(pl.parse(text), "k").launch(1, 32, [np.zeros(64, np.uint32)])
    assert caught.value.hazards[0].kind == "wrong-space"


def test_turing_needs_an_address_from_every_lane() -> None:
    rng = np.random.default_rng(12)
    memory, rows = random_memory(rng), random_rows(rng, 8)
    out = np.zeros((1, 32), np.uint32)
    one = matrix_move("ldmatrix.sync.aligned.m8n8.x1.shared.b16")
    moving(one, target="sm_80").launch(1, 32, [out, memory, rows])
    with pytest.raises(LaunchError):
        moving(one, target="sm_75").launch(1, 32, [out, memory, rows])


def test_movmatrix_equals_the_one_on_arrays() -> None:
    values = np.random.default_rng(13).integers(0, 1 << 32, 64).astype(np.uint32)
    wanted = movmatrix(values[:32, None])
    body = "ld.global.u32 %r1, [%rd0]; movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.u32 [%rd0], %r2;"
    entry(body).launch(1, 32, [values])
    assert np.array_equal(values[:32], wanted[:, 0])
