"""Reductions, scans, sorts, histograms, transposes."""

from __future__ import annotations

import numpy as np

from kernels.case import Arguments, Array, KernelCase, kernel

Rng = np.random.Generator
I32, F32 = np.int32, np.float32


def _integers(rng: Rng, size: int, low: int = 0, high: int = 1000) -> Array:
    return rng.integers(low, high, size, dtype=I32)


def _total(values: Array, out: Array, *_: int) -> tuple[Array, ...]:
    return (np.array([values.sum(dtype=I32)], dtype=out.dtype),)


def _block_sums(values: Array, out: Array, _: int) -> tuple[Array, ...]:
    # Block b takes elements b * 128 + t, then every 512th one after.
    return (values.reshape(-1, 4, 128).astype(np.float64).sum(axis=(0, 2)).astype(F32),)


@kernel("reductions", 4, 128, (1,), reference=_block_sums, reference_tolerance=1e-6)
def reduce_shuffle(rng: Rng) -> Arguments:
    return rng.standard_normal(2048, dtype=F32), np.zeros(4, F32), 2048


@kernel("reductions", 4, 256, (1,), shared_bytes=1024, reference=_total)
def reduce_shared(rng: Rng) -> Arguments:
    return _integers(rng, 1024), np.zeros(1, I32)


def _redux(values: Array, _: Array) -> tuple[Array, ...]:
    rows = values.reshape(-1, 32)
    columns = (
        rows.sum(1),
        rows.min(1),
        rows.max(1),
        *(f.reduce(rows, 1) for f in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)),
    )
    return (np.stack(columns, 1).astype(I32).ravel(),)


@kernel("reductions", 8, 32, (1,), reference=_redux)
def reduce_redux(rng: Rng) -> Arguments:
    return _integers(rng, 256, -1000, 1000), np.zeros(48, I32)


def _argmax(values: Array, *_: object) -> tuple[Array, ...]:
    rows = values.reshape(4, -1)
    return rows.max(1), rows.argmax(1).astype(I32)


@kernel("reductions", 4, 32, (1, 2), reference=_argmax)
def argmax(rng: Rng) -> Arguments:
    return np.round(rng.standard_normal(400), 1), np.zeros(4), np.zeros(4, I32), 100


@kernel("reductions", 4, 64, (1,))
def votes(rng: Rng) -> Arguments:
    return _integers(rng, 256, 0, 100), np.zeros(256, np.uint32)


def _exclusive(values: Array, _: Array) -> tuple[Array, ...]:
    rows = values.reshape(-1, 512)
    return ((rows.cumsum(1) - rows).astype(I32).ravel(),)


@kernel("scans", 3, 256, (1,), reference=_exclusive)
def scan_blelloch(rng: Rng) -> Arguments:
    return _integers(rng, 1536, -100), np.zeros(1536, I32)


def _inclusive(values: Array, _: Array) -> tuple[Array, ...]:
    return (values.reshape(-1, 128).astype(np.float64).cumsum(1).astype(F32).ravel(),)


@kernel("scans", 4, 128, (1,), reference=_inclusive, reference_tolerance=1e-6)
def scan_shuffle(rng: Rng) -> Arguments:
    return rng.standard_normal(512, dtype=F32), np.zeros(512, F32)


def _prefix(values: Array, *_: Array) -> tuple[Array, ...]:
    return (values.cumsum(dtype=np.uint32),)


@kernel("scans", 12, 256, (1,), reference=_prefix, exercises="blocks that wait for blocks")
def scan_lookback(rng: Rng) -> Arguments:
    values = rng.integers(0, 1 << 20, 3072, dtype=np.uint32)
    return values, np.zeros(3072, np.uint32), np.zeros(12, np.uint64), np.zeros(1, np.uint32)


def _kept(values: Array, out: Array, *_: object) -> tuple[Array, ...]:
    kept = values[values % 3 != 0]
    return np.concatenate([kept, out[kept.size :]]), np.array([kept.size], I32)


@kernel("scans", 1, 128, (1, 2), reference=_kept)
def compact(rng: Rng) -> Arguments:
    return _integers(rng, 700), np.full(700, -1, I32), np.zeros(1, I32), 700


def _rows_sorted(width: int, values: Array) -> Array:
    return np.sort(values.reshape(-1, width), 1).ravel()


def _sorted_256(values: Array, *_: object) -> tuple[Array, ...]:
    return (_rows_sorted(256, values),)


@kernel("sorts", 2, 256, (0,), shared_bytes=1024, reference=_sorted_256)
def sort_bitonic(rng: Rng) -> Arguments:
    return (_integers(rng, 512, -(2**31), 2**31 - 1),)


def _radix(keys: Array, _: Array) -> tuple[Array, ...]:
    rows = keys.reshape(-1, 256)
    return _rows_sorted(256, keys), np.argsort(rows, 1, kind="stable").astype(np.uint32).ravel()


@kernel("sorts", 2, 256, (0, 1), reference=_radix)
def sort_radix(rng: Rng) -> Arguments:
    return rng.integers(0, 2**32, 512, dtype=np.uint32) & np.uint32(0xFF0000FF), np.zeros(512, np.uint32)


@kernel("sorts", 2, 128, (0,), reference=_sorted_256)
def sort_odd_even(rng: Rng) -> Arguments:
    return rng.integers(-3000, 3000, 512, dtype=np.int16), 256


def _sorted_32(values: Array) -> tuple[Array, ...]:
    return (_rows_sorted(32, values),)


@kernel("sorts", 2, 64, (0,), reference=_sorted_32)
def sort_warp(rng: Rng) -> Arguments:
    return (rng.standard_normal(128, dtype=F32),)


def _sorted(values: Array, *_: object) -> tuple[Array, ...]:
    return (np.sort(values),)


@kernel("sorts", 2, 128, (1,), reference=_sorted)
def sort_ranks(rng: Rng) -> Arguments:
    return np.round(rng.standard_normal(200), 1), np.zeros(200), 200


def _merged(a: Array, b: Array, *_: object) -> tuple[Array, ...]:
    return (np.sort(np.concatenate([a, b])),)


@kernel("sorts", 1, 32, (2,), reference=_merged)
def merge_path(rng: Rng) -> Arguments:
    return np.sort(_integers(rng, 300)), np.sort(_integers(rng, 217)), np.zeros(517, I32), 300, 217


def _counted(values: Array, bins: Array, *_: int) -> tuple[Array, ...]:
    return (np.bincount(values, minlength=bins.size).astype(np.uint32),)


@kernel("histograms", 3, 256, (1,), reference=_counted)
def histogram(rng: Rng) -> Arguments:
    return rng.integers(0, 256, 5000, dtype=np.uint8), np.zeros(256, np.uint32), 5000


@kernel("histograms", 4, 128, (1,), reference=_counted)
def histogram_matched(rng: Rng) -> Arguments:
    return _integers(rng, 512, 0, 20), np.zeros(20, np.uint32)


@kernel("histograms", 4, 128, (1,), reference=_counted, exercises="votes in a loop that lanes leave one by one")
def histogram_divergent(rng: Rng) -> Arguments:
    return _integers(rng, 512, 0, 12), np.zeros(12, np.uint32)


def _transposed(values: Array, _: Array, rows: int, columns: int) -> tuple[Array, ...]:
    return (np.ascontiguousarray(values.reshape(rows, columns).T).ravel(),)


@kernel("transposes", (3, 2), (32, 8), (1,), reference=_transposed)
def transpose_padded(rng: Rng) -> Arguments:
    return rng.standard_normal(50 * 70, dtype=F32), np.zeros(50 * 70, F32), 50, 70


def _tiles_16(values: Array, _: Array) -> tuple[Array, ...]:
    return (np.ascontiguousarray(values.reshape(-1, 16, 16).transpose(0, 2, 1)).ravel(),)


@kernel("transposes", 4, 32, (1,), reference=_tiles_16)
def transpose_ldmatrix(rng: Rng) -> Arguments:
    return rng.integers(0, 65536, 1024, dtype=np.uint16), np.zeros(1024, np.uint16)


def _tiles_8(values: Array, _: Array) -> tuple[Array, ...]:
    tiles = values.view(np.uint16).reshape(-1, 8, 8).transpose(0, 2, 1)
    return (np.ascontiguousarray(tiles).ravel().view(np.uint32),)


@kernel("transposes", 3, 32, (1,), reference=_tiles_8)
def transpose_movmatrix(rng: Rng) -> Arguments:
    return rng.integers(0, 2**32, 96, dtype=np.uint32), np.zeros(96, np.uint32)


@kernel("transposes", 3, 32, (1,), architectures=("sm_90",))
def transpose_stmatrix(rng: Rng) -> Arguments:
    return rng.integers(0, 2**32, 384, dtype=np.uint32), np.zeros(384, np.uint32)


CASES: tuple[KernelCase, ...] = (
    reduce_shuffle,
    reduce_shared,
    reduce_redux,
    argmax,
    votes,
    scan_blelloch,
    scan_shuffle,
    scan_lookback,
    compact,
    sort_bitonic,
    sort_radix,
    sort_odd_even,
    sort_warp,
    sort_ranks,
    merge_path,
    histogram,
    histogram_matched,
    histogram_divergent,
    transpose_padded,
    transpose_ldmatrix,
    transpose_movmatrix,
    transpose_stmatrix,
)
