"""Arrays against what they should be: what is wrong, by which tolerance, and in what words."""

from __future__ import annotations

import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ptxloom as pl
from ptxloom.comparison.rounding import Precision, eps_of_type
from ptxloom.views.core.json_text import to_text
from ptxloom.views.runs import comparison_reports

RNG = np.random.default_rng(5)
_START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def _same_numbers_in_any_order() -> None:
    RNG.bit_generator.state = _START


def test_one_large_element_hides_no_other() -> None:
    """A difference is judged beside its own element, not beside the largest of the array."""
    wanted = RNG.standard_normal((64, 64)).astype(np.float32)
    wanted[0, 0] = 1e6
    got = RNG.standard_normal((64, 64)).astype(np.float32)
    got[0, 0] = 1e6
    found = pl.comparison.compare(got, wanted, rtol=1e-3, atol=0)
    assert found.wrong > 4000
    assert not found.passed
    assert found.first is not None
    assert found.first.index == (0, 1)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("length", [1, 16, 300])
def test_what_rounding_explains_is_right_and_what_it_does_not_is_wrong(dtype: Any, length: int) -> None:
    a, b = (RNG.standard_normal((40, length)).astype(dtype).astype(np.float64) for _ in range(2))
    wanted = a @ b.T
    sums = np.float64 if dtype is np.float64 else np.float32
    steps = np.zeros((40, 40), sums)
    for k in range(length):
        steps = (steps + (a[:, k, None] * b[None, :, k]).astype(sums)).astype(sums)
    assert pl.comparison.compare(steps.astype(dtype), wanted).passed
    missing = (wanted - a[:, :1] @ b[:, :1].T).astype(dtype)
    assert pl.comparison.compare(missing, wanted).wrong > 200  # of 1,600; 8 bits of a long sum tell the least


def test_narrow_accumulators_are_allowed_what_they_lose() -> None:
    a = RNG.standard_normal((32, 64)).astype(np.float16)
    sums = np.zeros((32, 32), np.float16)
    for k in range(64):
        sums += a[:, k, None] * a[None, :, k]
    wanted = a.astype(np.float64) @ a.T.astype(np.float64)
    assert not pl.comparison.compare(sums, wanted, precision=Precision("f32")).passed
    assert pl.comparison.compare(sums, wanted, precision=Precision("f16")).passed


def test_sums_coarser_than_the_array_are_a_verdict_of_their_own_unless_they_are_meant() -> None:
    a = RNG.standard_normal((32, 64)).astype(np.float16)
    sums = np.zeros((32, 32), np.float16)
    for k in range(64):
        sums += a[:, k, None] * a[None, :, k]
    got, wanted = sums.astype(np.float32), a.astype(np.float64) @ a.T.astype(np.float64)
    found = pl.comparison.compare(got, wanted, precision=Precision("f16"))
    assert found.wrong > 900  # of 1,024
    assert found.downgrade is not None
    assert (found.downgrade.sums, found.downgrade.wanted, found.tolerance.sums) == ("f16", "f32", "f32")
    assert comparison_reports.full(found).startswith("DOWNGRADE: ")
    assert comparison_reports.record(found).passed is False
    meant = pl.comparison.compare(got, pl.comparison.Reference(wanted, accumulate="f16"), precision=Precision("f16"))
    assert (meant.passed, meant.downgrade) == (True, None)
    off = pl.comparison.compare(got + np.float32(16), wanted, precision=Precision("f16"))
    assert (off.passed, off.downgrade) == (False, None)
    assert pl.comparison.compare(got, wanted, rtol=0.1, atol=0.1, precision=Precision("f16")).passed


@pytest.mark.parametrize("kind", [np.int8, np.uint32, np.int64, np.bool_, ml_dtypes.int4])
def test_integers_must_be_equal(kind: Any) -> None:
    values = np.ones((4, 4), kind)
    assert pl.comparison.compare(values, values.copy()).passed
    other = values.copy()
    other[2, 1] = 0
    found = pl.comparison.compare(values, other)
    assert (found.wrong, found.tolerance.is_exact) == (1, True)
    assert found.first is not None
    assert (found.first.index, found.first.got, found.first.wanted) == ((2, 1), 1, 0)


def test_large_integers_are_told_exactly() -> None:
    values = np.array([2**63 - 1, 5], np.int64)
    found = pl.comparison.compare(values, np.array([2**63 - 2, 5]))
    assert found.first is not None
    assert (found.wrong, found.first.got, found.first.wanted) == (1, 2**63 - 1, 2**63 - 2)


def test_equal_bits_tell_zeros_and_nans_apart() -> None:
    values = np.array([0.0, np.nan, 1.0], np.float32)
    assert pl.comparison.compare(values, values.copy(), rtol=0, atol=0).passed
    assert pl.comparison.compare(values, -values, rtol=0, atol=0).wrong == 3
    assert pl.comparison.compare(values[:2], -values[:2]).passed


def test_what_is_no_number_is_counted_apart() -> None:
    wanted = np.array([1.0, 2.0, np.nan, np.inf, np.inf, 3.0])
    got = np.array([np.nan, np.inf, np.nan, np.inf, -np.inf, 3.0])
    found = pl.comparison.compare(got, wanted)
    assert (found.wrong, found.nans, found.infinities) == (3, 1, 1)
    assert found.largest is None
    assert found.first is not None
    assert np.isnan(found.first.got)
    record = json.loads(to_text(comparison_reports.record(found)))
    assert record["first"]["got"] == "nan"
    assert "1 NaN and 1 infinite" in comparison_reports.full(found)


@pytest.mark.parametrize("options", [{}, {"rtol": 0.1}, {"rtol": 0.1, "atol": 1.0}, {"rtol": 0.0, "atol": 0.0}])
def test_an_infinity_is_right_only_where_it_is_wanted_whatever_is_allowed(options: dict[str, Any]) -> None:
    wanted, got = np.meshgrid([np.inf, -np.inf, 1.0], [np.inf, -np.inf, 1.0])
    found = pl.comparison.compare(got, wanted, **options)
    assert found.wrong == 6
    assert pl.comparison.compare(wanted, wanted.copy(), **options).passed


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_doubles_are_not_allowed_the_rounding_of_floats(dtype: Any) -> None:
    wanted = RNG.standard_normal(100).astype(dtype)
    narrow = np.complex64 if dtype is np.complex128 else np.float32
    assert pl.comparison.compare(wanted.astype(narrow).astype(dtype), wanted).wrong > 90
    assert pl.comparison.compare(wanted * (1 + 2.0**-52), wanted).passed


def test_what_differs_nearly_everywhere_is_counted() -> None:
    wanted = np.ones((10, 10), np.float32)
    got = wanted + 1
    assert pl.comparison.compare(got, wanted).patterns[0].sentence == "every element"
    got[np.arange(5), np.arange(5)] = 1
    assert pl.comparison.compare(got, wanted).patterns[0].sentence == "95 of all 100 elements"


@pytest.mark.parametrize("shape", [(), (0,), (0, 4), (3, 0, 2), (1,), (1, 1)])
def test_arrays_of_every_shape_are_compared(shape: tuple[int, ...]) -> None:
    values = np.ones(shape, np.float32)
    assert pl.comparison.compare(values, values.copy()).passed
    found = pl.comparison.compare(values, values + 1)
    assert found.wrong == found.total
    assert comparison_reports.full(found)


@pytest.mark.parametrize(
    ("wanted", "options", "says"),
    [
        (np.ones((2, 3)), {}, r"the shape of the reference is \[2, 3\]; it must be \[2, 2\], that of C"),
        (np.ones((2, 2), np.complex64), {}, "the type of the reference"),
        (np.full((2, 2), "x"), {}, "the type of the reference"),
        (np.ones((2, 2)), {"rtol": -1}, "rtol is -1"),
        (np.ones((2, 2)), {"atol": float("nan")}, "atol is nan"),
        (np.ones((2, 2)), {"rtol": "much"}, "rtol is 'much'"),
    ],
)
def test_what_cannot_be_compared_is_refused(wanted: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(pl.UsageError, match=says):
        pl.comparison.compare(np.ones((2, 2)), wanted, name="C", **options)


def test_every_type_of_ptx_has_a_spacing() -> None:
    spacings = {name: eps_of_type(name) for name in ("f64", "f32", "tf32", "f16", "bf16", "e4m3", "e5m2", "e2m1")}
    assert spacings == {
        "f64": 2.0**-52, "f32": 2.0**-23, "tf32": 2.0**-10, "f16": 2.0**-10, "bf16": 2.0**-7, "e4m3": 2.0**-3,
        "e5m2": 2.0**-2, "e2m1": 2.0**-1,
    }  # fmt: skip


def test_the_report_says_what_differs_where() -> None:
    wanted = np.arange(1.0, 97.0).reshape(12, 8).astype(np.float32)
    got = wanted.copy()
    got[:, 4:6] *= 2
    assert comparison_reports.full(pl.comparison.compare(got, wanted, name="C", rtol=1e-6)) == (
        "WRONG: C, 12 x 8 float32, against the reference: 24 of 96 elements (25 %) differ by more than 0 + 1e-06 of "
        "the expected value\n"
        "  pattern  columns 4 to 5\n"
        "  pattern  they hold 2 times the right value\n"
        "  first    [0, 4] is 10, should be 5 (5 off, 5e-06 allowed)\n"
        "  largest  [11, 5] is 188, should be 94 (94 off, 9.4e-05 allowed)\n"
    )
