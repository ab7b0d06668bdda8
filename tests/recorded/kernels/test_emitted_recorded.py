"""The emitted CUDA wrappers gave, on an H200, the fragments they promise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.atoms.wrappers.parts import c_name
from recorded.kernels.emitted_cases import PITCH, TILE_BYTES, atoms, inputs

if TYPE_CHECKING:
    from ptxloom.atoms import CopyAtom

RECORDED = Path(__file__).parent / "emitted.npz"


@pytest.mark.skipif(not RECORDED.exists(), reason="tools/record/emitted.py has not been run on a GPU yet")
@pytest.mark.parametrize("atom", atoms(), ids=str)
def test_a_wrapper_gave_its_fragment(atom: CopyAtom) -> None:
    with np.load(RECORDED) as file:
        recorded = file[c_name(atom)]
    given = inputs(atom)
    lanes = np.arange(32)
    down = min(atom.instruction.address_lanes or 1, 16)
    addresses = (lanes % down * PITCH + lanes // 16 * 16).astype(np.uint32)
    count = atom.instruction.registers
    match atom.instruction.opcode:
        case "ldmatrix":
            found = atom.copy(given.view(np.uint8), addresses)
        case "stmatrix":
            memory = np.zeros(TILE_BYTES, np.uint8)
            atom.copy(memory, addresses, given.reshape(32, count))
            found = memory.view(np.uint32)
        case _:
            found = atom.copy(given.reshape(32, count))
    assert found is not None
    assert np.array_equal(found.ravel(), recorded)
