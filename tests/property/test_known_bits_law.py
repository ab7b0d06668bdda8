"""What is known of results against the machine: never unsound, and never coarser than the rules by hand before.

A warp is a case: of each operand some bits are known, some are the same in all lanes, the rest differs. The machine
runs each instruction on lanes that are so; every bit that a result is said to have is there, and no other bit differs.
"""

from __future__ import annotations

import sys
import zlib
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import families
from machine.opcode_inputs import INPUTS, pool, width_of
from machine.opcode_kernels import HEADER, kernel, pool_kind, pools
from machine.opcode_recording import FOLDER, load
from property import hand_rules
from ptxloom.binding.effects import destinations
from ptxloom.isa.limits import LANES
from ptxloom.readings.bits import FULL, Bits, Level, fixed, made, mask, opaque, various
from ptxloom.readings.known_results import Query, result
from ptxloom.syntax import parse
from ptxloom.syntax.constants import constant
from ptxloom.syntax.tree import Component, Instruction, Name, Operand, Unary
from sweeps import part_and_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from machine.opcode_cases import Case

FAMILIES = ("integer", "logic", "compare", "single", "half", "convert", "video", "video_simd")
CASES = dict(families())
BATCH = 24  # cases a kernel
WARPS = INPUTS // LANES
PRODUCTS = frozenset(("mul24", "mad24", "dp2a", "vmad"))
"""Their rows say what the rules by hand said of `mul` and `mad` alone: a product by a number so long that it stands in
for a division tells nothing of whether lanes differ."""
PART = 16  # of this many cases one is run each time


class Drawn(NamedTuple):
    """A pool of inputs, and for each warp what is known of its lanes."""

    values: np.ndarray
    known: tuple[Bits, ...]


@cache
def drawn(kind: str, position: int) -> Drawn:
    """Inputs of which each warp's lanes share what is known: from the recordings' own pool, half of it blurred."""
    rng = np.random.default_rng(zlib.crc32(f"known/{kind}/{position}".encode()))
    bits = width_of(kind)
    values = pool(kind, position).reshape(WARPS, LANES).copy()
    known: list[Bits] = []
    for warp, lanes in enumerate(values):
        base = int(rng.choice(lanes))
        varies = _pattern(rng, bits)
        told = _pattern(rng, bits) & ~varies
        values[warp] = np.uint64(base & ~varies) | lanes & np.uint64(varies)
        level = Level.DIVERGENT if warp % 3 else Level.UNKNOWN
        known.append(made(told & ~base | FULL & ~mask(bits), told & base, varies, level))
    return Drawn(values.reshape(-1), tuple(known))


def _pattern(rng: np.random.Generator, bits: int) -> int:
    """Bits that lie together as often as not, in one case of three all or none."""
    kind = int(rng.integers(0, 6))
    whole = int(rng.integers(0, 1 << 63)) * 2 + int(rng.integers(0, 2))
    if kind < 2:
        return mask(bits) * kind
    low, high = sorted(int(one) for one in rng.integers(0, bits + 1, 2))
    return mask(bits) & (whole if kind == 2 else mask(high) & ~mask(low) if kind < 5 else mask(low))


def run(cases: tuple[Case, ...]) -> np.ndarray:
    """Results by case, warp and lane."""
    out = np.zeros((len(cases), INPUTS), np.uint64)
    inputs = [drawn(kind, at).values for kind, at in pools(cases)]
    module = pl.parse(HEADER + kernel("cases", cases))
    pl.kernel(module, "cases").launch(grid=INPUTS // 256, block=256, args=[out, *inputs])
    return out.reshape(len(cases), WARPS, LANES)


def instruction_of(case: Case) -> Instruction:
    (found,) = parse(case.text.format(d="d", a="a", b="b", c="c")).statements
    assert isinstance(found, Instruction)
    return found


def given(case: Case, warp: int) -> dict[str, Bits]:
    """What is known of a case's operands."""
    sources = enumerate(zip("abc", case.sources, strict=False))
    return {letter: drawn(pool_kind(kind), at).known[warp] for at, (letter, kind) in sources}


def no_symbol(name: str) -> bool:
    """Every name is a register here."""
    return not name


def said(instruction: Instruction, known: dict[str, Bits]) -> tuple[Bits, Bits]:
    """What is known of a result by its row, and by hand."""

    def read(operand: Operand, width: int) -> Bits:
        match operand:
            case Name(text):
                return known[text]
            case Unary("!", Name(text)):
                one = known[text]
                return made(one.ones & 1 | FULL & ~1, one.zeros & 1, one.varies & 1, one.level)
            case Unary(_, Name(text)):
                return opaque(64, known[text])
            case Component():
                return various(64, Level.UNKNOWN)  # as flow says
            case _:
                number = constant(operand)
                assert number is not None
                return fixed(number, width)

    place = [one.text for one in _names(instruction)].index("d")
    by_row = result(Query(instruction, place, read, frozenset(), no_symbol))
    by_hand = hand_rules.result(hand_rules.KnownOp(instruction, place, read, frozenset(), no_symbol))
    return by_row, by_hand


def _names(instruction: Instruction) -> Iterator[Name]:
    return (one.name for one in destinations(instruction))


def unsound(found: Bits, lanes: np.ndarray, width: int) -> bool:
    """Whether lanes have a bit that they should not have, or differ where they should not."""
    inside = mask(width)
    both = int(np.bitwise_or.reduce(lanes)), int(np.bitwise_and.reduce(lanes))
    return bool((both[0] & found.zeros | ~both[1] & found.ones | (both[0] ^ both[1]) & ~found.varies) & inside)


def coarser(found: Bits, other: Bits, width: int, opcode: str) -> bool:
    """Whether less is known than otherwise."""
    inside = mask(width)
    less = (other.zeros & ~found.zeros | other.ones & ~found.ones | found.varies & ~other.varies) & inside
    differs = bool(found.varies & inside) and found.level > other.level
    return bool(less) or (differs and opcode not in PRODUCTS)


@pytest.mark.parametrize("every", part_and_whole(PART, 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_known_bits_hold_on_the_machine(family: str, every: int) -> None:
    wrong: list[str] = []
    asked = finer = hand_unsound = 0
    legal = tuple(load(FOLDER / f"{family}.npz.xz", CASES[family]))  # as ptxas took them
    chosen = tuple(case for case in legal if "{{" not in case.text)[::every]
    for cases in (chosen[at : at + BATCH] for at in range(0, len(chosen), BATCH)):
        for case, warps in zip(cases, run(cases), strict=True):
            width, instruction = width_of(case.destination), instruction_of(case)
            for warp, lanes in enumerate(warps):
                found, by_hand = said(instruction, given(case, warp))
                asked += 1
                finer += coarser(by_hand, found, width, instruction.opcode)
                if unsound(found, lanes, width):
                    wrong.append(f"unsound: {case} warp {warp}: {found} of {[hex(int(one)) for one in lanes[:3]]}")
                elif unsound(by_hand, lanes, width):
                    hand_unsound += 1
                elif coarser(found, by_hand, width, instruction.opcode):
                    wrong.append(f"coarser: {case} warp {warp}: {found}, by hand {by_hand}")
    sys.stderr.write(f"{family}: {asked} asked, {finer} finer, {hand_unsound} of the rules by hand unsound\n")
    assert not wrong, f"{len(wrong)} of {asked}:\n" + "\n".join(wrong[:20])
