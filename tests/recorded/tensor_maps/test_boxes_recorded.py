"""What `Box` says of a copy is what an H200 did: where each byte is, what is filled in, what the mbarrier counts."""

from __future__ import annotations

import gzip
import json
import struct
from typing import Final

import pytest

from ptxloom.descriptors import Box, remarks
from recorded.tensor_maps.tensor_copy_cases import CTAS, GIVEN, RECORDING, Case, cases, digest

OUTCOMES: Final[list[str]] = json.loads(gzip.decompress(RECORDING.read_bytes()))["outcomes"]
ROOM_ADDRESS: Final = 1 << 16  # a multiple of every pattern, as the kernels' room is
PIECE: Final = 16
NAN: Final = struct.pack("<H", 0x7FF7)
COMPLETED: Final = 1
LOADS: Final = [
    (number, case)
    for number, case in enumerate(cases())
    if case.kernel.startswith("load") and not case.words and not case.start % 16 and not case.map.type.rounds
]


def box(case: Case) -> Box:
    """The copy of a case."""
    rank = int(case.kernel[-2])
    offsets = case.at[rank : 2 * rank - 2] if case.map.im2col is not None else ()
    return Box(case.map, case.at[:rank], ROOM_ADDRESS + case.near, offsets)


def left_behind(number: int, case: Case) -> str:
    """The digest of what there must be in shared and global memory, and of how the wait ended."""
    before, tensor = case.before(number)
    room, made = bytearray(before), case.map
    size = made.element_bytes
    fill = NAN * (size // 2) if made.oob_fill == "nan" else bytes(size)
    for place in box(case).places():
        source = case.start + place.global_address
        data = tensor[source : source + size] if place.inside else fill
        for piece in range(0, size, PIECE):  # a slice of 32 bytes is two pieces
            at = (place.shared_address ^ piece) - ROOM_ADDRESS
            room[at : at + min(size, PIECE)] = data[piece : piece + PIECE]
    given = bytes(room) + struct.pack("<I", COMPLETED)
    return digest(given + bytes(CTAS * GIVEN - len(given)), tensor)


@pytest.mark.parametrize("kernel", sorted({case.kernel for _, case in LOADS}))
def test_every_byte_of_a_load_is_where_the_box_says(kernel: str) -> None:
    right = [(n, case) for n, case in LOADS if case.kernel == kernel and not OUTCOMES[n].startswith("CUDA")]
    right = [(n, case) for n, case in right if case.expected == case.map.transaction_bytes]
    assert len(right) > 20
    assert [n for n, case in right if left_behind(n, case) != OUTCOMES[n]] == []


def test_what_the_hardware_ends_is_named_and_nothing_else() -> None:
    judged = [(n, case) for n, case in LOADS if case.map.rank == int(case.kernel[-2])]
    judged = [(n, case) for n, case in judged if ("im2col" in case.kernel) == (case.map.im2col is not None)]
    ended = {n for n, _ in judged if OUTCOMES[n].startswith("CUDA")}
    named = {n: {remark.name for remark in remarks.of_box(box(case)) if remark.wrong} for n, case in judged}
    behind_the_room = {n for n, _ in judged if OUTCOMES[n] == "CUDA_ERROR_ILLEGAL_ADDRESS"}
    assert len(ended) > 15
    assert all(named[n] for n in ended - behind_the_room)
    # The driver refuses rows of slices that are no 16 bytes of the type; the hardware would copy them.
    assert all(named[n] <= {"refused"} for n in named.keys() - ended)
