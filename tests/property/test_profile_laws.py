"""What the machine counts while it runs is what `banks` says of the same addresses, whatever they are."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

from ptxloom.banks import access, bank_conflicts
from ptxloom.machine import Kernel, kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine.results.profile import Profile

WIDTHS: Final = ("b8", "b16", "b32", "b64", "v2.b32", "v4.b32", "b128")
PLAIN: Final = tuple(f"{opcode}.shared.{width}" for opcode, width in product(("ld", "st"), WIDTHS))
MOVES: Final = tuple(
    f"{opcode}.sync.aligned.m8n8.x{count}{trans}.shared.b16"
    for opcode, count, trans in product(("ldmatrix", "stmatrix"), (1, 2, 4), ("", ".trans"))
)
ATOMICS: Final = (
    "atom.shared.add.u32", "red.shared.or.b32", "atom.shared.cas.b32", "atom.shared.exch.b64", "atom.shared.cas.b64",
    "red.shared.add.f32", "red.shared.add.noftz.f16x2",
)  # fmt: skip
ROOM: Final = 8192
HEAD: Final = """
.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pm) {{
.shared .align 128 .b8 memory[{room}];
.reg .pred %k; .reg .b32 %t, %c, %w, %a, %m, %s, %v<4>; .reg .b64 %p, %x, %y; .reg .b128 %z;
mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %w, %c, 32, %t;
ld.param.u64 %p, [pa]; mul.wide.u32 %x, %w, 4; add.u64 %p, %p, %x; ld.global.b32 %a, [%p];
ld.param.u64 %p, [pm]; mul.wide.u32 %x, %c, 4; add.u64 %p, %p, %x; ld.global.b32 %m, [%p];
shr.u32 %m, %m, %t; and.b32 %m, %m, 1; setp.ne.u32 %k, %m, 0;
mov.u32 %s, memory; add.u32 %a, %a, %s;
"""


@cache
def compiled(instruction: str) -> Kernel:
    """A kernel whose block is a warp that runs one access, at addresses and in lanes that its arguments say."""
    opcode = instruction.partition(".")[0]
    registers = 1
    if "matrix" in opcode:
        registers = int(instruction.partition(".x")[2][0])
    elif ".v" in instruction:
        registers = int(instruction.partition(".v")[2][0])
    value = "{" + ", ".join(f"%v{n}" for n in range(registers)) + "}"
    if registers == 1 and "matrix" not in opcode:
        value = {"b64": "%x", "b128": "%z"}.get(instruction.rpartition(".")[2], "%v0")
    operands = f"{value}, [%a]" if opcode in {"ld", "ldmatrix", "atom"} else f"[%a], {value}"
    if opcode == "atom":
        operands += ", %y" * (1 + (".cas" in instruction)) if value == "%x" else ", %v1" * (1 + (".cas" in instruction))
    guard = "" if "matrix" in opcode else "@%k "
    text = f"{HEAD.format(room=ROOM)}{guard}{instruction} {operands};\nret;\n}}"
    return kernel(parse(text, instruction), "k")


def profiled(instruction: str, addresses: NDArray[np.uint32], masks: NDArray[np.uint32]) -> Profile:
    result = compiled(instruction).launch(len(masks), 32, [addresses, masks], profile=True)
    assert result.profile is not None
    return result.profile


def cases(instruction: str, seed: int, number: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Random addresses of several kinds: anywhere, crowded, in steps, with partners alike, moved by constants."""
    rng = np.random.default_rng(seed)
    size = access(instruction.replace("b128", "v4.b32")).lane_bytes
    shape = (number, 32)
    lanes = np.arange(32)
    units = rng.integers(0, ROOM // size, shape)
    kinds = [
        units,
        units % rng.integers(1, 64, (number, 1)),
        lanes * rng.integers(0, 40, (number, 1)) % (ROOM // size),
        units[:, lanes & ~1],
        units[:, lanes & ~2],
        units[:1] // 2 + rng.integers(0, ROOM // size // 2, (number, 1)),
    ]
    chosen = rng.integers(0, len(kinds), number)
    picked = np.choose(chosen[:, None], kinds)
    masks = rng.integers(0, 1 << 32, number, dtype=np.uint32) | rng.choice([0, 0xFFFFFFFF], number).astype(np.uint32)
    masks[rng.random(number) < 0.1] &= np.uint32(0x00010101)
    if "matrix" in instruction:
        masks[:] = 0xFFFFFFFF
    return (picked * size).astype(np.uint32), masks


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("instruction", [*PLAIN, *MOVES, *ATOMICS])
@pytest.mark.parametrize("seed", range(3))
def test_wavefronts_are_those_of_banks(instruction: str, seed: int) -> None:
    addresses, masks = cases(instruction, seed, 60)
    spelled = instruction.replace("b128", "v4.b32")
    reports = [bank_conflicts(spelled, a, int(m)) for a, m in zip(addresses, masks, strict=True)]
    profile = profiled(instruction, addresses, masks)
    (row,) = (
        row
        for row in profile.rows
        if row.instruction.partition(" ")[2].startswith(instruction) or row.instruction.startswith(instruction)
    )
    assert row.counts.executions == 60
    assert row.counts.lanes == sum(int(m).bit_count() for m in masks)
    assert row.counts.wavefronts == sum(r.wavefronts for r in reports)
    assert row.counts.ideal_wavefronts == sum(r.ideal for r in reports)
    assert row.counts.conflicts == sum(r.conflicts for r in reports)
    assert row.counts.sectors == 0
