"""Addresses whose bank conflicts are recorded with ncu: the same wherever they are made."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from recorded.matrix.matrix_cases import SIGNED_LOADS, draw

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Words = npt.NDArray[np.uint32]

MEMORY_BYTES: Final = 16384
LANES: Final = np.arange(32)

MOVES: Final = (
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16",
    "stmatrix.sync.aligned.m8n8.x4.shared.b16",
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
)
WIDTHS: Final = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "v2.b32": 8, "v4.b32": 16}


@dataclass(frozen=True, slots=True)
class BankCase:
    """One launch of one instruction by one warp."""

    instruction: str
    label: str
    addresses: Words  # (32,)
    active: int = 0xFFFFFFFF  # a bit for each lane


def bank_cases() -> Iterator[BankCase]:
    """Every launch, in order."""
    yield from _moves(MOVES)
    for operation, (width, size) in product(("ld", "st"), WIDTHS.items()):
        yield from _plain(f"{operation}.shared.{width}", size)
    for width in ("v4.b32", "b64"):
        for label, addresses in _merging_patterns(WIDTHS[width]):
            for operation in ("ld", "st"):
                yield BankCase(f"{operation}.shared.{width}", label, addresses)
    for operation, width in product(("ld", "st"), ("b64", "v4.b32")):
        for label, addresses, active in _partner_patterns(WIDTHS[width]):
            yield BankCase(f"{operation}.shared.{width}", label, addresses, active)
    for case in _moves(SIGNED_LOADS):
        yield case
        yield BankCase(case.instruction, f"{case.label}, halved", case.addresses // 2)


def _moves(moves: tuple[str, ...]) -> Iterator[BankCase]:
    for move in moves:
        for label, addresses in _row_patterns(apart=move.startswith("stmatrix")):
            yield BankCase(move, label, addresses)


def _plain(instruction: str, size: int) -> Iterator[BankCase]:
    for label, addresses in _plain_patterns(instruction, size):
        yield BankCase(instruction, label, addresses)
    for label, active in _masks():
        yield BankCase(instruction, f"active {label}", _words(size * LANES), active)
        scattered = size * (draw(f"scattered {size}", 32) % (1024 // size))
        yield BankCase(instruction, f"random active {label}", _words(scattered), active)


def _row_patterns(*, apart: bool) -> Iterator[tuple[str, Words]]:
    """Row addresses for the matrix moves."""
    for pitch in (16, 32, 48, 64, 80, 128, 144, 256):
        yield f"pitch {pitch}", _words(pitch * LANES)
    row, chunk = LANES % 8, LANES // 8
    yield "pitch 128, chunks swizzled by row", _words(128 * row + 16 * (chunk ^ row))
    yield "pitch 64, chunks swizzled by half row", _words(64 * row + 16 * (chunk ^ row // 2))
    for seed in range(6):
        keys = draw(f"bank rows {seed}", 512)
        yield f"random {seed}", _words(16 * np.argsort(keys, kind="stable")[:32])
    if not apart:
        yield "one row", _words(0 * LANES)
        yield "four times one matrix", _words(128 * row)
        yield "half the rows twice", _words(128 * (row // 2))


def _plain_patterns(instruction: str, size: int) -> Iterator[tuple[str, Words]]:
    for stride in (1, 2, 3, 4, 8, 9, 16, 32, 33):
        yield f"stride {stride}", _words(size * stride * LANES % MEMORY_BYTES)
    yield "one address", _words(0 * LANES)
    yield "backwards", _words(size * (31 - LANES))
    for seed in range(4):
        yield f"random {seed}", _words(size * (draw(f"{instruction} {seed}", 32) % (4096 // size)))
    yield "few", _words(size * (draw(f"{instruction} few", 32) % 8))


def _masks() -> Iterator[tuple[str, int]]:
    yield "low half", 0x0000FFFF
    yield "even lanes", 0x55555555
    yield "one in eight", 0x01010101
    yield "one lane", 0x00020000
    yield "random", int(draw("mask", 1)[0])


def _merging_patterns(size: int) -> Iterator[tuple[str, Words]]:
    """Wide accesses whose phases read the same words: which of them merge?"""
    phases = size // 4
    lanes = 32 // phases
    within = np.arange(lanes)
    blocks = {"A": 0, "B": 256, "C": 512, "D": 1024}
    for pattern in ("AABB", "ABBA", "AAAA", "ABAB", "AAAB", "ABBB", "ABCC", "AABC", "ABCA", "ABCD"):
        for conflict in (1, 2, 4):
            names = pattern[:phases]
            if phases == 2 and pattern not in ("AABB", "ABAB"):
                continue
            parts = [(blocks[name] + size * conflict * within) for name in names]
            yield f"phases {names}, stride {conflict}", _words(np.concatenate(parts))
    same = size * within
    second = [("turned", np.roll(same, 1)), ("backwards", same[::-1]), ("subset", same // (2 * size) * (2 * size))]
    for label, other in second:
        yield f"second phase {label}", _words(np.concatenate([same, other] * (phases // 2)))
        yield f"first phase {label}", _words(np.concatenate([other, same] * (phases // 2)))
    half_apart = np.where(within < lanes // 2, same, same + 2048)
    yield "second phase half the same", _words(np.concatenate([same, half_apart] * (phases // 2)))
    shared_pairs = size * (within // 2)
    yield "pairs of lanes alike", _words(np.concatenate([shared_pairs + 128 * p for p in range(phases)]))
    yield "pairs of lanes alike, phases alike", _words(np.concatenate([shared_pairs] * phases))
    for seed in range(4):
        picks = size * (draw(f"merge {size} {seed}", lanes) % (2048 // size)).astype(np.int64)
        yield f"random phases alike {seed}", _words(np.concatenate([picks] * phases))


def _partner_patterns(size: int) -> Iterator[tuple[str, Words, int]]:
    """Wide accesses in which each lane has a partner, a number of lanes off, that wants the same or is inactive."""
    for seed in range(3):
        free = size * (draw(f"partners {size} {seed}", 32) % (1024 // size)).astype(np.int64)
        for distance in (1, 2, 3, 4, 8, 16):
            same = free[np.minimum(LANES, LANES ^ distance)]
            off = sum(1 << lane for lane in range(32) if lane < lane ^ distance)
            yield f"partner {distance} alike {seed}", _words(same), 0xFFFFFFFF
            yield f"partner {distance} off {seed}", _words(free), off
            yield f"partner {distance} alike, four off {seed}", _words(same), 0xFEFF7F7F
            one_apart = same.copy()
            one_apart[5] = (one_apart[5] + 2 * size) % 1024
            yield f"partner {distance} alike but one {seed}", _words(one_apart), 0xFFFFFFFF
        by_one, by_two = free[LANES & ~1], free[LANES & ~2]
        for label, first in (
            ("quads", LANES % 8 < 4),
            ("phases", LANES // (128 // size) % 2 == 0),
            ("halves", LANES < 16),
        ):
            yield f"partner 1 or 2 by {label} {seed}", _words(np.where(first, by_one, by_two)), 0xFFFFFFFF
            yield f"partner 1 or none by {label} {seed}", _words(np.where(first, by_one, free)), 0xFFFFFFFF
            yield f"partner 2 or none by {label} {seed}", _words(np.where(first, by_two, free)), 0xFFFFFFFF


def _words(addresses: npt.NDArray[np.integer]) -> Words:
    return np.asarray(addresses).astype(np.uint32)
