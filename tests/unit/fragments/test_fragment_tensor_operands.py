"""What tensor memory holds of a `tcgen05.mma`: short names, layouts, copies, free lanes, and what is refused."""

from __future__ import annotations

import pytest

from ptxloom.descriptors import InstructionDescriptor, tensor_instruction
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.fragments import Evidence, fragment, fragment_operands
from ptxloom.fragments.tensor_operands import layout_of
from ptxloom.syntax import parse
from ptxloom.syntax.visitor import instructions

D_LAYOUTS = {
    "m128n40": "D", "m64n256": "F", "cta_group::2.m256n32": "A", "cta_group::2.m128n96": "B",
    "cta_group::2.sp.m128n32": "C", "ws.m64n64": "E", "ws.m32n128": "G", "ws.m128n64": "D",
}  # fmt: skip
SHORT = {
    "tcgen05.mma": "tcgen05.mma.cta_group::1.kind::f16.m128n128k16.f32.f16.f16",
    "tcgen05.mma.bf16": "tcgen05.mma.cta_group::1.kind::f16.m128n128k16.f32.bf16.bf16",
    "tcgen05.mma.sp.ws.m64": "tcgen05.mma.ws.sp.cta_group::1.kind::f16.m64n128k32.f32.f16.f16",
    "tcgen05.mma.cta_group::2.tf32.n": "",
    "tcgen05.mma.f16.e5m2.e2m1": "tcgen05.mma.cta_group::1.kind::f8f6f4.m128n128k32.f16.e5m2.e2m1",
    "tcgen05.mma.kind::i8.m64n24": "tcgen05.mma.cta_group::1.kind::i8.m64n24k32.s32.u8.u8",
    "tcgen05.mma.e4m3.ue8m0":
        "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.m128n128k32.f32.e4m3.e4m3.ue8m0",
    "tcgen05.mma.kind::mxf4nvf4":
        "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X.m128n128k64.f32.e2m1.e2m1.ue4m3",
    "tcgen05.cp.32x128b": "tcgen05.cp.cta_group::1.32x128b.warpx4",
    "tcgen05.cp.4x256b": "tcgen05.cp.cta_group::1.4x256b",
}  # fmt: skip


@pytest.mark.parametrize("words", D_LAYOUTS)
def test_the_map_of_d_is_the_layout_that_the_machine_uses(words: str) -> None:
    one = tensor_instruction(f"tcgen05.mma.{words}")
    layout, held = layout_of(one), fragment(one, "d")
    places = {layout.place(row, column, one.told.n) for row in range(one.told.m) for column in range(0, one.told.n, 8)}
    lanes = {place.lane for place in places}
    assert layout.lanes == max(lanes) + 1 - min(lanes)
    assert not any(fragment(one, operand).addressed for operand in fragment_operands(one))
    assert layout.name == D_LAYOUTS[words]
    assert (held.rows, held.columns, held.registers) == (one.told.m, one.told.n, layout.columns(one.told.n))
    for e in held.elements:
        assert (*divmod(e.lane, 128), e.register) == layout.place(e.row, e.column, one.told.n)


@pytest.mark.parametrize("text", SHORT)
def test_short_names_mean_one_instruction_and_long_ones_are_read_again(text: str) -> None:
    if not SHORT[text]:
        with pytest.raises(UnsupportedForm, match=r"takes no `\.n`"):
            fragment(text, "d")
        return
    name = next(iter(fragment_operands(text)))
    assert fragment(text, name).spelling == SHORT[text]
    assert fragment(SHORT[text], name) == fragment(text, name)


def test_the_descriptor_says_what_the_spelling_does_not() -> None:
    plain = "tcgen05.mma.cta_group::1.kind::f16"
    told = InstructionDescriptor("f16", 64, 32, "bf16", "bf16")
    for given in (told, told.bits):
        assert fragment(plain, "d", descriptor=given) == fragment(f"{plain}.m64n32.bf16", "d")
    module = parse(
        ".version 9.0\n.target sm_100a\n.address_size 64\n.entry f() {\n"
        f".reg .b32 %r<3>; .reg .b64 %a, %b; .reg .pred %p;\n{plain} [%r0], %a, %b, %r1, %p;\n}}"
    )
    [node] = instructions(module)
    assert fragment(node, "d", descriptor=told).rows == 64
    with pytest.raises(UnsupportedForm, match="its instruction descriptor defines the product"):
        fragment(node, "d")
    with pytest.raises(UsageError, match=r"only a tcgen05\.mma"):
        fragment("ldmatrix.x4", descriptor=told)
    with pytest.raises(UnsupportedForm, match="omit one of them"):
        fragment(f"{plain}.m64n32", "d", descriptor=told)


@pytest.mark.parametrize(
    ("text", "operand", "why"),
    [
        ("tcgen05.mma.m100n64", "d", "a multiple of 16"),
        ("tcgen05.mma.m256n64", "d", "M is 256, and has to be 64 or 128"),
        ("tcgen05.mma.m128n12", "d", "a multiple of 8"),
        ("tcgen05.mma.m128n64k8", "d", "K is 16 for these types, not 8"),
        ("tcgen05.mma.m64n64.m128n64", "d", "more than one shape"),
        ("tcgen05.mma.kind::tf32.m128n64.f16", "d", r"kind::tf32 has no `\.f16`"),
        ("tcgen05.mma.e4m3.ue8m0.m64n64", "d", "M is 64, and has to be 128"),
        ("tcgen05.mma.cta_group::2.m128n48.e4m3.ue8m0", "sfb", "a multiple of 64"),
    ],
)
def test_what_cannot_be_multiplied_is_refused(text: str, operand: str, why: str) -> None:
    with pytest.raises(UnsupportedForm, match=why):
        fragment(text, operand)


def test_operands_are_those_that_tensor_memory_can_hold() -> None:
    assert fragment_operands("tcgen05.mma.sp.e4m3.ue8m0") == ("d", "a", "e", "sfa", "sfb")
    with pytest.raises(UsageError, match="B is in shared memory"):
        fragment("tcgen05.mma", "b")
    with pytest.raises(UsageError, match="'d' or 'a'"):
        fragment("tcgen05.mma", "e")


def test_copies_and_free_lanes() -> None:
    scales = fragment("tcgen05.mma.e4m3.ue8m0", "sfa")
    assert [e.lane for e in scales.holders(row=40, column=0)] == [8, 40, 72, 104]
    assert scales.confirmed is Evidence.DOCUMENTS
    d = fragment("tcgen05.mma.m64n8", "d")
    assert [d.reaches(lane) for lane in (15, 16, 31, 32)] == [True, False, False, True]
    assert len(d.elements) == 64 * 8
    with pytest.raises(UsageError, match="one that the operand reaches"):
        d.held_by(16)
    pair = fragment("tcgen05.mma.cta_group::2.m128n64", "a")
    assert [pair.label(e) for e in pair.holders(row=64, column=3)] == ["CTA1 L0 C1.1", "CTA1 L64 C1.1"]


@pytest.mark.parametrize(("words", "rows"), [("cta_group::1", 128), ("cta_group::2", 64), ("cta_group::2.m256", 128)])
def test_with_a_k_of_96_scales_have_a_map_for_all_128_rows_of_a_cta(words: str, rows: int) -> None:
    group, _, m = words.partition(".")
    shape = f"{m or 'm128'}n128k96"
    spelling = f"tcgen05.mma.{group}.kind::mxf4nvf4.block_scale.scale_vec::4X.{shape}.f32.e2m1.e2m1.ue4m3"
    if rows < 128:
        with pytest.raises(UnsupportedForm, match="the scales of 64 rows a CTA"):
            fragment(spelling, "sfa")
        return
    assert fragment(spelling, "sfa").rows == rows * int(group[-1])


def test_metadata_of_sixteen_bits_are_halves_of_columns_in_two_rows() -> None:
    held = fragment("tcgen05.mma.sp.f16", "e")
    assert (held.matrices, held.rows, held.columns, held.registers) == (2, 128, 8, 2)


@pytest.mark.parametrize(("n", "registers"), [(64, 1), (128, 2), (192, 3), (256, 4)])
def test_the_scales_of_the_halves_of_b_take_columns_for_as_many_lines_as_a_half_has(n: int, registers: int) -> None:
    held = fragment(f"tcgen05.mma.cta_group::2.m128n{n}.e4m3.ue8m0", "sfb")
    assert (held.rows, held.registers) == (n, registers)
