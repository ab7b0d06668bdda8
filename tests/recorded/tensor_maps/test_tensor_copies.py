"""Copies by tensor maps do what an H200 did, bit for bit; what was an illegal instruction there is reported."""

from __future__ import annotations

import gzip
import json
from functools import cache

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.descriptors import Box
from recorded.tensor_maps.tensor_copy_cases import (
    CTAS,
    GIVEN,
    NOT_TOLD,
    RECORDING,
    ROOM,
    SLICES_RECORDING,
    THREADS,
    Case,
    cases,
    digest,
    module_text,
    slice_cases,
)

CASES = cases()
OUTCOMES: list[str] = json.loads(gzip.decompress(RECORDING.read_bytes()))["outcomes"] if RECORDING.exists() else []
SLICES = slice_cases()
ROOM_ADDRESS = 1 << 16  # a multiple of every pattern
KERNELS = sorted({case.kernel for case in CASES})
CHECKS = ("memcheck", "synccheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global")
ENDS = {
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": {"memcheck.no-tensor-map", "memcheck.illegal-tensor-copy"},
    "CUDA_ERROR_MISALIGNED_ADDRESS": {"memcheck.misaligned"},
    "CUDA_ERROR_ILLEGAL_ADDRESS": {"memcheck.out-of-bounds"},
}


@cache
def kernel_of(name: str) -> pl.Kernel:
    return pl.kernel(pl.parse(module_text([name])), name)


def run(case: Case, number: int, checks: tuple[str, ...] = ("memcheck",)) -> tuple[str, bytes]:
    """How a case ends in the machine: a digest as in the recording, or the rule that ends it."""
    start, tensor = (np.frombuffer(data, np.uint8).copy() for data in case.before(number))
    aligned = np.zeros(tensor.size + 256, np.uint8)
    whole = aligned[-aligned.ctypes.data % 256 :][: tensor.size]
    whole[:] = tensor
    given = np.zeros(CTAS * GIVEN, np.uint8)
    data = case.map_bytes(whole.ctypes.data)
    args = [data, start, given, case.near, case.expected, case.place_bytes(), whole]
    try:
        result = kernel_of(case.kernel).launch(case.ctas, THREADS, args, checks=checks)
    except pl.LaunchError as error:
        return error.hazards[0].rule, b""
    if result.hazards:
        return str(result.hazards), b""
    return digest(given.tobytes(), whole.tobytes()), given.tobytes() + whole.tobytes()


def test_every_case_was_recorded() -> None:
    assert len(OUTCOMES) == len(CASES)
    assert set(ENDS) <= set(OUTCOMES)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", KERNELS)
def test_equals_hardware(name: str) -> None:
    wrong: list[tuple[int, str, str]] = []
    for number, (case, wanted) in enumerate(zip(CASES, OUTCOMES, strict=True)):
        if case.kernel == name:
            found, _ = run(case, number)
            if found != wanted and found not in ENDS.get(wanted, ()):
                wrong.append((number, found, wanted))
    assert not wrong


@pytest.mark.sample(every=6)
@pytest.mark.parametrize("part", range(12))
def test_every_tool_is_silent_on_what_is_right(part: int) -> None:
    chosen = [
        n for n in range(part, len(CASES), 48) if OUTCOMES[n] not in ENDS and run(CASES[n], n)[1][ROOM] != NOT_TOLD
    ]
    found = {n: run(CASES[n], n, CHECKS)[0] for n in chosen}
    assert {n: what for n, what in found.items() if what != OUTCOMES[n]} == {}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("part", range(4))
def test_a_copy_takes_one_slice_of_an_interleaved_tensor(part: int) -> None:
    outcomes = slice_outcomes()
    assert len(outcomes) == len(SLICES)
    found = {number: run(SLICES[number], number)[0] for number in range(part, len(SLICES), 4)}
    assert {
        n: (what, outcomes[n]) for n, what in found.items() if what not in {outcomes[n], *ENDS.get(outcomes[n], ())}
    } == {}


@cache
def slice_outcomes() -> list[str]:
    return json.loads(gzip.decompress(SLICES_RECORDING.read_bytes()))["outcomes"]


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("part", range(4))
def test_every_tool_is_silent_on_a_slice(part: int) -> None:
    outcomes = slice_outcomes()
    chosen = [n for n in range(part, len(SLICES), 16) if outcomes[n] not in ENDS]
    chosen = [n for n in chosen if run(SLICES[n], n)[1][ROOM] != NOT_TOLD]
    found = {n: run(SLICES[n], n, CHECKS)[0] for n in chosen}
    assert len(found) >= 8
    assert {n: what for n, what in found.items() if what != outcomes[n]} == {}


STORES = {
    "room": "mov.u32 i, room; add.u32 i, i, o0; @more st.shared.u8 [i], word;",
    "tensor": "ld.param.u64 by, [tensor]; cvt.u64.u32 token, o0; add.u64 by, by, token; @more st.global.u8 [by], word;",
}
"""A byte of the room or of the tensor, whose place comes as an offset, which copies of tiles do not have."""


@cache
def storing(name: str, where: str) -> pl.Kernel:
    """A kernel in which another thread stores a byte while its copy is under way."""
    lines = f"setp.eq.u32 more, t, 1; {STORES[where]}\n  WAIT:"
    return pl.kernel(pl.parse(module_text([name]).replace("WAIT:", lines)), name)


def rules_of_a_store(case: Case, number: int, where: str, at: int) -> set[str]:
    """What is reported of a copy beside which another thread stores a byte."""
    start, tensor = (np.frombuffer(data, np.uint8).copy() for data in case.before(number))
    aligned = np.zeros(tensor.size + 256, np.uint8)
    whole = aligned[-aligned.ctypes.data % 256 :][: tensor.size]
    whole[:] = tensor
    place = case.place_bytes()
    args = [
        *(case.map_bytes(whole.ctypes.data), start, np.zeros(CTAS * GIVEN, np.uint8), case.near, case.expected),
        *(place[:20] + at.to_bytes(4, "little") + place[24:], whole),
    ]
    checks = ("memcheck", "racecheck", "racecheck:global")
    return {one.rule for one in storing(case.kernel, where).launch(1, THREADS, args, checks=checks).hazards}


def followed(number: int) -> tuple[set[int], set[int]]:
    """The bytes of the room that a load of a slice writes, and those of the tensor that it reads."""
    case = SLICES[number]
    box = Box(case.map, case.at[: case.map.rank], ROOM_ADDRESS + case.near)
    size = case.map.element_bytes
    places = list(box.places())
    room = {
        (place.shared_address ^ piece) - ROOM_ADDRESS + byte
        for place in places
        for piece in range(0, size, 16)
        for byte in range(min(size, 16))
    }
    source = {case.start + place.global_address + byte for place in places if place.inside for byte in range(size)}
    return room, source


def test_racecheck_follows_one_slice_and_not_what_the_box_says() -> None:
    """A byte that the copy writes or reads, and the first behind, which a second slice would have."""
    outcomes, seen = slice_outcomes(), 0
    for number, case in enumerate(SLICES):
        if (
            not case.kernel.startswith("load")
            or outcomes[number] in ENDS
            or case.expected != case.map.transaction_bytes
        ):
            continue
        room, source = followed(number)
        if not source:
            continue
        for where, touched in (("room", room), ("tensor", source)):
            behind = next(at for at in range(min(touched), max(touched) + 2) if at not in touched)
            hit = rules_of_a_store(case, number, where, max(touched))
            assert hit, (number, where)
            assert all(rule.startswith("racecheck.") for rule in hit)
            assert not rules_of_a_store(case, number, where, behind), (number, where)
        seen += 1
        if seen == 8:
            break
    assert seen == 8
