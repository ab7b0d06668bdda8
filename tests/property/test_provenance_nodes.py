"""Each node of provenance is made once, numbered in order: whether it is found by its newest source, a hash, or new."""

from __future__ import annotations

import ctypes
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from ptxloom.machine.native import jit, language
from ptxloom.machine.native.language import part, u32
from ptxloom.machine.runtime.provenance.nodes import FEWEST, find_newest, make_nodes, node_tag
from ptxloom.machine.runtime.structs import trail as model
from ptxloom.machine.runtime.structs.trail import Trail

LANES: Final = 32
SLOTS: Final = 1 << 17
WORDS: Final = 64 * 32 + 32  # of global memory


def made_together(trail: Trail, site: u32) -> u32:
    stage = trail.stage
    find_newest(trail, part(stage, 0, 32), part(stage, 32, 32), part(stage, 64, 32))
    return make_nodes(trail, site, part(stage, 0, 32), part(stage, 32, 32), part(stage, 64, 32), part(stage, 96, 32))


class Nodes:
    """The nodes of native code, beside those that a dictionary numbers."""

    def __init__(self, limit: int) -> None:
        self.trail: Any = language.structure(Trail)()
        self._nodes = np.zeros(limit * model.NODE_BYTES, np.uint8)
        self._slots = np.zeros(SLOTS, np.uint64)
        self.trail.nodes, self.trail.node_limit = self._nodes.ctypes.data, limit
        self.trail.slots, self.trail.slot_count = self._slots.ctypes.data, SLOTS
        self.trail.node_count = 1
        self._made = np.zeros(1 + WORDS + limit, np.uint32)
        self.trail.made, self.trail.made_count, self.trail.made_words = self._made.ctypes.data, len(self._made), WORDS
        self.limit, self.known = limit, dict[tuple[int, ...], int]()
        single, u64 = ctypes.c_uint32, ctypes.c_uint64
        one = ctypes.CFUNCTYPE(u64, ctypes.c_void_p, u64, single, u64, u64, u64)
        self._one: Any = one(jit.native_address(node_tag))
        self._several: Any = ctypes.CFUNCTYPE(single, ctypes.c_void_p, single)(jit.native_address(made_together))
        self.together = 0

    def wanted(self, *key: int) -> int:
        """The tag that a value should have."""
        number = self.known.get(key)
        if number is None:
            if 1 + len(self.known) >= self.limit:
                return model.COMPUTED
            number = self.known[key] = 1 + len(self.known)
        return model.COMPUTED | number << model.BYTE_BITS

    def warp(self, site: int, sources: list[tuple[int, int, int]]) -> list[int]:
        """The tags of what 32 lanes compute; at the limit, and where they are not all new, made one by one."""
        stage = np.frombuffer(self.trail, np.uint64, 4 * LANES)
        stage[: 3 * LANES] = np.array(sources, np.uint64).T.ravel()
        address = ctypes.addressof(self.trail)
        if self._several(address, site):
            self.together += 1
            return [int(tag) for tag in stage[3 * LANES :]]
        return [int(self._one(address, model.COMPUTED, site, *key)) for key in sources]


def _drawn(chance: Random, rows: list[list[int]]) -> list[int]:
    """A source of 32 lanes: computed lately or long ago, one value for all, elements, or nothing."""
    match chance.randrange(6):
        case 0 | 1 if rows:
            return rows[-1 - min(int(chance.expovariate(0.5)), len(rows) - 1)]
        case 2 if rows:
            return chance.choice(rows)
        case 3 if rows:
            return [chance.choice(chance.choice(rows))] * LANES
        case 4:
            start = model.EXACT | chance.randrange(64) * 128
            return [start + 4 * lane for lane in range(LANES)]
        case _:
            return [0] * LANES


@pytest.mark.parametrize(
    ("limit", "warps", "slots"), [(1 << 16, 600, SLOTS), (3000, 300, FEWEST), (1 << 17, 3000, SLOTS)]
)
def test_equal_values_have_one_number_in_the_order_of_their_making(limit: int, warps: int, slots: int) -> None:
    chance, nodes, rows = Random(limit), Nodes(limit), list[list[int]]()
    for _ in range(warps):
        site = chance.randrange(4)
        sources = list(zip(*(_drawn(chance, rows) for _ in range(3)), strict=True))
        if not all(map(any, sources)):
            continue
        wanted = [nodes.wanted(site, *key) for key in sources]
        assert nodes.warp(site, sources) == wanted
        rows.append(wanted)
    assert nodes.together > 30
    assert nodes.trail.node_count == 1 + len(nodes.known)
    assert nodes.trail.slots_used == slots
