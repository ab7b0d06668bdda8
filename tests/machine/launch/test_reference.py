"""`launch(reference=...)`: what is compared, by what name, and what rounding a kernel is allowed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.comparison.rounding import Precision

EXAMPLES = Path(__file__).parents[3] / "examples"
KERNELS = Path(__file__).parents[2] / "kernels" / "ptx"
RNG = np.random.default_rng(4)
HGEMM = pl.kernel(pl.load(str(EXAMPLES / "hgemm.ptx")), "hgemm")


def arguments() -> list[Any]:
    a, b = (RNG.standard_normal(shape).astype(np.float16) for shape in ((64, 32), (32, 128)))
    return [a, b, np.zeros((64, 128), np.float32), 64, 128, 32]


def wanted(args: list[Any]) -> Any:
    return args[0].astype(float) @ args[1].astype(float)


def test_the_output_is_named_by_its_place_its_parameter_its_shape_or_its_order() -> None:
    args = arguments()
    right = wanted(args)
    ways: list[Any] = [
        {2: right},
        {"hgemm_param_2": right},
        {"C": right},
        right,
        pl.comparison.Reference(right),
        [None, None, right],
    ]
    for reference in ways:
        (found,) = HGEMM.launch((2, 1), 128, args, reference=reference).comparisons
        assert (found.passed, found.name, found.shape) == (True, "C", (64, 128))
        assert (found.tolerance.sums, found.wrong) == ("f32", 0)


def test_what_differs_is_told_and_where() -> None:
    args = arguments()
    other = wanted(args)
    other[:, 64:] += 1
    reference = {2: pl.comparison.Reference(other, rtol=1e-3, atol=1e-3, names=("A", "", "C"))}
    (found,) = HGEMM.launch((2, 1), 128, args, reference=reference).comparisons
    assert (found.name, found.wrong) == ("C", 64 * 64)
    assert "the tile of CTA (1, 0, 0)" in found.patterns[0].sentence
    assert HGEMM.launch((2, 1), 128, args).comparisons == ()


ARGUMENTS = arguments()
RIGHT = wanted(ARGUMENTS)
REFUSED: list[tuple[Any, str]] = [
    ({"D": RIGHT}, r"reference is 'D'; it must be by the place or name of an array among args: 0 \("),
    ({3: RIGHT}, "reference is 3"),
    ({7: RIGHT}, "reference is 7"),
    ({True: RIGHT}, "reference is True"),
    ({2: RIGHT[1:]}, r"the shape of the reference is \[63, 128\]"),
    ({2: RIGHT.tolist()}, "a NumPy array"),
    (RIGHT[1:], "it must be of the shape of one array among args, not of 0"),
    ("C", "an array, or arrays by the names"),
    (5, "an array, or arrays by the names"),
    ({2: pl.comparison.Reference(RIGHT, rtol=-1)}, "rtol is -1"),
]


@pytest.mark.parametrize(("reference", "says"), REFUSED)
def test_what_cannot_be_compared_is_refused_before_anything_runs(reference: Any, says: str) -> None:
    with pytest.raises(pl.UsageError, match=says):
        HGEMM.launch((2, 1), 128, ARGUMENTS, reference=reference)
    assert not ARGUMENTS[2].any()


WMMA = "wmma.{}.sync.aligned.row.m16n16k16.global.{} {{%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}}, [%d2];"
WMMA_LOADS = WMMA.format("load.a", "f16") + WMMA.format("load.b", "f16")
EIGHT = "{%f1,%f1,%f1,%f1,%f1,%f1,%f1,%f1}"
A16 = "{%r1,%r1,%r1,%r1,%r1,%r1,%r1,%r1}"
MMA_TF32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f1,%f1,%f1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, "


@pytest.mark.parametrize(
    ("body", "precision"),
    [
        ("fma.rn.f32 %f1, %f1, %f1, %f1;", Precision("f32")),
        ("add.rn.f16 %h1, %h1, %h1;", Precision("f16")),
        ("fma.rn.bf16x2 %r1, %r1, %r1, %r1;", Precision("bf16")),
        ("add.rn.f16 %h1, %h1, %h1; add.f32 %f1, %f1, %f1;", Precision("f32")),
        ("add.f64 %d1, %d1, %d1;", Precision("f64")),
        ("add.s32 %r1, %r1, %r1;", None),
        (MMA_TF32 + "{%f1,%f1,%f1,%f1}; add.rn.f16 %h1, %h1, %h1;", Precision("f32", "tf32")),
        (
            "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r1}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r1,%r1};",
            Precision("f16", "f16"),
        ),
        (
            "cvt.rn.f16x2.f32 %r1, %f1, %f1; "
            + MMA_TF32.replace("tf32", "f16").replace("k8", "k16")
            + "{%f1,%f1,%f1,%f1};",
            Precision("f32", "f16", converts=True),
        ),
        (
            f"{WMMA_LOADS} wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {EIGHT}, {A16}, {A16}, {EIGHT};",
            Precision("f32"),
        ),
        (f"{WMMA_LOADS} add.f32 %f1, %f1, %f1;", Precision("f32")),
    ],
)
def test_the_instructions_tell_what_rounding_to_expect(body: str, precision: Precision | None) -> None:
    registers = ".reg .b32 %r<2>; .reg .f32 %f<2>; .reg .b16 %h<2>; .reg .f64 %d<2>; .reg .b64 %d2;"
    text = f".version 8.0 .target sm_90 .address_size 64 .visible .entry k() {{ {registers} {body} ret; }}"
    assert pl.kernel(pl.parse(text), "k").precision == precision


def test_a_kernel_is_launched_in_brackets() -> None:
    args = arguments()
    right = wanted(args)
    assert HGEMM[(2, 1), 128](*args, reference={2: right}).comparisons[0].passed
    wrong: Any = HGEMM
    for shape in (3, (1, 2, 3), "xyz"):
        with pytest.raises(pl.UsageError, match="it must be grid and block"):
            wrong[shape]


def test_the_first_wrong_element_is_followed_back() -> None:
    """To the store, the products and their factors; in a kernel without `.trans` to the wrong elements of B."""
    args = arguments()
    right = wanted(args)
    other = right.copy()
    other[3, 9] += 1
    reference = {2: pl.comparison.Reference(other, names=("A", "B", "C"))}
    (found,) = HGEMM.launch((2, 1), 128, args, reference=reference, provenance=True).comparisons
    assert found.wrong == 1
    assert found.trail[0].startswith("stored by line ")
    assert "`st.global.v2.f32 [" in found.trail[0]
    assert re.fullmatch(r"the sum of 2 matrix products at lines \d+, \d+, of warp 0 of CTA \(0, 0, 0\)", found.trail[1])
    assert found.trail[2] == "its factors: A[3, 0 to 31]; and B[0 to 31, 9]"
    text = (EXAMPLES / "hgemm.ptx").read_text().replace("m8n8.x4.trans", "m8n8.x4")
    broken = pl.kernel(pl.parse(text), "hgemm")
    args[2][:] = 0
    (found,) = broken.launch((2, 1), 128, args, reference=right, provenance=True).comparisons
    assert found.wrong > 8000
    assert "among hgemm_param_1[0 to 24, 0 to 7]" in found.trail[2]
    assert HGEMM.launch((2, 1), 128, args, reference=right).comparisons[0].trail == ()


MOVES = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
\t.reg .b64 %a; .reg .b64 %c; .reg .f32 %f<4>; .reg .b16 %h;
\tld.param.u64 %a, [a]; ld.param.u64 %c, [c];
\tld.global.f32 %f0, [%a+8]; ld.global.f32 %f1, [%a+12];
\tBODY
\tret;
}
"""


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("st.global.f32 [%c], %f0;", ("stored by line 9: `st.global.f32 [%c], %f0;`", "it is x[2]")),
        (
            "add.f32 %f2, %f0, %f1; st.global.f32 [%c], %f2;",
            ("computed by line 9: `add.f32 %f2, %f0, %f1;` from x[2 to 3]",),
        ),
        ("st.global.f32 [%c], %f0; st.global.f32 [%c], %f1;", ("the second time or later", "it is x[3]")),
        ("", ("no instruction has stored it",)),
        ("st.global.f32 [%c], 0f3F800000;", ("stored by line 9",)),
    ],
)
def test_what_is_stored_is_named(body: str, told: tuple[str, ...]) -> None:
    args = [np.arange(1, 9, dtype=np.float32), np.zeros(1, np.float32)]
    reference = {"c": pl.comparison.Reference(np.full(1, 99, np.float32), names=("x",))}
    launched = pl.kernel(pl.parse(MOVES.replace("BODY", body)), "k").launch(
        1, 1, args, reference=reference, provenance=True
    )
    sentences = "; ".join(launched.comparisons[0].trail)
    assert all(part in sentences for part in told), sentences
