"""The table of floating-point formats against NumPy and ml_dtypes, which have their own."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.fragments.number_types import FLOATS

THEIRS = {name: np.dtype(kind) for name, kind in FLOATS.items() if name != "tf32"}


def value(bits: int, dtype: "np.dtype[Any]") -> float:
    return float(np.array([bits], f"u{dtype.itemsize}").view(dtype)[0])


def test_both_know_the_same_formats() -> None:
    assert {*FLOAT_FORMATS} == {*FLOATS, "ue4m3"}


@pytest.mark.parametrize("name", THEIRS)
def test_a_format_is_theirs(name: str) -> None:
    form, dtype = FLOAT_FORMATS[name], THEIRS[name]
    finfo: Any = np.finfo if dtype.type.__module__ == "numpy" else ml_dtypes.finfo
    known: Any = finfo(dtype)
    assert (form.bits, form.exponent, form.fraction) == (known.bits, known.nexp, known.nmant)
    assert 2.0**form.least_exponent == float(known.smallest_normal) or name == "ue8m0"
    assert 2.0**form.least == float(known.smallest_subnormal) or name == "ue8m0"
    assert value(form.one, dtype) == 1
    assert value(form.largest, dtype) == float(known.max)
    assert np.isnan(value(form.nan, dtype)) == form.has_nan
    assert np.isnan(value(form.sign - 1, dtype)) == form.has_nan
    if form.has_infinity:
        assert value(form.infinity, dtype) == np.inf
        assert np.isnan(value(form.infinity | form.quiet, dtype))
    if form.signed:
        assert value(form.sign | form.one, dtype) == -1


def test_a_format_that_lies_in_another_has_its_exponent() -> None:
    assert FLOAT_FORMATS["tf32"].bias == FLOAT_FORMATS["f32"].bias
    assert FLOAT_FORMATS["ue4m3"].one == FLOAT_FORMATS["e4m3"].one
    assert [FLOAT_FORMATS[name].container for name in ("tf32", "e2m3", "e2m1")] == [32, 8, 4]
