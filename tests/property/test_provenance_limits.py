"""A record for which there was little room is that with room, except for what values were made of that did not fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

import ptxloom as pl
from kernels.catalog import cases
from kernels.launching import launch

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
LITTLE: Final = 1 << 20


def sgemm(provenance: Any) -> Any:
    """A product of 48 x 48 x 48."""
    a, b, c = (np.ones((48, 48), np.float32) for _ in range(3))
    kernel = pl.kernel(pl.load(EXAMPLES / "sgemm.ptx"), "sgemm")
    return kernel.launch((3, 3), (16, 16), [a, b, c, 48, 48, 48], threads=1, provenance=provenance).provenance


def catalogued(name: str) -> Callable[[Any], Any]:
    """A kernel of `tests/kernels`."""
    case = next(case for case in cases() if case.name == name)

    def run(provenance: Any) -> Any:
        return launch(case, case.architectures[-1], case.arguments(), provenance=provenance).provenance

    return run


@pytest.mark.parametrize(
    "run",
    [sgemm, catalogued("physics.nbody"), catalogued("physics.heat"), catalogued("dense.sgemm_registers")],
    ids=["sgemm", "nbody", "heat", "sgemm_registers"],
)
def test_what_is_kept_is_what_would_be_kept_with_room(run: Callable[[Any], Any]) -> None:
    whole, short = run(pl.Provenance()), run(pl.Provenance(budget=LITTLE))
    count = len(short.raw.nodes)
    assert 1000 < count < len(whole.raw.nodes)
    assert (short.nodes["site"] == whole.nodes["site"][:count]).all()
    assert (short.nodes["sources"] == whole.nodes["sources"][:count]).all()
    for array in whole.arrays:
        wanted, found = (record.contents(array.number) for record in (whole, short))
        wanted.origins["node"][wanted.origins["node"] >= count] = 0
        assert (found.origins == wanted.origins).all()
        assert (found.stored_at == wanted.stored_at).all()
        assert (found.stored_twice == wanted.stored_twice).all()
