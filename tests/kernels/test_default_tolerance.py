"""What real kernels compute is right by the default tolerance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kernels.catalog import cases
from kernels.launching import launch
from kernels.tiles import array_of

if TYPE_CHECKING:
    from kernels.case import KernelCase

# A reference is given for an argument; that of `dsl_hopper_gemm` lies in a structure.
REFERENCED = [case for case in cases() if case.reference is not None and case.source != "dsl_hopper_gemm"]


@pytest.mark.sample(every=12)
@pytest.mark.parametrize("case", REFERENCED, ids=lambda case: case.name)
def test_a_right_result_is_called_right(case: KernelCase) -> None:
    arguments = case.arguments()
    before: list[Any] = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in arguments]
    assert case.reference is not None
    wanted = dict(zip(case.outputs, case.reference(*before), strict=False))
    given = {place: array_of(arguments[place]) for place in wanted}
    fitting = {
        place: array.reshape(given[place].shape)
        for place, array in wanted.items()
        if array.size == given[place].size and array.dtype == given[place].dtype
    }
    for found in launch(case, case.architectures[0], arguments, reference=fitting).comparisons:
        assert found.passed, str(found)
