"""The rows read with plain numbers give what compiled code gives: a million cases over all forms that can be read."""

from __future__ import annotations

import sys
import zlib
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import families
from machine.opcode_inputs import INPUTS, pool, width_of
from machine.opcode_kernels import HEADER, kernel, pool_kind, pools
from machine.opcode_recording import FOLDER, load
from property.test_known_bits_law import instruction_of
from ptxloom.isa.limits import LANES
from ptxloom.meaning import table
from ptxloom.meaning.form import Form, Unreadable
from ptxloom.readings.interpreter import Cell, Interpreter
from sweeps import part_and_whole

if TYPE_CHECKING:
    from machine.opcode_cases import Case

FAMILIES = ("integer", "logic", "compare", "single", "half", "convert", "convert_packed", "video", "video_simd")
CASES = dict(families())
BATCH = 24  # cases a kernel
LEAST = 352  # inputs of each: 3,043 cases come to 1,071,136
PART = 64  # of this many cases one is run each time


@cache
def inputs(kind: str, position: int) -> np.ndarray:
    """The recordings' own pool in another order, half of it with a random bit turned."""
    rng = np.random.default_rng(zlib.crc32(f"interpreted/{kind}/{position}".encode()))
    values = rng.permutation(pool(kind, position))
    turned = np.uint64(1) << rng.integers(0, 1 if kind == "pred32" else width_of(kind), INPUTS).astype(np.uint64)
    return values ^ np.where(rng.integers(0, 2, INPUTS) > 0, turned, np.uint64(0))


def run(cases: tuple[Case, ...]) -> np.ndarray:
    """Results by case and input, by compiled code."""
    out = np.zeros((len(cases), INPUTS), np.uint64)
    module = pl.parse(HEADER + kernel("cases", cases))
    arguments = [out, *(inputs(kind, at) for kind, at in pools(cases))]
    pl.kernel(module, "cases").launch(grid=INPUTS // 256, block=256, args=arguments)
    return out


def interpreted(case: Case) -> list[int]:
    """The first results of a case, by its row."""
    form = Form(instruction_of(case))
    row = table.find(form)
    if row is None:
        raise Unreadable(case.text)
    bits = width_of(case.destination)
    found: list[int] = []
    for start in range(0, LEAST, LANES):
        cells = {"d": Cell(bits if bits == 1 else max(16, bits)), "q": Cell(1)}
        for at, (letter, kind) in enumerate(zip("abc", case.sources, strict=False)):
            values = inputs(pool_kind(kind), at)[start : start + LANES]
            wide = 1 if kind == "pred" else 32 if kind == "count" else max(16, width_of(kind))
            cells[letter] = Cell(wide, tuple(int(one) for one in values))
        row.build(Interpreter(cells), form)
        found += (one & (1 << bits) - 1 for one in cells["d"].values)
    return found


@pytest.mark.parametrize("every", part_and_whole(PART, 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_plain_numbers_equal_compiled_code(family: str, every: int) -> None:
    wrong: list[str] = []
    asked = unread = 0
    legal = tuple(load(FOLDER / f"{family}.npz.xz", CASES[family]))  # as ptxas took them
    chosen = tuple(case for case in legal if "{{" not in case.text)[::every]
    for cases in (chosen[at : at + BATCH] for at in range(0, len(chosen), BATCH)):
        for case, outputs in zip(cases, run(cases), strict=True):
            try:
                found = np.array(interpreted(case), np.uint64)
            except Unreadable:
                unread += 1
                continue
            asked += LEAST
            expected = outputs[:LEAST] & np.uint64((1 << width_of(case.destination)) - 1)
            differ = np.flatnonzero(found != expected)
            wrong += [f"{case} at input {at}: {found[at]:#x}, not {expected[at]:#x}" for at in differ[:1]]
    sys.stderr.write(f"{family}: {asked} equal, {unread} of {len(chosen)} cases not read\n")
    assert not wrong, f"{len(wrong)} of {len(chosen)}:\n" + "\n".join(wrong[:20])
    assert unread == 0
