"""Where `wmma.load` puts elements and `wmma.store` takes them from, as an H200 did it.

Each recording moved a matrix whose element i holds the bits of the number i, as many bits a pass as an element has.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.fragments import Fragment, fragment

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(__file__).parent / "wmma_fragments.npz"
NAMES = tuple(np.load(DATA).files)


def elements(raw: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """The numbers that the passes spell, element by element."""
    total = np.zeros(raw.shape[1] * 8 // width, np.int64)
    for index, data in enumerate(raw):
        bits = np.unpackbits(data, bitorder="little").reshape(-1, width)[:, :16].astype(np.int64)
        total += bits @ (1 << np.arange(bits.shape[1], dtype=np.int64)) << (index * min(width, 16))
    return total


@pytest.mark.parametrize("name", NAMES)
def test_elements_are_where_the_hardware_puts_them(name: str) -> None:
    held, operand, layout = fragment_of(name)
    with np.load(DATA) as data:
        found = elements(data[name], held.width)
    for place in held:
        slot = slot_of(held, place.lane, place.register, place.bit)
        stride = held.columns if layout == "row" else held.rows
        index = place.row * stride + place.column if layout == "row" else place.column * stride + place.row
        moved, number = (index, slot) if operand == "d" else (slot, index)
        assert found[moved] == number, place


def fragment_of(name: str) -> tuple[Fragment, str, str]:
    """The fragment of a recording, its operand, and how its matrix lay in memory."""
    _, operand, shape, element, layout = name.split("_")
    move = "store" if operand == "d" else "load"
    return fragment(f"wmma.{move}.{operand}.sync.aligned.{layout}.{shape}.global.{element}"), operand, layout


def slot_of(held: Fragment, lane: int, register: int, bit: int) -> int:
    """The number of an element in the dump `[register][lane][bit]`."""
    return ((register * 32 + lane) * held.register_bits + bit) // held.width


@pytest.mark.parametrize("name", NAMES)
def test_every_bit_of_a_fragment_has_its_element(name: str) -> None:
    held, _, _ = fragment_of(name)
    assert len({place[:3] for place in held}) == 32 * held.registers * held.register_bits // held.width
    assert {(place.row, place.column) for place in held} == {
        (r, c) for r in range(held.rows) for c in range(held.columns)
    }
