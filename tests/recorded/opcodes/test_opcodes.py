"""Every recorded opcode and type gives on the machine what it gave on hardware, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import families
from machine.opcode_inputs import INPUTS, pool
from machine.opcode_kernels import HEADER, kernel, pools
from machine.opcode_recording import FOLDER, digests, load
from sweeps import part_and_whole

if TYPE_CHECKING:
    from machine.opcode_cases import Case

CASES = dict(families())
BATCH = 24  # cases a kernel
PART = 8  # one case in eight is run each time


def run(cases: tuple[Case, ...]) -> np.ndarray:
    module = pl.parse(HEADER + kernel("cases", cases))
    out = np.zeros((len(cases), INPUTS), np.uint64)
    inputs = [pool(kind, at) for kind, at in pools(cases)]
    pl.kernel(module, "cases").launch(grid=INPUTS // 256, block=256, args=[out, *inputs])
    return out


@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("every", part_and_whole(PART, 1))
def test_equals_hardware(family: str, every: int) -> None:
    recordings = load(FOLDER / f"{family}.npz.xz", CASES[family])
    wrong: list[str] = []
    known = tuple(recordings)[::every]
    for cases in (known[at : at + BATCH] for at in range(0, len(known), BATCH)):
        for case, outputs in zip(cases, run(cases), strict=True):
            recording = recordings[case]
            if not np.array_equal(digests(outputs), recording.digests):
                at = np.flatnonzero(outputs[: len(recording.outputs)] != recording.outputs)
                first = (
                    f"first at input {at[0]}: {outputs[at[0]]:#x}, not {recording.outputs[at[0]]:#x}" if at.size else ""
                )
                wrong.append(f"{case} {at.size} of {len(recording.outputs)} differ {first}")
    assert not wrong, f"{len(wrong)} of {len(recordings)}:\n" + "\n".join(wrong[:40])
