"""What the public functions say to values of other types than they take: one sentence of ours, with what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

WRONG: Any = cast("Any", "examples/hgemm.ptx")
NUMBER: Any = cast("Any", 3)
BYTES: Any = cast("Any", b"ret;")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: pl.check(WRONG), "module is 'examples/hgemm.ptx'; it must be a module, as `ptxloom.parse"),
        (lambda: pl.edit(WRONG), "module is 'examples/hgemm.ptx'; it must be a module"),
        (lambda: pl.kernel(WRONG, "hgemm"), "module is 'examples/hgemm.ptx'; it must be a module"),
        (lambda: pl.parse(BYTES), "text is b'ret;'; it must be a string"),
        (lambda: pl.fragment(NUMBER), "instruction is 3; it must be a spelling"),
        (lambda: pl.bank_conflicts(NUMBER, [0] * 32), "instruction is 3; it must be a spelling"),
        (lambda: pl.atom(NUMBER), "what is 3; it must be a name"),
        (lambda: pl.mma("m16n8k16.row.col.f32.f16.f16.f32", NUMBER, NUMBER, NUMBER), "a is 3; it must be a NumPy"),
        (lambda: pl.check(cast("Any", "ret;" * 1000)), "module is '" + "ret;" * 19 + "ret…; it must be"),
        (lambda: pl.atom(cast("Any", np.zeros((2, 2)))), "what is array("),
    ],
)
def test_a_value_of_another_type_is_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(pl.UsageError) as raised:
        call()
    assert str(raised.value).startswith(said)
