"""Control flow, hashes and bits, threads that wait for each other, printing and the heap."""

from __future__ import annotations

import base64 as base64_module
import hashlib
import math
import zlib
from itertools import permutations

import numpy as np

from kernels.case import Arguments, Array, KernelCase, kernel

Rng = np.random.Generator
I32, U32, U64, F32 = np.int32, np.uint32, np.uint64, np.float32


def _steps(out: Array, first: int) -> tuple[Array, ...]:
    found = np.zeros_like(out)
    for i in range(out.size):
        n = first + i
        while n > 1:
            n = 3 * n + 1 if n & 1 else n // 2
            found[i] += 1
    return (found,)


@kernel("control", 2, 128, (0,), reference=_steps, exercises="a divergent loop")
def collatz(_: Rng) -> Arguments:
    return np.zeros(256, U32), 100_000


def _gcds(a: Array, b: Array, _: Array) -> tuple[Array, ...]:
    return (np.gcd(a, b),)


@kernel("control", 2, 128, (2,), reference=_gcds)
def gcds(rng: Rng) -> Arguments:
    factors = rng.integers(1, 300, 256, dtype=I32)
    return (
        factors * rng.integers(1, 9999, 256, dtype=I32),
        factors * rng.integers(0, 9999, 256, dtype=I32),
        np.zeros(256, I32),
    )


@kernel("control", 2, 64, (2,), exercises="a jump table, early returns, local memory")
def interpreter(rng: Rng) -> Arguments:
    return rng.integers(0, 12, 60, dtype=np.uint8), rng.integers(-50, 50, 128, dtype=I32), np.zeros(128, I32), 60


def _left(values: Array, _: Array) -> tuple[Array, ...]:
    found = np.full(values.size, 9999, I32)
    for i, start in enumerate(values):
        v = int(start)
        for turn in range(8):
            if v == turn:
                found[i] = turn * 100 + i % 32
                break
            v ^= turn & 1
    return (found,)


@kernel("control", 2, 128, (1,), reference=_left, exercises="lanes that exit one by one")
def leavers(rng: Rng) -> Arguments:
    return rng.integers(0, 12, 256, dtype=I32), np.zeros(256, I32)


def _fibonacci(out: Array) -> tuple[Array, ...]:
    found = [0, 1]
    while len(found) < 16:
        found.append(found[-1] + found[-2])
    return (np.array(found * (out.size // 16), U32),)


@kernel("control", 1, 64, (0,), reference=_fibonacci, exercises="recursion")
def fibonaccis(_: Rng) -> Arguments:
    return (np.zeros(64, U32),)


def _ackermann(out: Array) -> tuple[Array, ...]:
    return (np.array([((n + 1, n + 2, 2 * n + 3)[t // 8 % 3]) for t in range(out.size) for n in (t % 8,)], I32),)


@kernel("control", 1, 32, (0,), reference=_ackermann, exercises="recursion that diverges")
def ackermanns(_: Rng) -> Arguments:
    return (np.zeros(32, I32),)


def _each_sorted(data: Array, each: int) -> tuple[Array, ...]:
    return (np.sort(data.reshape(-1, each), 1).ravel(),)


@kernel("control", 1, 32, (0,), reference=_each_sorted, exercises="recursion through pointers")
def quicksorts(rng: Rng) -> Arguments:
    return rng.integers(-999, 999, 32 * 40, dtype=I32), 40


def _queens(out: Array) -> tuple[Array, ...]:
    def count(n: int) -> int:
        boards = permutations(range(n))
        return sum(len({c + i for i, c in enumerate(b)}) == n == len({c - i for i, c in enumerate(b)}) for b in boards)

    counts = [count(n) for n in range(1, 7)]
    return (np.array([(*counts, 40, 92)[t % 8] for t in range(out.size)], I32),)


@kernel("control", 1, 16, (0,), reference=_queens, exercises="recursion in a loop")
def queens_counts(_: Rng) -> Arguments:
    return (np.zeros(16, I32),)


def _called(values: Array, which: Array, _: Array) -> tuple[Array, ...]:
    table = np.stack([values + values, values * values, -values, values / F32(2)])
    column = np.arange(values.size)
    return (table[which & 3, column] + table[which >> 2 & 3, column],)


@kernel("control", 2, 64, (2,), reference=_called, exercises="calls through a table of functions")
def pointers(rng: Rng) -> Arguments:
    return rng.standard_normal(128, dtype=F32), rng.integers(0, 16, 128, dtype=I32), np.zeros(128, F32)


def _balances(kinds: Array, amounts: Array, _: Array, n: int) -> tuple[Array, ...]:
    found: list[int] = []
    opening: tuple[int, ...] = (100, 200, 50)
    for i in range(kinds.size):
        kind = int(kinds[i])
        balance = opening[kind]
        for k in range(n):
            amount = int(amounts[(i + k) % n])
            if kind == 2:
                balance -= amount + amount // 10 if amount <= balance else 0
            else:
                balance -= amount + (1 if kind == 0 else 0)
        found.append(balance)
    return (np.array(found, I32),)


@kernel("control", 2, 32, (2,), reference=_balances, exercises="virtual functions")
def accounts(rng: Rng) -> Arguments:
    return rng.integers(0, 3, 64, dtype=I32), rng.integers(1, 40, 11, dtype=I32), np.zeros(64, I32), 11


def _crcs(data: Array, _: Array, n: int) -> tuple[Array, ...]:
    return (np.array([zlib.crc32(row.tobytes()) for row in data.reshape(-1, n)], U32),)


@kernel("hashes", 2, 64, (1,), reference=_crcs)
def crc32(rng: Rng) -> Arguments:
    return rng.integers(0, 256, 128 * 37, dtype=np.uint8), np.zeros(128, U32), 37


@kernel("hashes", 2, 64, (1,))
def murmur(rng: Rng) -> Arguments:
    return rng.integers(0, 2**32, 128 * 9, dtype=U32), np.zeros(128, U32), 9


def _digests(data: Array, _: Array, n: int) -> tuple[Array, ...]:
    rows = [hashlib.sha256(row.tobytes()).digest() for row in data.reshape(-1, n)]
    return (np.frombuffer(b"".join(rows), ">u4").astype(U32),)


@kernel("hashes", 1, 64, (1,), reference=_digests)
def sha256(rng: Rng) -> Arguments:
    return rng.integers(0, 256, 64 * 50, dtype=np.uint8), np.zeros(512, U32), 50


@kernel("hashes", 2, 64, (0,))
def philox(_: Rng) -> Arguments:
    return np.zeros(512, U32), 0xDEADBEE


@kernel("hashes", 2, 64, (0, 1))
def monte_carlo(_: Rng) -> Arguments:
    return np.zeros(1, U32), np.zeros(128, F32), 50


def _found(text: Array, pattern: Array, out: Array, _: Array, n: int, m: int) -> tuple[Array, ...]:
    haystack, needle = text.tobytes(), pattern.tobytes()
    found = np.array([i + m <= n and haystack[i : i + m] == needle for i in range(out.size)], I32)
    return found, found.sum(keepdims=True, dtype=I32)


@kernel("hashes", 4, 128, (2, 3), reference=_found)
def search(rng: Rng) -> Arguments:
    return (
        rng.integers(97, 99, 500, dtype=np.int8),
        np.frombuffer(b"abba", np.int8).copy(),
        np.zeros(512, I32),
        np.zeros(1, I32),
        500,
        4,
    )


def _encoded(data: Array, _: Array) -> tuple[Array, ...]:
    return (np.frombuffer(base64_module.b64encode(data.tobytes()), np.uint8),)


@kernel("hashes", 1, 128, (1,), reference=_encoded)
def base64(rng: Rng) -> Arguments:
    return rng.integers(0, 256, 384, dtype=np.uint8), np.zeros(512, np.uint8)


@kernel("hashes", 2, 64, (1,), exercises="bit fields, carries, permutes, funnel shifts")
def bit_tricks(rng: Rng) -> Arguments:
    return rng.integers(0, 2**64, 128, dtype=U64), np.zeros(128, U64)


def _powers(base: Array, exponent: Array, _: Array, modulus: int) -> tuple[Array, ...]:
    return (np.array([pow(int(b), int(e), modulus) for b, e in zip(base, exponent, strict=True)], U32),)


@kernel("hashes", 2, 64, (2,), reference=_powers, exercises="64-bit remainders")
def modular_power(rng: Rng) -> Arguments:
    words = rng.integers(0, 2**32, (2, 128), dtype=U32)
    return words[0].copy(), words[1].copy(), np.zeros(128, U32), 1_000_000_007


def _wide(a: Array, b: Array, _: Array) -> tuple[Array, ...]:
    full = (1 << 128) - 1
    found: list[int] = []
    for left, right in zip(a.reshape(-1, 2).tolist(), b.reshape(-1, 2).tolist(), strict=True):
        x, y = left[0] | left[1] << 64, right[0] | right[1] << 64
        found += [(x * y + (x >> 17)) & full, x // y ^ x % y << 3 & full]
    return (np.array([half for v in found for half in (v & (2**64 - 1), v >> 64)], U64),)


@kernel("hashes", 1, 64, (2,), reference=_wide, exercises="128-bit products and quotients")
def wide_product(rng: Rng) -> Arguments:
    a, b = rng.integers(1, 2**64 - 1, (2, 128), dtype=U64)
    b[1::4] = 0
    b[5::8] >>= U64(40)
    return a.copy(), b.copy(), np.zeros(256, U64)


@kernel("cooperation", 2, 64, (1,), exercises="cooperative groups")
def group_tiles(rng: Rng) -> Arguments:
    return rng.integers(-50, 50, 128, dtype=I32), np.zeros(128, I32)


def _rounds(data: Array, _: Array, rounds: int) -> tuple[Array, ...]:
    now = data.astype(np.int64)
    for _round in range(rounds):
        now = now * 3 + np.roll(now, -1) - np.roll(now, 1)
        now = np.fmod(now, 1009)
    return (now.astype(I32),)


@kernel("cooperation", 4, 64, (0,), cooperative=True, reference=_rounds, exercises="a barrier of the whole grid")
def grid_rounds(rng: Rng) -> Arguments:
    return rng.integers(0, 1000, 256, dtype=I32), np.zeros(256, I32), 5


def _locked(_: Array, __: Array, rounds: int) -> tuple[Array, ...]:
    turns = [(b, r) for b in range(6) for r in range(rounds)]
    return np.zeros(1, I32), np.array(
        [sum(b + 1 for b, _ in turns), np.bitwise_xor.reduce([b << r for b, r in turns])], I32
    )


@kernel("cooperation", 6, 32, (0, 1), reference=_locked, exercises="a lock between blocks")
def spin_lock(_: Rng) -> Arguments:
    return np.zeros(1, I32), np.zeros(2, I32), 3


def _lane_sums(_: Array, __: Array) -> tuple[Array, ...]:
    return np.zeros(3, I32), np.array([sum(range(k, 32, 3)) for k in range(3)], I32)


@kernel("cooperation", 1, 32, (0, 1), reference=_lane_sums, exercises="a lock between lanes of a warp")
def lane_lock(_: Rng) -> Arguments:
    return np.zeros(3, I32), np.zeros(3, I32)


def _tickets(_: Array, __: Array, log: Array) -> tuple[Array, ...]:
    found = np.zeros(log.size, U32)
    for i in range(log.size):
        found[i] = i * 7 + found[max(i - 1, 0)]
    return np.array([log.size], U32), np.array([log.size], U32), found


@kernel("cooperation", 4, 128, (0, 1, 2), reference=_tickets, exercises="warps served in order")
def ticket_lock(_: Rng) -> Arguments:
    return np.zeros(1, U32), np.zeros(1, U32), np.zeros(16, U32)


def _consumed(data: Array, _: Array, tiles: int) -> tuple[Array, ...]:
    sums = np.zeros(64, np.int64)
    for tile in data.reshape(tiles, 32).astype(np.int64) * 2:
        sums = (sums * 31 + np.concatenate([tile, tile[::-1]])) & 0xFFFFFFFF
    return (sums.astype(U32).view(I32),)


@kernel("cooperation", 1, 96, (1,), reference=_consumed, exercises="warp specialisation through named barriers")
def producer_named(rng: Rng) -> Arguments:
    return rng.integers(0, 1000, 7 * 32, dtype=I32), np.zeros(64, I32), 7


def _piped(data: Array, _: Array, tiles: int) -> tuple[Array, ...]:
    sums = np.zeros(64, np.int64)
    for tile in data.reshape(tiles, 32, 4).astype(np.int64):
        v = np.concatenate([np.roll(tile, -7, 0), np.roll(tile, -14, 0)])
        sums = (sums * 17 + v[:, 0] - v[:, 1] * 3 + (v[:, 2] ^ v[:, 3])) & 0xFFFFFFFF
    return (sums.astype(U32).view(I32),)


@kernel("cooperation", 1, 96, (1,), reference=_piped, exercises="warp specialisation through mbarriers")
def producer_mbarrier(rng: Rng) -> Arguments:
    return rng.integers(0, 1000, 7 * 128, dtype=I32), np.zeros(64, I32), 7


def _filled(values: Array, _: Array, n: int) -> tuple[Array, ...]:
    padded = np.concatenate([values[:n], np.zeros(768 - n, F32)])
    return (np.ascontiguousarray(padded.reshape(3, 256)[:, ::-1]).ravel(),)


@kernel("cooperation", 1, 64, (1,), reference=_filled, exercises="asynchronous copies with zero fill")
def async_zero_fill(rng: Rng) -> Arguments:
    return rng.standard_normal(601, dtype=F32), np.zeros(768, F32), 601


@kernel("cooperation", 3, 128, (0, 1, 2, 3), exercises="every atomic operation whose order does not matter")
def atomic_medley(_: Rng) -> Arguments:
    start = np.zeros(40, U32)
    start[4] = 0xFFFFFFFF
    return start, np.zeros(3, I32), np.array([0, 0, 2**64 - 1, 0], U64), np.full(2, -1e9, F32), 32


def _clustered(data: Array, _: Array, __: int) -> tuple[Array, ...]:
    return (np.bincount(data & 63, minlength=64).astype(U32),)


@kernel(
    "cooperation", 4, 64, (1,), architectures=("sm_90",), reference=_clustered, exercises="distributed shared memory"
)
def cluster_histogram(rng: Rng) -> Arguments:
    return rng.integers(0, 256, 3000, dtype=np.uint8), np.zeros(64, U32), 3000


@kernel("printing", 1, 32, (), exercises="printf")
def hello(_: Rng) -> Arguments:
    return np.array([7, -8, 123456], I32), np.array([0.5, math.pi * 1e10, -1e-7]), 3


def _listed(values: Array, _: Array, n: int) -> tuple[Array, ...]:
    sums = np.zeros(32, np.int64)
    for column in values.reshape(32, n).T[::-1].astype(np.int64):
        sums = (sums * 5 + column) & 0xFFFFFFFF
    return (sums.astype(U32).view(I32),)


@kernel("printing", 1, 32, (1,), reference=_listed, exercises="malloc and free")
def lists(rng: Rng) -> Arguments:
    return rng.integers(0, 1000, 32 * 6, dtype=I32), np.zeros(32, I32), 6


CASES: tuple[KernelCase, ...] = (
    collatz,
    gcds,
    interpreter,
    leavers,
    fibonaccis,
    ackermanns,
    quicksorts,
    queens_counts,
    pointers,
    accounts,
    crc32,
    murmur,
    sha256,
    philox,
    monte_carlo,
    search,
    base64,
    bit_tricks,
    modular_power,
    wide_product,
    group_tiles,
    grid_rounds,
    spin_lock,
    lane_lock,
    ticket_lock,
    producer_named,
    producer_mbarrier,
    async_zero_fill,
    atomic_medley,
    cluster_histogram,
    hello,
    lists,
)
