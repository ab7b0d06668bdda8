"""Right kernels of kinds that no law was made for are not accused: scans, gathers, norms, quantised blocks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

PTX = (Path(__file__).parent / "ptx" / "kinds.ptx").read_text()


class Case(NamedTuple):
    """A launch, its arguments, and what one of them must hold."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    args: list[Any]
    result: int
    wanted: NDArray[Any]


def _floats(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def _integers(low: int, high: int, shape: tuple[int, ...], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    return np.random.default_rng(sum(shape)).integers(low, high, shape).astype(dtype)


def _empty(*shape: int) -> NDArray[Any]:
    return np.zeros(shape, np.float32)


def _q8() -> Case:
    w, s, x = _integers(-9, 9, (24, 96), np.int8), _floats(24, 3), _floats(4, 96)
    return Case((3, 4), (32, 8), [w, s, x, _empty(4, 24), 24, 96], 3, x @ (w * s.repeat(32, axis=1)).T)


def _q4_zero() -> Case:
    w, z = _integers(0, 256, (64, 32), np.uint8), _integers(0, 256, (2, 16), np.uint8)
    s, x = _floats(2, 32).astype(np.float16), _floats(5, 128)
    q = np.stack((w & 15, w >> 4), axis=1).reshape(128, 32).astype(np.float32)
    zero = np.stack((z & 15, z >> 4), axis=-1).reshape(2, 32).astype(np.float32)
    wanted = x @ ((q - zero.repeat(64, axis=0)) * s.astype(np.float32).repeat(64, axis=0))
    return Case((5,), (32,), [w, s, z, x, _empty(5, 32), 32, 128], 4, wanted)


def _conv() -> Case:
    x, f = _floats(3, 14, 18), _floats(4, 3, 3, 3)
    padded = np.pad(x, ((0, 0), (2, 2), (2, 2)))
    taps = [[padded[:, r * 2 : r * 2 + 14 : 2, s * 2 : s * 2 + 18 : 2] for s in range(3)] for r in range(3)]
    wanted = np.einsum("rscyx,ocrs->oyx", np.array(taps), f)
    return Case((4,), (9, 7), [x, f, _empty(4, 7, 9), 3, 14, 18, 7, 9], 2, wanted)


def _grouped() -> Case:
    a, b, lengths = _floats(3, 6, 12), _floats(3, 12, 16), np.array([6, 2, 4], np.int32)
    wanted = (a @ b) * (np.arange(6) < lengths[:, None])[:, :, None]
    return Case((6, 1, 3), (16,), [a, b, lengths, _empty(3, 6, 16), 6, 16, 12], 3, wanted)


def _scan() -> Case:
    x = _floats(384)
    return Case((3,), (128,), [x, _empty(384), 384], 1, x.reshape(3, 128).cumsum(axis=1).ravel())


def _top2() -> Case:
    x = _floats(4, 96)
    return Case((4,), (32,), [x, _empty(4, 2), np.zeros((4, 2), np.int32), 96], 1, np.sort(x, axis=1)[:, :-3:-1])


def _bag() -> Case:
    e, i = _floats(40, 32), _integers(0, 40, (5, 4), np.int32)
    return Case((5,), (32,), [e, i, _empty(5, 32), 32, 4], 2, e[i].mean(axis=1))


def _layernorm() -> Case:
    x, g, b = _floats(5, 96), _floats(96), _floats(97)[1:].copy()
    wanted = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * g + b
    return Case((5,), (32,), [x, g, b, _empty(5, 96), 96], 3, wanted)


def _softmax() -> Case:
    x = _floats(5, 200)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return Case((5,), (128,), [x, _empty(5, 200), 200], 1, e / e.sum(axis=1, keepdims=True))


def _groupnorm() -> Case:
    x = _floats(5, 128)
    groups = x.reshape(5, 4, 32)
    normed = (groups - groups.mean(axis=2, keepdims=True)) / np.sqrt(groups.var(axis=2, keepdims=True) + 1e-5)
    return Case((5,), (32, 4), [x, _empty(5, 128), 128], 1, normed.reshape(5, 128))


def _workspace() -> Case:
    a, b = _floats(6, 48), _floats(48, 24)
    args = [a, b, _empty(3, 6, 24), np.zeros(6, np.uint32), _empty(6, 24), 6, 24, 48, 16]
    return Case((6, 1, 3), (24,), args, 4, a @ b)


def _stream() -> Case:
    a, b = _floats(6, 48), _floats(48, 24)
    return Case((5,), (24,), [a, b, _empty(6, 24), 6, 24, 48, 8, 36], 2, a @ b)


def _q8_mma() -> Case:
    a, b = _integers(-9, 9, (32, 96), np.int8), _integers(-9, 9, (16, 96), np.int8)
    sa, sb = _floats(32, 3).astype(np.float16), _floats(16, 3).astype(np.float16)
    left, right = (q * s.astype(np.float32).repeat(32, axis=1) for q, s in ((a, sa), (b, sb)))
    return Case((2, 2), (32,), [a, b, sa, sb, _empty(32, 16), 16, 96], 4, left @ right.T)


CASES: dict[str, Callable[[], Case]] = {
    "q8": _q8, "q4_zero": _q4_zero, "conv": _conv, "grouped": _grouped, "scan": _scan, "top2": _top2, "bag": _bag,
    "layernorm": _layernorm, "softmax": _softmax, "groupnorm": _groupnorm, "splitk_ws": _workspace,
    "streamk": _stream, "q8_mma": _q8_mma,
}  # fmt: skip
CLEAN = frozenset({"q8", "streamk", "q8_mma"})
"""Those that the laws judge as a whole; what they do not judge of the others is said."""


@pytest.mark.parametrize("kernel", CASES)
def test_no_right_kernel_of_an_unusual_kind_is_accused(kernel: str) -> None:
    case = CASES[kernel]()
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    record = made.launch(case.grid, case.block, case.args, provenance=True, threads=1).provenance
    assert record is not None
    np.testing.assert_allclose(case.args[case.result], case.wanted, rtol=1e-3, atol=1e-3)
    found = examine(record)
    assert found.found == ()
    assert found.verdict == ("clean" if kernel in CLEAN else "unjudged")
    assert bool(found.unjudged) == (kernel not in CLEAN)
