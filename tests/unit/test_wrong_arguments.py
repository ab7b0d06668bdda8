"""What the public functions say to values of other types than they take: one sentence of ours, with what to write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.layout import Layout

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
        (lambda: pl.atoms.atom(NUMBER), "what is 3; it must be a name"),
        (lambda: pl.mma("m16n8k16.row.col.f32.f16.f16.f32", NUMBER, NUMBER, NUMBER), "a is 3; it must be a NumPy"),
        (lambda: pl.check(cast("Any", "ret;" * 1000)), "module is '" + "ret;" * 19 + "ret…; it must be"),
        (lambda: pl.atoms.atom(cast("Any", np.zeros((2, 2)))), "what is array("),
        (lambda: pl.check(pl.parse("ret;"), target=NUMBER), "target is 3; it must be a target such as sm_90a"),
        (lambda: pl.check(pl.parse("ret;"), ptx_version=cast("Any", 9.0)), "ptx_version is 9.0; it must be a version"),
        (lambda: pl.explain(NUMBER), "word is 3; it must be a word that has a page"),
        (lambda: pl.flow_graph(NUMBER), "function is 3; it must be a function of a module"),
        (lambda: list(pl.walk(NUMBER)), "node is 3; it must be a module, or a node of one"),
        (lambda: list(pl.instructions(WRONG)), "node is 'examples/hgemm.ptx'; it must be a module, or a node"),
        (lambda: list(pl.instructions(pl.parse("ret;"), NUMBER)), "pattern is 3; it must be an opcode or a pattern"),
        (lambda: pl.load(NUMBER), "path is 3; it must be a path"),
        (lambda: pl.layout.Layout.parse(NUMBER), "text is 3; it must be a text such as (8,4):(1,8)"),
        (lambda: pl.layout.Swizzle(WRONG, 0, 3), "swizzle is 'examples/hgemm.ptx'; it must be three whole numbers"),
        (lambda: pl.layout.coalesce(NUMBER), "layout is 3; it must be a Layout, such as Layout((8, 4), (1, 8))"),
        (lambda: pl.layout.filter(NUMBER), "layout is 3; it must be a Layout"),
        (lambda: pl.layout.left_inverse(WRONG), "layout is 'examples/hgemm.ptx'; it must be a Layout"),
        (lambda: pl.layout.with_shape(NUMBER, 3), "layout is 3; it must be a Layout"),
        (lambda: pl.layout.make_layout(NUMBER), "layouts is 3; it must be a Layout"),
        (
            lambda: pl.layout.composition(Layout(4), WRONG),
            "tiler is 'examples/hgemm.ptx'; it must be a Layout, an integer",
        ),
        (
            lambda: pl.layout.logical_divide(Layout(4), WRONG),
            "tiler is 'examples/hgemm.ptx'; it must be a Layout",
        ),
        (lambda: pl.layout.logical_product(NUMBER, 4), "layout is 3; it must be a Layout"),
        (lambda: pl.layout.blocked_product(Layout(4), NUMBER), "tiler is 3; it must be a Layout"),
        (lambda: pl.layout.recast(NUMBER, 8, 16), "layout is 3; it must be a Layout"),
        (lambda: pl.atoms.make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", cast("Any", (2, 2))), "atom_layout is (2, 2)"),
    ],
)
def test_a_value_of_another_type_is_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(pl.UsageError) as raised:
        call()
    assert str(raised.value).startswith(said)
