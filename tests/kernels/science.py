"""Images, physics, graphs, dense linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernels.case import Arguments, Array, KernelCase, kernel

Rng = np.random.Generator
I32, F32, F64 = np.int32, np.float32, np.float64


def _normal(rng: Rng, size: int) -> Array:
    return rng.standard_normal(size, dtype=F32)


def _convolved(values: Array, taps: Array, *_: object) -> tuple[Array, ...]:
    return (np.correlate(values.astype(F64), taps.astype(F64), "same").astype(F32),)


@kernel("images", 4, 128, (2,), reference=_convolved, reference_tolerance=1e-6)
def convolve_1d(rng: Rng) -> Arguments:
    return _normal(rng, 500), _normal(rng, 15), np.zeros(500, F32), 500


def _blurred(values: Array, _: Array, width: int, height: int) -> tuple[Array, ...]:
    padded = np.pad(values.reshape(height, width).astype(F64), 1, "edge")
    taps = np.outer([1, 2, 1], [1, 2, 1]) / 16
    rows = sum(taps[j, i] * padded[j : j + height, i : i + width] for j in range(3) for i in range(3))
    return (np.asarray(rows, F32).ravel(),)


@kernel("images", (3, 5), (16, 8), (1,), reference=_blurred, reference_tolerance=1e-6)
def convolve_2d(rng: Rng) -> Arguments:
    return _normal(rng, 40 * 36), np.zeros(40 * 36, F32), 40, 36


def _edges(values: Array, out: Array, width: int, height: int) -> tuple[Array, ...]:
    p = values.reshape(height, width).astype(I32)
    right, left = p[:, 2:], p[:, :-2]
    gx = (right - left)[:-2] + 2 * (right - left)[1:-1] + (right - left)[2:]
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    found = np.zeros((height, width), np.uint8)
    found[1:-1, 1:-1] = np.minimum(np.sqrt((gx * gx + gy * gy).astype(F32)).astype(I32), 255)
    return (found.ravel(),)


@kernel("images", (3, 5), (16, 8), (1,), reference=_edges)
def sobel(rng: Rng) -> Arguments:
    return rng.integers(0, 256, 40 * 36, dtype=np.uint8), np.zeros(40 * 36, np.uint8), 40, 36


@kernel("images", 2, 128, (2,))
def differences(rng: Rng) -> Arguments:
    words = rng.integers(0, 2**32, (2, 200), dtype=np.uint32)
    return words[0].copy(), words[1].copy(), np.zeros(200, np.uint32), 200


@kernel("images", (3, 6), (16, 8), (0,), exercises="a divergent loop")
def mandelbrot(_: Rng) -> Arguments:
    return np.zeros(48 * 48, np.uint16), 48, 48, 200


def _lived(board: Array, _: Array, width: int, height: int, rounds: int) -> tuple[Array, ...]:
    now = board.reshape(height, width).astype(I32)
    for _round in range(rounds):
        around = sum(np.roll(now, (j, i), (0, 1)) for j in (-1, 0, 1) for i in (-1, 0, 1)) - now
        now = ((around == 3) | ((around == 2) & (now == 1))).astype(I32)
    return (now.astype(np.uint8).ravel(),)


@kernel("images", 1, (32, 32), (1,), reference=_lived)
def life(rng: Rng) -> Arguments:
    return rng.integers(0, 2, 1024, dtype=np.uint8), np.zeros(1024, np.uint8), 32, 32, 10


def _transformed(data: Array, _: Array) -> tuple[Array, ...]:
    complex_rows = data.astype(F64).view(np.complex128).reshape(-1, 256)
    return (np.fft.fft(complex_rows, axis=1).ravel().view(F64).astype(F32),)


@kernel("physics", 2, 128, (0,), reference=_transformed, reference_tolerance=1e-5)
def fft(rng: Rng) -> Arguments:
    return _normal(rng, 1024), np.exp(-2j * np.pi * np.arange(128) / 256).astype(np.complex64).view(F32)


def _attracted(bodies: Array, _: Array, __: int, step: float) -> tuple[Array, ...]:
    b = bodies.reshape(-1, 4).astype(F64)
    apart = b[None, :, :3] - b[:, None, :3]
    distance = (apart**2).sum(2) + 0.01
    pull = (b[None, :, 3] / distance**1.5)[:, :, None] * apart
    return (np.concatenate([b[:, :3] + pull.sum(1) * step, b[:, 3:]], 1).astype(F32).ravel(),)


@kernel("physics", 3, 64, (1,), reference=_attracted, reference_tolerance=1e-5)
def nbody(rng: Rng) -> Arguments:
    return rng.uniform(0, 1, 192 * 4).astype(F32), np.zeros(192 * 4, F32), 192, 0.001


def _smoothed(values: Array, _: Array, n: int) -> tuple[Array, ...]:
    cube = np.pad(values.reshape(n, n, n), 1)
    inner = cube[1:-1, 1:-1, 1:-1]
    around = sum(np.roll(cube, s, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for s in (-1, 1))
    return ((inner + 0.125 * (around - 6 * inner)).ravel(),)


@kernel("physics", 3, (12, 4), (1,), reference=_smoothed, reference_tolerance=1e-13)
def stencil_3d(rng: Rng) -> Arguments:
    return rng.standard_normal(12**3), np.zeros(12**3), 12


def _cooled(plate: Array, rounds: int) -> tuple[Array, ...]:
    now = np.pad(plate.reshape(16, 16).astype(F64), 1)
    for _ in range(rounds):
        inner = 0.25 * (now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:])
        now = np.pad(inner, 1)
    return (now[1:-1, 1:-1].astype(F32).ravel(),)


@kernel("physics", 1, (16, 16), (0,), reference=_cooled, reference_tolerance=1e-5)
def heat(rng: Rng) -> Arguments:
    return rng.uniform(0, 100, 256).astype(F32), 25


SCENE = np.dtype([("spheres", F32, (3, 4)), ("background", F32), ("width", I32)])


@kernel("physics", (2, 2), (16, 16), (1,), exercises="a structure by value")
def spheres(_: Rng) -> Arguments:
    placed = [[0, 0, 5, 2], [1, -1, 3, 0.5], [-2, 1.5, 6, 1.5]]
    scene = np.array([(placed, -1.0, 32)], dtype=SCENE)[0]
    return scene, np.zeros(1024, F32)


@kernel("physics", 2, 128, (3, 4), tolerance=2e-6)
def options(rng: Rng) -> Arguments:
    spot, strike, years = (rng.uniform(low, high, 200).astype(F32) for low, high in ((20, 80), (30, 60), (0.1, 3)))
    return spot, strike, years, np.zeros(200, F32), np.zeros(200, F32), 0.03, 0.25, 200


def _sparse(rng: Rng, rows: int, dtype: Any) -> tuple[Array, Array, Array, Array]:
    counts = rng.integers(0, 90, rows) * (rng.uniform(size=rows) < 0.7)
    starts = np.concatenate([[0], counts.cumsum()]).astype(I32)
    columns = rng.integers(0, rows, int(starts[-1]), dtype=I32)
    return starts, columns, rng.standard_normal(int(starts[-1])).astype(dtype), rng.standard_normal(rows).astype(dtype)


def _spmv(  # noqa: PLR0917 - the kernel's parameters
    rows: Array, columns: Array, values: Array, x: Array, y: Array, n: int
) -> tuple[Array, ...]:
    products = values.astype(F64) * x[columns]
    sums = [products[rows[r] : rows[r + 1]].sum() for r in range(n)]
    return (np.array(sums).astype(y.dtype),)


@kernel("graphs", 15, 128, (4,), reference=_spmv, reference_tolerance=1e-5)
def spmv_csr(rng: Rng) -> Arguments:
    return *_sparse(rng, 60, F32), np.zeros(60, F32), 60


@kernel("graphs", 2, 64, (4,), reference=_spmv, reference_tolerance=1e-13)
def spmv_scalar(rng: Rng) -> Arguments:
    return *_sparse(rng, 100, F64), np.zeros(100), 100


def _levels(rows: Array, columns: Array, _: Array, n: int) -> tuple[Array, ...]:
    level, frontier, depth = np.full(n, -1, I32), [0], 0
    level[0] = 0
    while frontier:
        depth += 1
        reached = {int(c) for r in frontier for c in columns[rows[r] : rows[r + 1]] if level[c] < 0}
        level[sorted(reached)] = depth
        frontier = sorted(reached)
    return (level,)


@kernel("graphs", 1, 64, (2,), reference=_levels)
def breadth_first(rng: Rng) -> Arguments:
    starts = np.concatenate([[0], rng.integers(0, 4, 200).cumsum() + 1]).astype(I32)
    return starts, rng.integers(0, 200, int(starts[-1]), dtype=I32), np.zeros(200, I32), 200


def _components(parent: Array, edges: Array, *_: int) -> tuple[Array, ...]:
    found = parent.copy()
    for _round in range(found.size):
        before = found.copy()
        for a, b in edges.reshape(-1, 2):
            found[a] = found[b] = min(found[a], found[b])
        if (before == found).all():
            break
    return (found,)


@kernel("graphs", 1, 128, (0,), reference=_components, exercises="compare and swap in a loop")
def union_find(rng: Rng) -> Arguments:
    return np.arange(150, dtype=I32), rng.integers(0, 150, 240, dtype=I32), 120, 150


def _shortest(distance: Array, n: int) -> tuple[Array, ...]:
    d = distance.reshape(n, n).copy()
    for k in range(n):
        d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
    return (d.ravel(),)


@kernel("graphs", 1, (24, 8), (0,), reference=_shortest)
def floyd_warshall(rng: Rng) -> Arguments:
    distance = rng.integers(1, 100, (24, 24), dtype=I32)
    distance[rng.uniform(size=(24, 24)) < 0.7] = 10000
    np.fill_diagonal(distance, 0)
    return distance.ravel(), 24


@kernel("graphs", 2, 128, (2, 3, 4))
def kmeans(rng: Rng) -> Arguments:
    return _normal(rng, 400), _normal(rng, 10), np.zeros(200, I32), np.zeros(5, I32), np.zeros(10, np.uint64), 200, 5


def _edits(a: Array, b: Array, _: Array, n: int) -> tuple[Array, ...]:
    found: list[int] = []
    for left, right in zip(a.reshape(-1, n), b.reshape(-1, n), strict=True):
        row = list(range(n + 1))
        for i in range(n):
            above = row
            row = [i + 1]
            for j in range(n):
                row.append(min(above[j] + int(left[i] != right[j]), above[j + 1] + 1, row[j] + 1))
        found.append(row[n])
    return (np.array(found, I32),)


@kernel("graphs", 2, 64, (2,), reference=_edits)
def edit_distance(rng: Rng) -> Arguments:
    return rng.integers(97, 101, 100, dtype=np.int8), rng.integers(97, 101, 100, dtype=np.int8), np.zeros(2, I32), 50


def _packed(weights: Array, values: Array, _: Array, __: int, capacity: int) -> tuple[Array, ...]:
    best = np.zeros(capacity + 1, I32)
    for weight, value in zip(weights, values, strict=True):
        taken = np.concatenate([np.zeros(weight, I32), best[:-weight] + value])
        best = np.maximum(best, taken)
    return (best,)


@kernel("graphs", 1, 256, (2,), shared_bytes=1024, reference=_packed)
def knapsack(rng: Rng) -> Arguments:
    return rng.integers(5, 40, 20, dtype=I32), rng.integers(1, 99, 20, dtype=I32), np.zeros(201, I32), 20, 200


def _sieved(composite: Array, n: int) -> tuple[Array, ...]:
    bits = [any(m % p == 0 for p in range(2, int(m**0.5) + 1)) for m in range(n)]
    return (np.packbits(bits, bitorder="little").view(np.uint32),)


@kernel("graphs", 1, 128, (0,), reference=_sieved)
def sieve(_: Rng) -> Arguments:
    return np.zeros(64, np.uint32), 2048


def _product(a: Array, b: Array, c: Array, n: int, k: int) -> tuple[Array, ...]:
    return ((a.reshape(-1, k).astype(F64) @ b.reshape(k, n).astype(F64)).astype(c.dtype).ravel(),)


@kernel("dense", (2, 3), 64, (2,), reference=_product, reference_tolerance=1e-6)
def sgemm_registers(rng: Rng) -> Arguments:
    return _normal(rng, 96 * 40), _normal(rng, 40 * 64), np.zeros(96 * 64, F32), 64, 40


def _times(matrix: Array, x: Array, y: Array, _: int) -> tuple[Array, ...]:
    return ((matrix.reshape(y.size, -1).astype(F64) @ x.astype(F64)).astype(F32),)


@kernel("dense", 6, (32, 8), (2,), reference=_times, reference_tolerance=1e-5)
def matvec(rng: Rng) -> Arguments:
    return _normal(rng, 48 * 200), _normal(rng, 200), np.zeros(48, F32), 50


def _factored(matrices: Array, n: int) -> tuple[Array, ...]:
    found = matrices.reshape(-1, n, n).copy()
    for a in found:
        for k in range(n - 1):
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return (found.ravel(),)


@kernel("dense", 3, (16, 16), (0,), reference=_factored, reference_tolerance=1e-12)
def lu(rng: Rng) -> Arguments:
    return (rng.standard_normal((3, 16, 16)) + 8 * np.eye(16)).ravel(), 16


def _lower(matrix: Array, n: int) -> tuple[Array, ...]:
    return (np.linalg.cholesky(matrix.reshape(n, n).astype(F64)).astype(F32).ravel(),)


@kernel("dense", 1, 64, (0,), shared_bytes=4 * 40 * 40, reference=_lower, reference_tolerance=1e-5)
def cholesky(rng: Rng) -> Arguments:
    root = rng.standard_normal((40, 40))
    return (root @ root.T + 10 * np.eye(40)).astype(F32).ravel(), 40


def _solved(below: Array, diagonal: Array, above: Array, right: Array, _: Array, n: int) -> tuple[Array, ...]:
    found: list[Array] = []
    for s in range(0, right.size, n):
        b, d, a = below[s + 1 : s + n], diagonal[s : s + n], above[s : s + n - 1]
        found.append(np.linalg.solve(np.diag(d) + np.diag(b, -1) + np.diag(a, 1), right[s : s + n]))
    return (np.concatenate(found),)


@kernel("dense", 1, 32, (4,), reference=_solved, reference_tolerance=1e-12, exercises="local memory")
def tridiagonal(rng: Rng) -> Arguments:
    below, above, right = (rng.standard_normal(32 * 20) for _ in range(3))
    return below, rng.uniform(4, 6, 32 * 20), above, right, np.zeros(32 * 20), 20


def _normalised(values: Array, gain: Array, shift: Array, _: Array, n: int) -> tuple[Array, ...]:
    rows = values.reshape(-1, n).astype(F64)
    centred = rows - rows.mean(1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    return ((scaled * gain + shift).astype(F32).ravel(),)


@kernel("dense", 3, 128, (3,), reference=_normalised, reference_tolerance=1e-5)
def layer_norm(rng: Rng) -> Arguments:
    return _normal(rng, 600), _normal(rng, 200), _normal(rng, 200), np.zeros(600, F32), 200


def _softened(values: Array, _: Array, n: int) -> tuple[Array, ...]:
    rows = values.reshape(-1, n).astype(F64)
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return ((powers / powers.sum(1, keepdims=True)).astype(F32).ravel(),)


@kernel("dense", 4, 32, (1,), reference=_softened, reference_tolerance=1e-5, tolerance=1e-6)
def softmax(rng: Rng) -> Arguments:
    return _normal(rng, 400), np.zeros(400, F32), 100


CASES: tuple[KernelCase, ...] = (
    convolve_1d,
    convolve_2d,
    sobel,
    differences,
    mandelbrot,
    life,
    fft,
    nbody,
    stencil_3d,
    heat,
    spheres,
    options,
    spmv_csr,
    spmv_scalar,
    breadth_first,
    union_find,
    floyd_warshall,
    kmeans,
    edit_distance,
    knapsack,
    sieve,
    sgemm_registers,
    matvec,
    lu,
    cholesky,
    tridiagonal,
    layer_norm,
    softmax,
)
