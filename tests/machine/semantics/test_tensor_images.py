"""`mma` in a kernel, where operands are unpacked once and exact sums take a short cut, equals `pl.mma`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

import ptxloom as pl
from ptxloom.isa.products import matrix_form

if TYPE_CHECKING:
    from numpy.typing import NDArray

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
HALF = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
TF32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
FP8 = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"
SMALL = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
FORMS = (F16, HALF, BF16, TF32, FP8)
WARPS = 25


def group(name: str, number: int) -> str:
    return "{" + ", ".join(f"%{name}{index}" for index in range(number)) + "}"


def kernel(spelling: str, body: str, outputs: int = 1, target: str = "sm_90a") -> str:
    """A warp a CTA: registers a, b and c from memory, d to memory `outputs` times (body: `{mma}`, `{store}`)."""
    counts = matrix_form(spelling).vector_lengths
    declared = " ".join(f".reg .b32 %{name}<{number}>;" for name, number in zip("dabc", counts, strict=True))
    at = "mov.u32 %t, %tid.x; mov.u32 %w, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %w, %n, %t;"
    loads = " ".join(
        f"ld.param.u64 %p, [p{name}]; mad.wide.u32 %p, %t, {4 * number}, %p; "
        + " ".join(f"ld.global.b32 %{name}{index}, [%p+{4 * index}];" for index in range(number))
        for name, number in zip("abc", counts[1:], strict=True)
    )
    place = f"ld.param.u64 %p, [pd]; mad.wide.u32 %p, %t, {4 * counts[0] * outputs}, %p;"
    stores = iter(
        " ".join(f"st.global.b32 [%p+{4 * (index + counts[0] * output)}], %d{index};" for index in range(counts[0]))
        for output in range(outputs)
    )
    operands = ", ".join(group(name, number) for name, number in zip("dabc", counts, strict=True))
    text = body.replace("{mma}", f"{spelling} {operands};")
    while "{store}" in text:
        text = text.replace("{store}", next(stores), 1)
    params = ", ".join(f".param .u64 p{name}" for name in "dabc")
    return f""".version 8.7
.target {target}
.address_size 64
.visible .entry k({params})
{{
{declared} .reg .b32 %t, %w, %n; .reg .b64 %p; .reg .pred %q;
{at} {loads} {place}
{text}
}}"""


def run(  # noqa: PLR0917 - one launch has as many facts
    spelling: str,
    body: str,
    given: tuple[NDArray[np.uint32], ...],
    outputs: int = 1,
    warps: int = 1,
    target: str = "sm_90a",
) -> NDArray[np.uint32]:
    d = np.zeros((WARPS, 32, outputs, matrix_form(spelling).vector_lengths[0]), np.uint32)
    pl.kernel(pl.parse(kernel(spelling, body, outputs, target)), "k").launch(WARPS // warps, 32 * warps, [d, *given])
    return d


def packed(values: NDArray[np.floating[Any]], kind: str) -> NDArray[np.uint32]:
    types = {
        "f32": np.float32, "tf32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
        "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
    }  # fmt: skip
    with np.errstate(over="ignore"):
        return values.astype(types[kind]).view(np.uint32)


def operand(values: NDArray[np.floating[Any]], number: int, kind: str) -> NDArray[np.uint32]:
    """Registers (WARPS, 32, number) filled from a stream of values."""
    each = {"f32": 1, "tf32": 1, "f16": 2, "bf16": 2}.get(kind, 4)
    return packed(np.resize(values, WARPS * 32 * number * each), kind).reshape(WARPS, 32, number)


def draws(  # noqa: PLR0911 - one case a kind
    kind: str, rng: np.random.Generator, size: int
) -> NDArray[np.floating[Any]]:
    signs = rng.choice((-1.0, 1.0), size)
    match kind:
        case "integers":
            return rng.integers(-4, 5, size).astype(np.float64)
        case "zeros":
            return signs * rng.integers(0, 2, size) * 0.0
        case "powers":  # few bits far apart: just exact, or just not
            return signs * 2.0 ** rng.integers(-5, 6, size)
        case "wide":
            return signs * 2.0 ** rng.integers(-6, 7, size) * rng.integers(0, 2, size)
        case "subnormal":
            return signs * rng.integers(0, 3, size) * 2.0**-24
        case "special":
            return rng.choice((1.0, -2.0, 0.0, np.inf, -np.inf, np.nan), size, p=(0.3, 0.3, 0.37, 0.01, 0.01, 0.01))
        case _:
            return rng.standard_normal(size)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    ("spelling", "target"), [*((form, "sm_90a") for form in FORMS), *((form, "sm_80") for form in FORMS[:4])]
)
@pytest.mark.parametrize("kind", ["integers", "zeros", "powers", "wide", "subnormal", "special", "normal"])
def test_products_of_a_kernel_are_those_of_mma(spelling: str, target: str, kind: str) -> None:
    form = matrix_form(spelling)
    rng = np.random.default_rng(len(kind))
    kinds = (form.a_type, form.b_type, form.c_type)
    given = tuple(
        operand(draws(kind, rng, 4096), number, element)
        for number, element in zip(form.vector_lengths[1:], kinds, strict=True)
    )
    found = run(spelling, "{mma} {store}", given, target=target)[:, :, 0]
    assert np.array_equal(found, pl.mma(spelling, *given, target=target.rstrip("a")))


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    ("spelling", "target"), [(F16, "sm_90a"), (HALF, "sm_90a"), (TF32, "sm_90a"), (F16, "sm_80"), (HALF, "sm_80")]
)
@pytest.mark.parametrize("bits", range(12, 21))
def test_the_border_of_what_is_exact(spelling: str, target: str, bits: int) -> None:
    """Sums of 18 to 26 bits; C at and about the most units that are taken as exact, off a unit, and either zero."""
    form = matrix_form(spelling)
    rng = np.random.default_rng(bits)
    for low in (bits // 2, bits - 10):
        a = 2 - (2 * rng.integers(0, 4, 4096) + 1) * 2.0**-low
        b = (2 - (2 * rng.integers(0, 4, 4096) + 1) * 2.0 ** (low - bits)) * rng.choice((1.0, -1.0), (64, 1)).repeat(64)
        # a warp takes the short cut as a whole: each has one kind of C that may not suit it, besides some that do
        kinds = [
            0.0,
            -0.0,
            0.5,
            2.0**40,
            *(2.0**power + by for power in (21, 22, 23, 24) for by in (0, 1, -1, -64, 0.5)),
        ]
        c = rng.choice((0.0, 1.0, -3.0, 2.0**20), (WARPS, 128))
        c[:, ::5] = np.resize(kinds, (WARPS, 1)) * rng.choice((1, -1), (WARPS, 26))
        c = c.ravel() * 2.0**-bits
        given = tuple(
            operand(values, number, kind)
            for values, number, kind in zip(
                (a, b, c), form.vector_lengths[1:], (form.a_type, form.b_type, form.c_type), strict=True
            )
        )
        found = run(spelling, "{mma} {store}", given, target=target)[:, :, 0]
        assert np.array_equal(found, pl.mma(spelling, *given, target=target.rstrip("a")))


def test_an_image_is_made_again_when_a_register_changes() -> None:
    rng = np.random.default_rng(1)
    form = matrix_form(F16)
    given = tuple(
        operand(draws("integers", rng, 8192), number, kind)
        for number, kind in zip(form.vector_lengths[1:], ("f16", "f16", "f32"), strict=True)
    )
    steps = (
        "{mma} {store} add.u32 %w, %a2, 0; {mma} {store} mov.b32 %a2, %b1; {mma} {store} "
        "setp.lt.u32 %q, %t, 100; @%q mov.b32 %b0, %a0; {mma} {store} ld.global.b32 %a1, [%p]; {mma} {store} "
        "@%q bra ON; mov.b32 %a3, %a0; ON: {mma} {store}"
    )
    found = run(F16, steps, given, 6)
    a, b, c = (array.copy() for array in given)
    lanes = np.arange(WARPS * 32).reshape(WARPS, 32) < 100
    expected = [pl.mma(F16, a, b, c)] * 2
    a[..., 2] = b[..., 1]
    expected.append(pl.mma(F16, a, b, c))
    b[..., 0] = np.where(lanes, a[..., 0], b[..., 0])
    expected.append(pl.mma(F16, a, b, c))
    a[..., 1] = expected[0][..., 0]
    expected.append(pl.mma(F16, a, b, c))
    a[..., 3] = np.where(lanes, a[..., 3], a[..., 0])
    expected.append(pl.mma(F16, a, b, c))
    for step, wanted in enumerate(expected):
        assert np.array_equal(found[:, :, step], wanted), step


def test_what_a_way_back_changes_is_unpacked_again() -> None:
    """A loop starts with the image that was made before it; its second round has other registers."""
    rng = np.random.default_rng(2)
    form = matrix_form(F16)
    given = tuple(
        operand(draws("integers", rng, 8192), number, kind)
        for number, kind in zip(form.vector_lengths[1:], ("f16", "f16", "f32"), strict=True)
    )
    change = "mov.b32 %a2, %b1; mov.b32 %b0, %a0; add.u32 %w, %w, 1; setp.lt.u32 %q, %w, 2;"
    steps = f"{{mma}} {{store}} mov.u32 %w, 0; L: {{mma}} {{store}} {change} @%q bra L;"
    found = run(F16, steps, given, 2)
    a, b, c = (array.copy() for array in given)
    assert np.array_equal(found[:, :, 0], pl.mma(F16, a, b, c))
    a[..., 2], b[..., 0] = b[..., 1], a[..., 0]
    assert np.array_equal(found[:, :, 1], pl.mma(F16, a, b, c))


def test_warps_that_wait_for_one_another_have_their_own_images() -> None:
    rng = np.random.default_rng(3)
    form = matrix_form(F16)
    given = tuple(
        operand(draws("integers", rng, 20000), number, kind)
        for number, kind in zip(form.vector_lengths[1:], ("f16", "f16", "f32"), strict=True)
    )
    body = "{mma} {store} bar.sync 0; {mma} {store} @!%q bar.warp.sync -1; {mma} {store} bar.sync 0; {mma} {store}"
    found = run(F16, "setp.eq.u32 %q, %t, 5; " + body, given, 4, warps=5)
    for step in range(4):
        assert np.array_equal(found[:, :, step], pl.mma(F16, *given)), step


def test_more_images_than_are_kept() -> None:
    """Twelve different A and B in one block, each used twice, far apart."""
    rng = np.random.default_rng(2)
    names = [f"%e{n}" for n in range(12)]
    fill = " ".join(
        f"mul.lo.u32 {name}, %t, {7 * n + 1}; and.b32 {name}, {name}, 0x33ff33ff;" for n, name in enumerate(names)
    )
    one = SMALL + " {{%d0, %d1, %d2, %d3}}, {{{0}, {1}}}, {{{2}}}, {{%d0, %d1, %d2, %d3}};"
    order = [*range(12), *range(12), 0, 5, 0, 11]
    work = " ".join(one.format(names[n], names[(n + 1) % 12], names[(n + 5) % 12]) for n in order)
    start = " ".join(f"mov.b32 %d{n}, %c{n};" for n in range(4))
    body = f".reg .b32 %e<12>; {fill} {start} {work} {{store}}"
    c = operand(draws("integers", rng, 4096), 4, "f32")
    zeros = np.zeros((WARPS, 32, 4), np.uint32)
    found = run(F16, body, (zeros, zeros[..., :2].copy(), c))[:, :, 0]
    t = np.arange(WARPS * 32, dtype=np.uint32).reshape(WARPS, 32)
    registers = [t * np.uint32(7 * n + 1) & np.uint32(0x33FF33FF) for n in range(12)]
    for n in order:
        a = np.stack((registers[n], registers[(n + 1) % 12]), -1)
        c = pl.mma(SMALL, a, registers[(n + 5) % 12][..., None], c)
    assert np.array_equal(found, c)
