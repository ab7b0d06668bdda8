"""What is added behind products: at which index it belongs, by its shape and by what is declared to be computed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from ptxloom.diagnosis.sums.addends import added
from ptxloom.diagnosis.sums.multipliers import Multipliers, Slices
from ptxloom.diagnosis.sums.terms import Terms
from ptxloom.machine.results.provenance import ORIGIN, TracedArray

if TYPE_CHECKING:
    from ptxloom.diagnosis.sums.addends import Added


def _array(number: int, shape: tuple[int, ...]) -> TracedArray:
    size = int(np.prod(shape))
    return TracedArray(number, "Cb"[number], number, np.dtype(np.float32), shape, (4,) * len(shape), 4 * size)


def asked(shape: tuple[int, int], beside: tuple[int, ...], elements: Any, *, stated: bool) -> Added:
    """The diagnoses of products of this shape to each element of which one of another array is added."""
    size = shape[0] * shape[1]
    origins = np.zeros(size, ORIGIN)
    origins["array"], origins["element"] = 1, np.broadcast_to(elements, shape).ravel()
    none, every = np.zeros(0, np.int64), np.ones(size, np.bool_)
    nothing = np.zeros(0, ORIGIN)
    slices = Slices(none, none, Multipliers(none, none))
    beyond = np.arange(size), origins
    terms = Terms(none, nothing, none, none, every, every, *beyond, none, nothing, none, none, none, slices)
    arrays = (_array(0, shape), _array(1, beside))
    return added(terms, cast("Any", SimpleNamespace(arrays=arrays)), arrays[0], stated=stated)


ROWS, COLUMNS = np.arange(6)[:, None], np.arange(6)
RIGHT = [
    ((6, 4), (4,), COLUMNS[:4], False),
    ((6, 4), (4,), COLUMNS[:4], True),
    ((6, 4), (6,), ROWS, False),
    ((6, 4), (6, 1), ROWS, True),
    ((6, 6), (6,), COLUMNS, False),
    ((6, 6), (6,), COLUMNS, True),
    ((6, 4), (6, 4), np.arange(24).reshape(6, 4), False),
    ((6, 4), (4, 6), np.arange(24).reshape(4, 6).T, False),
]


@pytest.mark.parametrize(("shape", "beside", "elements", "stated"), RIGHT)
def test_what_stands_where_its_shape_says_is_right(
    shape: tuple[int, int], beside: tuple[int, ...], elements: Any, *, stated: bool
) -> None:
    found = asked(shape, beside, elements, stated=stated)
    assert (found.judged.all(), found.broken) == (True, ())


@pytest.mark.parametrize(("shape", "beside", "elements", "stated"), RIGHT)
def test_one_that_does_not_is_told(
    shape: tuple[int, int], beside: tuple[int, ...], elements: Any, *, stated: bool
) -> None:
    held = np.broadcast_to(elements, shape).copy()
    held[2, 3] = held[1, 1]
    ((_, wrong),) = asked(shape, beside, held, stated=stated).broken
    assert (wrong.law, wrong.wrongs, wrong.total) == ("place", 1, shape[0] * shape[1])


def test_a_vector_of_a_square_may_be_meant_for_either_axis_until_that_is_said() -> None:
    open_ = asked((6, 6), (6,), ROWS, stated=False)
    assert (open_.judged.any(), open_.broken) == (False, ())
    ((_, wrong),) = asked((6, 6), (6,), ROWS, stated=True).broken
    assert (wrong.named.cause, wrong.named.detail) == ("order-exchanged", "it is taken at the row, not at the column")
    held = np.broadcast_to(ROWS, (6, 6)).copy()
    held[2, 3] = 5
    ((_, wrong),) = asked((6, 6), (6,), held, stated=False).broken
    assert wrong.wrongs == 1
