"""`mma`, `mma.sp` and `wmma` in a kernel do what they do on arrays; `wmma` moves matrices to and from memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnostics import UsageError
from ptxloom.isa.products import MatrixForm, matrix_form
from ptxloom.machine import IllegalPtx, Kernel, UnsupportedInstruction
from ptxloom.machine.tensor.batch import mma
from ptxloom.machine.tensor.recipe import tensor_target

FORMS = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.u8.s8.s32",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.f16",
]
NARROW = [
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e5m2.f32",
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
    "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
]
SELECTORS = (2, 1, 0, 3)


def product(form: MatrixForm, guard: str = "", target: str = "sm_90a", like: str | None = None) -> Kernel:
    """A kernel of one warp (out: the registers of D, A, B, C and metadata, 32 lanes each) that overwrites D."""
    bits = form.register_bits
    counts = (*form.vector_lengths, 1 if form.sparse else 0, 2 if form.scale_vector else 0)
    lines: list[str] = []
    vectors: list[str] = []
    at = 0
    for operand, count in zip("dabces", counts, strict=True):
        kind = 32 if operand in "es" else bits
        size = kind // 8
        lines += [f"ld.global.b{kind} %{operand}{n}, [%rd{size}+{at + n * 32 * size}];" for n in range(count)]
        vectors.append("{" + ", ".join(f"%{operand}{n}" for n in range(count)) + "}")
        at += count * 32 * size
    sparse = ", %e0, 0x1" if form.sparse and form.selectors > 1 else ", %e0, 0" if form.sparse else ""
    scales = ", %s0, {2, %h1}, %s1, {%h0, 3}" if form.scale_vector else ""
    give = [f"st.global.b{bits} [%rd{bits // 8}+{n * 32 * bits // 8}], %d{n};" for n in range(form.vector_lengths[0])]
    registers = " ".join(f".reg .b{bits} %{operand}<32>;" for operand in "dabc")
    return pl.kernel(
        pl.parse(f"""
.version 9.0
.target {target}
.address_size 64
.visible .entry k(.param .u64 out)
{{
    {registers} .reg .b32 %e<2>, %s<2>; .reg .b16 %h<2>; mov.b16 %h0, 0; mov.b16 %h1, 1;
    .reg .pred %p1; .reg .b32 %r0; .reg .b64 %rd<9>;
    mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [out]; setp.lt.u32 %p1, %r0, 10;
    mad.wide.u32 %rd4, %r0, 4, %rd1; mad.wide.u32 %rd8, %r0, 8, %rd1;
    {" ".join(lines)}
    {guard} {form.spelling} {", ".join(vectors[:4])}{sparse}{scales};
    {" ".join(give)}
    ret;
}}
"""),
        "k",
        target=like,
    )


def operands(form: MatrixForm, seed: int = 1) -> list[Any]:
    """Registers of A, B, C and metadata, (registers, 32) each."""
    rng = np.random.default_rng(seed)
    kind = np.uint64 if form.register_bits == 64 else np.uint32
    found: list[Any] = [
        rng.integers(0, 1 << 31, (n, 32), np.uint64).astype(kind) * kind(2) for n in form.vector_lengths[1:]
    ]
    if form.sparse:  # two of four: places 0 and 2, everywhere
        found.append(np.full((1, 32), 0x88888888, np.uint32))
    if form.scale_vector:
        found.append(rng.integers(120, 134, (2, 32, 4), np.uint8).view(np.uint32).reshape(2, 32))
    return found


def run(kernel: Kernel, form: MatrixForm, inputs: list[Any]) -> Any:
    d = np.full((form.vector_lengths[0], 32), 9, inputs[0].dtype)
    memory = np.concatenate([array.view(np.uint8).reshape(-1) for array in (d, *inputs)])
    kernel.launch(1, 32, [memory])
    return memory[: d.nbytes].view(d.dtype).reshape(d.shape)


def wanted(form: MatrixForm, inputs: list[Any], like: str = "sm_90") -> Any:
    a, b, c = (np.ascontiguousarray(array.T) for array in inputs[:3])
    metadata = inputs[3][0] if form.sparse else None
    selector = 1 if form.selectors > 1 else 0
    more: dict[str, Any] = {}
    if form.scale_vector:
        more = {"scales": (inputs[-1][0], inputs[-1][1]), "scale_selectors": SELECTORS}
    return mma(form, a, b, c, metadata=metadata, selector=selector, target=like, **more).T


@pytest.mark.parametrize("spelling", NARROW)
def test_products_of_narrow_formats_equal_those_on_arrays(spelling: str) -> None:
    form = matrix_form(spelling)
    inputs = operands(form)
    assert np.array_equal(run(product(form, target="sm_120a"), form, inputs), wanted(form, inputs, "sm_120"))


def test_scales_need_selectors_that_are_constants() -> None:
    text = ".version 9.0\n.target sm_120a\n.entry k() { .reg .b32 %r<20>; .reg .b16 %h; mov.u16 %h, %ctaid.x;\n"
    scales = "%r0, {%h, 0}, %r0, {0, 0}"
    four = "{%r1, %r2, %r3, %r4}"
    text += f"{NARROW[1]} {four}, {four}, {{%r1, %r2}}, {four}, {scales}; }}"
    with pytest.raises(UnsupportedInstruction, match="a selector of its scales is not a constant"):
        pl.kernel(pl.parse(text), "k", unchecked=True)


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("spelling", FORMS)
def test_products_equal_those_on_arrays(spelling: str) -> None:
    form = matrix_form(spelling)
    inputs = operands(form)
    assert np.array_equal(run(product(form), form, inputs), wanted(form, inputs))


def test_lanes_present_get_their_share() -> None:
    form = matrix_form(FORMS[0])
    inputs = operands(form)
    found = run(product(form, "@%p1"), form, inputs)
    assert np.array_equal(found[:, :10], wanted(form, inputs)[:, :10])
    assert (found[:, 10:] == 9).all()


def test_the_target_or_the_user_says_whose_tensor_cores_compute() -> None:
    form = matrix_form(FORMS[0])
    rng = np.random.default_rng(3)
    inputs = [rng.standard_normal((n, 64)).astype(np.float16).view(np.uint32) for n in form.vector_lengths[1:3]]
    inputs.append(rng.standard_normal((4, 32)).astype(np.float32).view(np.uint32))
    ampere, hopper = wanted(form, inputs, "sm_80"), wanted(form, inputs, "sm_90")
    assert not np.array_equal(ampere, hopper)
    assert np.array_equal(run(product(form, target="sm_80"), form, inputs), ampere)
    assert np.array_equal(run(product(form, target="sm_80", like="sm_90"), form, inputs), hopper)
    with pytest.raises(UsageError, match="sm_91"):
        product(form, like="sm_91")


@pytest.mark.parametrize(
    ("target", "like"), [("sm_70", "sm_75"), ("sm_88", "sm_88"), ("sm_107a", "sm_103"), ("sm_120a", "sm_120")]
)
def test_other_targets_take_the_nearest_arithmetic(target: str, like: str) -> None:
    assert tensor_target(pl.parse(f".version 8.7\n.target {target}\n")) == like


def test_a_form_the_target_lacks_is_refused() -> None:
    with pytest.raises(IllegalPtx, match="sm_89"):
        product(matrix_form("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32"), target="sm_80")


WMMA = """
.version 8.7
.target sm_90
.address_size 64
.shared .align 32 .b8 area[1024];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
    .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .b32 %c<8>; .reg .b32 %r<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [d];
    mov.u32 %r1, LEADING_B;
    wmma.load.a.sync.aligned.LAYOUT_A.SHAPE.global.TYPE {A}, [%rd1+OFFSET], LEADING_A;
    wmma.load.b.sync.aligned.LAYOUT_B.SHAPE.TYPE {B}, [%rd2], %r1;
    wmma.load.c.sync.aligned.row.SHAPE.global.RESULT {C}, [%rd3];
    wmma.mma.sync.aligned.LAYOUT_A.LAYOUT_B.SHAPE.TYPES {C}, {A}, {B}, {C};
    mov.u32 %r2, area;
    wmma.store.d.sync.aligned.col.SHAPE.shared.RESULT [%r2], {C}, ROWS;
    wmma.load.c.sync.aligned.col.SHAPE.shared.RESULT {C}, [%r2], ROWS;
    wmma.store.d.sync.aligned.row.SHAPE.global.RESULT [%rd4], {C};
    ret;
}
"""


@pytest.mark.parametrize("layouts", [("row", "col"), ("col", "row"), ("row", "row"), ("col", "col")])
@pytest.mark.parametrize(("shape", "element"), [((16, 16), "f16"), ((8, 32), "s8"), ((32, 8), "f16"), ((16, 16), "s8")])
def test_wmma_multiplies_matrices_in_memory(shape: tuple[int, int], element: str, layouts: tuple[str, str]) -> None:
    rows, columns = shape
    form = matrix_form(
        f"wmma.mma.sync.aligned.{'.'.join(layouts)}.m{rows}n{columns}k16."
        + ("f32.f32" if element == "f16" else "s32.s8.s8.s32")
    )
    kind, result = (np.dtype(np.float16), "f32") if element == "f16" else (np.dtype(np.int8), "s32")
    leading = {"a": 48 if layouts[0] == "row" else 64, "b": 64 if layouts[1] == "row" else 48}
    words = {
        "LAYOUT_A": layouts[0],
        "LAYOUT_B": layouts[1],
        "LEADING_A": str(leading["a"]),
        "LEADING_B": str(leading["b"]),
        "SHAPE": form.shape,
        "TYPES": "f32.f32" if element == "f16" else "s32.s8.s8.s32",
        "TYPE": element,
        "RESULT": result,
        "OFFSET": str(16 * kind.itemsize),
        "ROWS": str(rows),
    }
    words |= {
        "{" + x.upper() + "}": "{" + ", ".join(f"%{x}{n}" for n in range(count)) + "}"
        for x, count in zip("abc", form.vector_lengths[1:], strict=True)
    }
    text = WMMA
    for word, value in words.items():
        text = text.replace(word, value)
    rng = np.random.default_rng(5)
    a, b = rng.integers(-9, 9, (64, 64)).astype(kind), rng.integers(-9, 9, (64, 64)).astype(kind)
    c = rng.integers(-9, 9, (rows, columns)).astype(np.float32 if element == "f16" else np.int32)
    d = np.zeros_like(c)
    pl.kernel(pl.parse(text), "k").launch(1, 32, [a, b, c, d])

    def matrix(memory: Any, name: str, layout: str, extent: tuple[int, int]) -> Any:
        strides = (leading[name], 1) if layout == "row" else (1, leading[name])
        return np.lib.stride_tricks.as_strided(memory.astype(np.float64), extent, tuple(8 * s for s in strides))

    left, right = matrix(a.reshape(-1)[16:], "a", layouts[0], (rows, 16)), matrix(b, "b", layouts[1], (16, columns))
    product_ = left @ right
    assert np.array_equal(d, product_ + c)
