"""Every recorded opcode and type gives on the machine what it gave on hardware, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
import pytest

import ptxloom as pl
from machine.opcode_cases import families
from machine.opcode_inputs import INPUTS, SAMPLE, pool
from machine.opcode_kernels import HEADER, kernel, pools
from machine.opcode_recording import FOLDER, digests, load

if TYPE_CHECKING:
    from machine.opcode_cases import Case

CASES = dict(families())
BATCH = 24  # cases a kernel
NOT_EXACT = {  # the largest relative error the manual grants; the least share of equal bits
    "tanh.approx.f32": (2.0**-11, 0.74),
    "tanh.approx.f16": (2.0**-10, 0.999),
    "tanh.approx.f16x2": (2.0**-10, 0.998),
    "tanh.approx.bf16": (2.0**-7, 0.999),
    "tanh.approx.bf16x2": (2.0**-7, 0.999),
}


def run(cases: tuple[Case, ...]) -> np.ndarray:
    module = pl.parse(HEADER + kernel("cases", cases))
    out = np.zeros((len(cases), INPUTS), np.uint64)
    inputs = [pool(kind, at) for kind, at in pools(cases)]
    pl.kernel(module, "cases").launch(grid=INPUTS // 256, block=256, args=[out, *inputs])
    return out


@pytest.mark.parametrize("family", [f for f in CASES if f != "approximate"])
def test_equals_hardware(family: str) -> None:
    recordings = load(FOLDER / f"{family}.npz.xz", CASES[family])
    wrong: list[str] = []
    known = tuple(recordings)
    for cases in (known[at : at + BATCH] for at in range(0, len(known), BATCH)):
        for case, outputs in zip(cases, run(cases), strict=True):
            recording = recordings[case]
            if not np.array_equal(digests(outputs), recording.digests):
                at = np.flatnonzero(outputs[:SAMPLE] != recording.outputs)
                first = (
                    f"first at input {at[0]}: {outputs[at[0]]:#x}, not {recording.outputs[at[0]]:#x}" if at.size else ""
                )
                wrong.append(f"{case} {at.size} of {SAMPLE} differ {first}")
    assert not wrong, f"{len(wrong)} of {len(recordings)}:\n" + "\n".join(wrong[:40])


def test_approximate_functions_equal_hardware_or_are_within_the_error_granted() -> None:
    recordings = load(FOLDER / "approximate.npz.xz", CASES["approximate"])
    known = tuple(recordings)
    for case, outputs in zip(known, run(known), strict=True):
        wanted = recordings[case].outputs
        error, share = NOT_EXACT.get(str(case).split()[0], (0.0, 1.0))
        assert (outputs == wanted).mean() >= share, case
        if error:
            found, hardware = (floats(values, case.destination) for values in (outputs, wanted))
            finite = np.isfinite(hardware) & np.isfinite(found)
            assert (finite | (np.isnan(found) == np.isnan(hardware))).all(), case
            difference = np.abs(found[finite] - hardware[finite])
            assert (difference <= 2 * error * np.abs(hardware[finite])).all(), case


def floats(bits: np.ndarray, kind: str) -> np.ndarray:
    """The values of bit patterns, pairs one after the other."""
    scalar = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}
    if kind.endswith("x2"):
        return bits.astype(np.uint32).view(scalar[kind[:-2]]).astype(np.float64)
    width = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32}[kind]
    return bits.astype(width).view(scalar[kind]).astype(np.float64)
