"""Bugs that people reported in public, rebuilt from their words: each kernel as it should be, and as it was reported.

The lines that a person would change end in `// here`; they, and the cause that the report gives in our words, were
written down before `why` was asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from diagnosis.planted.model import Array

FOLDER: Final = Path(__file__).parent
_MARK: Final = "// here"


@dataclass(frozen=True, slots=True)
class Report:
    """A bug that was reported.

    Args:
        name: The source under `src`, without its suffix.
        entry: The kernel.
        make: Gives what is multiplied from a generator of random numbers.
        shape: Of the result.
        names: What the arguments are called, the result behind what is multiplied.
        grid: CTAs.
        block: Threads.
        reference: What the result should be, of what is multiplied.
        causes: Those of which one must be named, or rules of tools.
        numbers: The arguments behind the result.
        says: What is computed, as a launch file says it.
        shared_bytes: Dynamic shared memory.
    """

    name: str
    entry: str
    make: Callable[[np.random.Generator], tuple[Array, ...]]
    shape: tuple[int, ...]
    names: str
    grid: tuple[int, ...]
    block: int | tuple[int, ...]
    reference: Callable[..., Array]
    causes: frozenset[str]
    numbers: tuple[int, ...] = ()
    says: str | None = None
    shared_bytes: int = 0

    @property
    def lines(self) -> frozenset[int]:
        """The lines of the source that a person would change."""
        text = (FOLDER / "src" / f"{self.name}.cu").read_text().split("\n")
        return frozenset(number for number, line in enumerate(text, 1) if line.endswith(_MARK))

    def ptx(self, version: str) -> str:
        """What nvcc made of it: `right`, or `faulty`."""
        return (FOLDER / "ptx" / f"{self.name}-{version}.ptx").read_text()


def _of(dtype: Any, *shapes: tuple[int, ...]) -> Callable[[np.random.Generator], tuple[Array, ...]]:
    return lambda rng: tuple(rng.integers(-4, 5, shape).astype(dtype) for shape in shapes)


def _normal(rng: np.random.Generator) -> tuple[Array, ...]:
    return tuple(rng.standard_normal((32, 16)).astype(np.float16) for _ in range(3))


def _by_transpose(a: Array, b: Array) -> Array:
    return a.astype(np.float32) @ b.astype(np.float32).T


def _product(a: Array, b: Array) -> Array:
    return a.astype(np.float32) @ b.astype(np.float32)


def _attention(q: Array, k: Array, v: Array) -> Array:
    weights = np.exp(_by_transpose(q, k) / 4)
    return _product(weights / weights.sum(axis=1, keepdims=True), v)


def _scaled(q: Array, k: Array) -> Array:
    return _by_transpose(q, k) / 8


_NT: Final = "C = A @ B.T"
_OF_SCORES: Final = "S = Q @ K.T"

REPORTS: Final = (
    Report(
        "doubled_register", "product", _of(np.float16, (32, 64), (32, 64)), (32, 32), "ABCnk", (4, 2), 32,
        _by_transpose, frozenset({"registers-exchanged"}), (32, 64), _NT,
    ),
    Report(
        "attention_repack", "attention", _normal, (32, 16), "QKVO", (2,), 32,
        _attention, frozenset({"registers-exchanged"}),
    ),
    Report(
        "ldmatrix_origin", "product", _of(np.float16, (32, 32), (16, 32)), (32, 16), "ABCnk", (2, 2), 32,
        _by_transpose, frozenset({"rows-repeated", "matrices-exchanged"}), (16, 32), _NT,
    ),
    Report(
        "swizzle_one_side", "scores", _of(np.float16, (64, 64), (64, 64)), (64, 64), "QKSn", (2, 1), 128,
        _by_transpose, frozenset({"swizzle-mismatch"}), (64,), _OF_SCORES,
    ),
    Report(
        "swizzle_width", "scores", _of(np.float16, (32, 32), (64, 32)), (32, 64), "QKSn", (2, 1), 64,
        _by_transpose, frozenset({"swizzle-mismatch"}), (64,), _OF_SCORES,
    ),
    Report(
        "narrow_warps", "product", _of(np.float16, (16, 32), (104, 32)), (16, 104), "ABCnk", (1,), 128,
        _by_transpose, frozenset({"not-copied"}), (104, 32), _NT,
    ),
    Report(
        "k_tail", "product", _of(np.float16, (32, 40), (16, 40)), (32, 16), "ABCnk", (2, 2), 32,
        _by_transpose, frozenset({"k-missing"}), (16, 40), _NT,
    ),
    Report(
        "tail_buffer", "product", _of(np.float32, (32, 80), (80, 32)), (32, 32), "ABCnk", (2, 2), (16, 16),
        _product, frozenset({"k-twice", "k-missing", "k-tile-mismatch"}), (32, 80), "C = A @ B",
    ),
    Report(
        "score_pitch", "scores", _of(np.int8, (16, 64), (32, 64)), (16, 32), "QKS", (1,), 32,
        _scaled, frozenset({"pitch-mismatch"}),
    ),
    Report(
        "gemv_tail", "gemv", _of(np.float32, (8, 160), (160,)), (8,), "Axyk", (8,), 32,
        _product, frozenset({"k-missing"}), (160,), "y = A @ x",
    ),
    Report(
        "reused_tile", "product", _of(np.float16, (32, 64), (64, 16)), (32, 16), "ABCk", (1,), 64,
        _product, frozenset({"racecheck.write-after-read"}), (64,), "C = A @ B",
    ),
    Report(
        "warpgroup_rows", "product", _of(ml_dtypes.bfloat16, (256, 64), (8, 64)), (256, 8), "ABC", (1,), 256,
        _by_transpose, frozenset({"tile-exchanged"}), (), _NT, 264 * 128,
    ),
    Report(
        "sliced_panel", "product", _of(ml_dtypes.bfloat16, (64, 128), (16, 128)), (64, 16), "ABC", (1,), 128,
        _by_transpose, frozenset({"descriptor"}), (), _NT, 80 * 256,
    ),
)  # fmt: skip
