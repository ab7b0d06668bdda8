"""Accesses and branches whose cost ncu records on a GPU: the same wherever they are made.

A case is one launch of one warp that runs one instruction; nothing else in its kernel touches the memory it counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from recorded.matrix.matrix_cases import draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Words = npt.NDArray[np.uint32]

ALL: Final = 0xFFFFFFFF
LANES: Final = np.arange(32)
SHARED_BYTES: Final = 16384
GLOBAL_BYTES: Final = 65536
WIDTHS: Final = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "v2.b32": 8, "v4.b32": 16}
MOVES: Final = tuple(
    f"{opcode}.sync.aligned.m8n8.x{number}{trans}.shared.b16"
    for opcode, number, trans in product(("ldmatrix", "stmatrix"), (1, 2, 4), ("", ".trans"))
)
SHARED_ATOMICS: Final = (
    "atom.shared.add.u32", "red.shared.add.u32", "atom.shared.max.s32", "atom.shared.exch.b32", "atom.shared.cas.b32",
    "atom.shared.inc.u32", "red.shared.or.b32", "atom.shared.exch.b64", "atom.shared.cas.b64", "red.shared.add.u64",
    "red.shared.add.f32",
)  # fmt: skip
GLOBAL_ATOMICS: Final = (
    "atom.global.add.u32", "red.global.add.u32", "red.global.add.f32", "atom.global.add.u64", "red.global.max.s32",
    "atom.global.exch.b32", "atom.global.cas.b64",
)  # fmt: skip
COPIES: Final = {
    "cp.async.ca.shared.global": (4, 8, 16),
    "cp.async.cg.shared.global": (16,),
}


@dataclass(frozen=True, slots=True)
class ProfileCase:
    """One launch.

    Attributes:
        instruction: What is counted; `branch` and `loop` stand for control flow.
        label: What the pattern is.
        first: (32,) bytes from the start of the memory by lane; in control flow a number by lane.
        second: (32,) the global bytes of a copy, whose shared ones are `first`.
        active: A bit for each lane that takes part.
    """

    instruction: str
    label: str
    first: Words
    active: int = ALL
    second: Words | None = None

    @property
    def kernel(self) -> str:
        """The name of its kernel."""
        return "profile_" + re.sub(r"\W", "_", self.instruction)

    @property
    def opcode(self) -> str:
        """Such as `ld`."""
        return self.instruction.partition(".")[0]


def size_of(instruction: str) -> int:
    """The bytes that each lane of a plain access or an atomic moves."""
    found = re.search(r"(?:v(\d)\.)?[busf](\d+)(?:\.cas|\.exch)?$", instruction)
    assert found is not None
    return int(found[2]) // 8 * int(found[1] or 1)


def profile_cases() -> Iterator[ProfileCase]:
    """Every launch, in order."""
    for opcode, width in product(("ld", "st"), WIDTHS):
        yield from _accesses(f"{opcode}.global.{width}", _global_patterns, GLOBAL_BYTES)
    for opcode, width in product(("ld", "st"), WIDTHS):
        yield from _accesses(f"{opcode}.shared.{width}", _shared_patterns, SHARED_BYTES)
    for move in MOVES:
        yield from _moves(move)
    for one in SHARED_ATOMICS:
        yield from _accesses(one, _atomic_patterns, SHARED_BYTES)
    for one in GLOBAL_ATOMICS:
        yield from _accesses(one, _atomic_patterns, GLOBAL_BYTES)
    for one in ("ld.global.nc.b32", "ld.global.nc.v4.b32", "ld.volatile.global.b32", "st.volatile.global.b32"):
        yield from list(_accesses(one, _global_patterns, GLOBAL_BYTES))[::3]
    for opcode, sizes in COPIES.items():
        for size in sizes:
            yield from _copies(opcode, size)
    yield from _control()


def atomic_cases() -> Iterator[ProfileCase]:
    """More launches, of atomic operations on global memory: which lanes go one after the other."""
    for instruction in ("red.global.add.u32", "atom.global.exch.b32", "red.global.add.u64"):
        size = size_of(instruction)
        for distance in (32 << shift for shift in range(11)):
            for near in (0, 1):
                places = np.array([0, size, distance + size * near] + [GLOBAL_BYTES - 64] * 29)
                yield ProfileCase(instruction, f"a third lane {distance} bytes from lane {near}", _words(places), 0x7)
                yield ProfileCase(
                    instruction,
                    f"a first lane {distance} bytes from lane {near}",
                    _words(places[[2, 0, 1, *range(3, 32)]]),
                    0x7,
                )
        for room, seed in product((256, 512, 1024, 2048, 4096, 16384, GLOBAL_BYTES), range(6)):
            yield ProfileCase(instruction, f"random in {room}, {seed}", _words(_scattered(f"many {seed}", size, room)))


def _accesses(instruction: str, patterns: object, room: int) -> Iterator[ProfileCase]:
    size = size_of(instruction)
    for label, offsets, active in patterns(size, room):  # pyright: ignore[reportCallIssue, reportUnknownVariableType]
        yield ProfileCase(instruction, label, _words(offsets), active)  # pyright: ignore[reportUnknownArgumentType]


def _masks(name: str) -> Iterator[tuple[str, int]]:
    yield "low half", 0x0000FFFF
    yield "even lanes", 0x55555555
    yield "one in eight", 0x01010101
    yield "one lane", 0x00020000
    yield "no lane", 0
    for seed in range(3):
        yield f"random mask {seed}", int(draw(f"{name} mask {seed}", 1)[0])


def _scattered(name: str, size: int, room: int) -> npt.NDArray[np.int64]:
    return size * (draw(f"{name} {size} {room}", 32) % (room // size)).astype(np.int64)


def _global_patterns(size: int, room: int) -> Iterator[tuple[str, npt.NDArray[np.int64], int]]:
    del room
    for stride in (1, 2, 3, 4, 8, 9, 16, 32, 64):
        yield f"stride {stride}", size * stride * LANES % GLOBAL_BYTES, ALL
    for shift in (1, 2, 4, 8, 16, 31):
        yield f"shifted by {shift}", size * (LANES + shift), ALL
    yield "one address", 0 * LANES, ALL
    yield "backwards", size * (31 - LANES), ALL
    yield "pairs alike", size * (LANES // 2), ALL
    yield "quads alike", size * (LANES // 4), ALL
    yield "halves alike", size * (LANES % 16), ALL
    yield "quarters alike", size * (LANES % 8), ALL
    yield "eighths alike", size * (LANES % 4), ALL
    for seed in range(3):
        yield f"random near {seed}", _scattered(f"near {seed}", size, 1024), ALL
        yield f"random far {seed}", _scattered(f"far {seed}", size, GLOBAL_BYTES), ALL
        yield f"random lines {seed}", 4096 * (LANES // 8) + _scattered(f"lines {seed}", size, 128), ALL
    for label, active in _masks(f"global {size}"):
        yield f"row, {label}", size * LANES, active
        yield f"random, {label}", _scattered(f"masked {label}", size, 2048), active


def _shared_patterns(size: int, room: int) -> Iterator[tuple[str, npt.NDArray[np.int64], int]]:
    for stride in (1, 2, 3, 4, 8, 9, 16, 32, 33):
        yield f"stride {stride}", size * stride * LANES % room, ALL
    yield "one address", 0 * LANES, ALL
    yield "pairs alike", size * (LANES // 2), ALL
    yield "halves alike", size * (LANES % 16), ALL
    for seed in range(3):
        yield f"random {seed}", _scattered(f"shared {seed}", size, 4096), ALL
        yield f"random near {seed}", _scattered(f"shared near {seed}", size, 256), ALL
    for label, active in _masks(f"shared {size}"):
        yield f"row, {label}", size * LANES, active
        yield f"random, {label}", _scattered(f"shared masked {label}", size, 2048), active


def _atomic_patterns(size: int, room: int) -> Iterator[tuple[str, npt.NDArray[np.int64], int]]:
    for stride in (1, 2, 3, 8, 32, 33):
        yield f"stride {stride}", size * stride * LANES % room, ALL
    yield "one address", 0 * LANES, ALL
    yield "pairs alike", size * (LANES // 2), ALL
    yield "halves alike", size * (LANES % 16), ALL
    yield "eight addresses", size * (LANES % 8), ALL
    yield "eight addresses, neighbours alike", size * (LANES // 4), ALL
    yield "one bank, pairs alike", 128 * (LANES // 2), ALL
    for seed in range(3):
        yield f"random {seed}", _scattered(f"atomic {seed}", size, 4096), ALL
        yield f"random near {seed}", _scattered(f"atomic near {seed}", size, 128), ALL
    for label, active in _masks(f"atomic {size}"):
        yield f"row, {label}", size * LANES, active
        yield f"one address, {label}", 0 * LANES, active


def _moves(move: str) -> Iterator[ProfileCase]:
    row, chunk = LANES % 8, LANES // 8
    for pitch in (16, 32, 64, 80, 128, 144, 256):
        yield ProfileCase(move, f"pitch {pitch}", _words(pitch * LANES % SHARED_BYTES))
    yield ProfileCase(move, "swizzled", _words(128 * row + 16 * (chunk ^ row)))
    for seed in range(3):
        order = np.argsort(draw(f"profile rows {seed}", 512), kind="stable")[:32]
        yield ProfileCase(move, f"random {seed}", _words(16 * order))


def _copies(opcode: str, size: int) -> Iterator[ProfileCase]:
    instruction = f"{opcode}.{size}"
    far = _scattered("copied", size, GLOBAL_BYTES)
    sources = {"row": size * LANES, "stride 8": size * 8 * LANES, "random": far, "one address": 0 * LANES}
    targets = {
        "row": size * LANES,
        "stride 8": size * 8 * LANES,
        "swizzled": size * (LANES ^ LANES // 8),
        "random": size * (np.argsort(draw("copied to", 512), kind="stable")[:32]),
    }
    for (origin, source), (place, target) in product(sources.items(), targets.items()):
        yield ProfileCase(instruction, f"{origin} to {place}", _words(target), second=_words(source))
    for label, active in _masks("copied"):
        yield ProfileCase(instruction, f"random to row, {label}", _words(size * LANES), active, _words(far))


def _control() -> Iterator[ProfileCase]:
    for label, active in (("all", ALL), *_masks("branch")):
        yield ProfileCase("branch", label, _words(0 * LANES), active)
    for label, trips in (
        ("once", 0 * LANES + 1),
        ("five times", 0 * LANES + 5),
        ("one to four times", 1 + LANES % 4),
        ("one lane longer", 1 + (LANES == 7) * 6),
        ("by lane", 1 + LANES),
        ("random", 1 + draw("trips", 32) % 20),
    ):
        yield ProfileCase("loop", label, _words(trips))
        yield ProfileCase("loop", f"{label}, even lanes", _words(trips), 0x55555555)


def _words(offsets: npt.NDArray[np.integer]) -> Words:
    return np.asarray(offsets).astype(np.uint32)
