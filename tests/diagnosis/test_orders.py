"""Arrays in an order of their own are no accusation, and of two factors that may be wrong neither is called certain."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis import Examination

PTX: Final = (Path(__file__).parent / "ptx" / "orders.ptx").read_text()
M, N, K = 32, 32, 64
BITS: Final = tuple([("k", bit) for bit in range(6)] + [("n", bit) for bit in range(5)])
PER: Final = {"words": 8, "bytes": 1}
_ANY: list[int] = np.random.default_rng(5).permutation(11).tolist()
ORDERS: Final = {
    "by columns": BITS,
    "by rows": BITS[6:] + BITS[:6],
    "blocks of eight columns": BITS[:3] + BITS[6:9] + BITS[3:6] + BITS[9:],
    "fragments": tuple(BITS[n] for n in (3, 9, 0, 1, 2, 6, 7, 8, 4, 5, 10)),
    "columns interleaved": tuple(BITS[n] for n in (7, 8, 6, 9, 10, 0, 1, 2, 3, 4, 5)),
    "tiles of k turned": tuple(BITS[n] for n in (0, 1, 2, 3, 5, 4, 6, 7, 8, 9, 10)),
    "any": tuple(BITS[n] for n in _ANY),
}
BLAMED: Final = {1: ("A", "B"), 2: ("A",), 3: ("B",), 4: ("B",), 5: ("A", "C")}
"""By bug the arrays that may be blamed for it, of which one alone for certain."""


def _shapes(kernel: str) -> list[tuple[int, ...]]:
    count = K * N // PER[kernel]
    return [(count,), (count // 4, 4), (count // 64, 4, 4, 4)]


def _examined(kernel: str, order: str, shape: tuple[int, ...], bug: int = 0) -> Examination:
    rng = np.random.default_rng(1)
    a = rng.integers(-3, 4, (M, K)).astype(np.float16)
    weights = rng.integers(-7, 8, (K, N))
    places = {name: [0] * 8 for name in "kn"}
    for place, (name, bit) in enumerate(ORDERS[order]):
        places[name][bit] = place
    k, n = np.meshgrid(np.arange(K), np.arange(N), indexing="ij")
    at = np.zeros_like(k)
    for place, (name, bit) in enumerate(ORDERS[order]):
        at |= ({"k": k, "n": n}[name] >> bit & 1) << place
    flat = np.zeros(K * N, np.int64)
    flat[at.ravel()] = weights.ravel() + 8 * (PER[kernel] > 1)
    packed = (flat.reshape(-1, PER[kernel]) << 4 * np.arange(PER[kernel])).sum(axis=1)
    b = packed.astype(np.uint32 if kernel == "words" else np.int8).reshape(shape)
    c = np.zeros((M, N), np.float32)
    given = np.array(places["k"] + places["n"], np.int32).view(np.uint8)
    found = _run(kernel, "ABC", (N // 8, M // 16), [a, b, c, N, K, given, bug])
    assert np.array_equal(c, a.astype(np.float32) @ weights.astype(np.float32)) == (not bug)
    return found


def _run(kernel: str, names: str, grid: tuple[int, ...], args: list[Any]) -> Examination:
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(grid, 32, args, provenance=True, threads=1).provenance
    assert record is not None
    return examine(record, names=dict(enumerate(names)))


@pytest.mark.sample(every=6)
@pytest.mark.parametrize(
    ("kernel", "order", "shape"),
    [(kernel, order, shape) for kernel in PER for order in ORDERS for shape in _shapes(kernel)],
)
def test_an_order_that_nobody_knows_is_no_mistake(kernel: str, order: str, shape: tuple[int, ...]) -> None:
    assert _examined(kernel, order, shape).found == ()


@pytest.mark.sample(every=12)
@pytest.mark.parametrize(("kernel", "order", "bug"), list(product(PER, ORDERS, BLAMED)))
def test_what_is_certain_of_an_order_that_nobody_knows_is_right(kernel: str, order: str, bug: int) -> None:
    found = _examined(kernel, order, _shapes(kernel)[bug % 3], bug)
    certain = {one.array for one in found.found if one.certain and one.operand}
    assert found.verdict != "clean"
    assert certain <= (set(BLAMED[bug]) if len(BLAMED[bug]) == 1 else set())


def _attention(late: int) -> Examination:
    rng = np.random.default_rng(2)
    factors: list[NDArray[Any]] = [rng.normal(size=(48, 16)).astype(np.float16) for _ in "QKV"]
    return _run("attention", "QKVO", (3,), [*factors, np.zeros((48, 16), np.float32), late])


def test_the_maximum_of_a_masked_row_stands_for_no_score() -> None:
    assert _attention(0).found == ()


def test_weights_and_values_of_two_tiles_are_told_at_the_values_and_not_for_certain() -> None:
    first, *others = _attention(1).found
    assert (first.cause, first.array) == ("k-tile-mismatch", "V")
    assert not any(one.certain for one in (first, *others))


def test_words_of_which_the_first_element_alone_is_noted_lack_nothing() -> None:
    rng = np.random.default_rng(3)
    a, w = rng.integers(-9, 9, (32, 96)).astype(np.int8), rng.integers(0, 256, (32, 48)).astype(np.uint8)
    c = np.zeros(32, np.float32)
    found = _run("nibbles", "AWC", (1,), [a, w, c, 96])
    parts = np.concatenate([w.reshape(32, 3, 16) & 15, w.reshape(32, 3, 16) >> 4], axis=2).reshape(32, 96)
    assert np.array_equal(c, (a.astype(int) * parts).sum(axis=1))
    assert (found.found, found.verdict) == ((), "unjudged")
