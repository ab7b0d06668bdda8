"""The hover text for the thing under the cursor."""

from __future__ import annotations

import pytest

from lsp_text import KERNEL, cursor, kernel
from ptxloom.fragments import fragment
from ptxloom.isa import instruction_spec
from ptxloom.isa.matrix import variants
from ptxloom.lsp.hover import hover
from ptxloom.lsp.instruction_hover import opcode_page


def said(old: str, new: str) -> str:
    document, offset = kernel(old, new)
    found = hover(document, offset)
    assert found is not None
    assert found.start <= offset <= found.end
    return found.markdown


def nothing(text: str) -> bool:
    return hover(*cursor(text)) is None


def test_an_opcode_is_explained_with_its_form_and_its_fragment() -> None:
    page = said("ldmatrix.sync", "ldma‸trix.sync")
    spec = instruction_spec("ldmatrix")
    assert spec.title in page
    assert "ldmatrix.sync.aligned.shape.num{.trans}{.ss}.type r, [p];" in page
    assert "sm_75 or later" in page
    assert f"PTX ISA {spec.section}" in page
    held = fragment("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
    row = [held.label(held.holder(matrix=0, row=3, column=column)) for column in range(8)]
    assert f"| T3 | 3 | {' | '.join(row)} |" in page


@pytest.mark.parametrize("spelling", [move.spelling for move in variants()])
def test_every_matrix_move_shows_who_holds_what(spelling: str) -> None:
    held = fragment(spelling)
    page = opcode_page(tuple(spelling.split(".")))
    assert held.label(held.holder(matrix=0, row=held.rows - 1, column=held.columns - 1)) in page
    assert str(held.confirmed) in page


def test_the_operands_of_an_mma_are_shown() -> None:
    page = opcode_page(("mma", "sync", "aligned", "m16n8k16", "row", "col", "f32", "f16", "f16", "f32"))
    assert [line for line in page.splitlines() if line.startswith("####")] == [
        f"#### Operand {operand}: who holds what" for operand in "abc"
    ]


HOLDERS = (
    ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry f()\n"
    "{ .reg .f32 d<8>; .reg .b32 a<8>, m; .reg .b64 l, r; .reg .pred p;\n"
)


@pytest.mark.parametrize(
    ("instruction", "part"),
    [
        (
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0,d1,d‸2,d3}, l, r, p, 1, 1, 0, 0;",
            "register 2 of 4: lane T holds row T/4%8 + 16*(T/32) + 8, column 2*(T%4).",
        ),
        (
            "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {d0,d1,d2,d3}, {a0,a1,a2,a‸3}, r, p, 1, 1;",
            "register 3 of 4: lane T holds row T/4%8 + 16*(T/32) + 8, column 4*(T%4) + e + 16;",
        ),
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {a0,a1}, {a0,a1}, {a2,a3}, {a4,a5}, ‸m, 0;",
            "register 0 of 1: lane T holds row T/4 + 8*(e/4), column e%4 of selector T%4;",
        ),
        (
            "wmma.load.b.sync.aligned.col.m8n32k16.f16 {a0,a1,a2,‸a3,a4,a5,a6,a7}, [l];",
            "register 3 of 8: lane T holds row 2*(T%4) + e + 8, column T/4 + 8;",
        ),
        (
            "tcgen05.ld.sync.aligned.16x64b.x2.b32 {a0,‸a1}, [m];",
            "register 1 of 2: lane T holds row 8*(T%2) + T/4, column T/2%2 + 2.",
        ),
    ],
)
def test_a_register_of_any_fragment_says_what_it_holds(instruction: str, part: str) -> None:
    found = hover(*cursor(f"{HOLDERS}{instruction}\n}}\n"))
    assert found is not None
    assert part in found.markdown


def test_a_descriptor_holds_no_fragment() -> None:
    found = hover(
        *cursor(f"{HOLDERS}wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {{d0,d1,d2,d3}}, ‸l, r, p, 1, 1;\n}}\n")
    )
    assert found is not None
    assert "lane T holds" not in found.markdown


def test_the_operands_of_a_warpgroup_are_shown() -> None:
    page = opcode_page(("wgmma", "mma_async", "sync", "aligned", "m64n256k16", "f32", "f16", "f16"))
    assert [line for line in page.splitlines() if line.startswith("####")] == [
        "#### Operand a: who holds what",
        "#### Operand d: who holds what",
    ]
    assert "Columns 16 to 255 repeat columns 0 to 15" in page


def test_an_unfinished_instruction_shows_its_syntax_and_what_is_missing() -> None:
    document, offset = cursor(KERNEL.replace("ldmatrix.sync.aligned.m8n8.x4", "ldmat‸rix.sync.m8n8.x4", 1))
    found = hover(document, offset)
    assert found is not None
    assert "requires `.aligned`" in found.markdown


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        (".trans.shared", ".tr‸ans.shared", "`.trans`: threads receive columns"),
        (".m8n8.x4", ".m8n8‸.x4", "`.m8n8` (`.shape`): rows and columns"),
        (".m8n8.x4", ".m8n8.x‸4", "One of `.x1`, `.x2`, `.x4`"),
        ("%tid.x", "%t‸id.x", ".sreg .v4 .u32 %tid"),
        ("%tid.x", "%tid.‸x", ".sreg .v4 .u32 %tid"),
        ("sm_90", "sm_‸90", "needs PTX 7.8"),
        (".align 4", ".al‸ign 4", "a multiple of this number of bytes"),
        (".visible", ".vis‸ible", "can be used by other modules"),
        (".visible", "‸.visible", "can be used by other modules"),
        ("table[64]", "ta‸ble[64]", "64 bytes"),
        (".param .u64 out", ".param .u64 ou‸t", "parameter, declared on line 18, never used"),
        ("bra DONE", "bra DO‸NE", "label, declared on line 35, used once"),
        ("entry k(", "entry ‸k(", ".visible .entry k("),
        ("entry k(", "entry ‸k(", "kernel, declared on line 18\n"),
        ("%tid.x", "WARP‸_SZ", "the number of lanes of a warp"),
        ("setp.ge.u32 %p1, %r1", "setp.ge.u32 %p1, %‸r1", "one of `%r0` to `%r8`, declared on line 21"),
        ("setp.ge.u32 %p1, %r1", "setp.ge.u32 %p1, %‸r1", "mov.u32 %r1, %tid.x;  // line 24"),
        ("setp.ge.u32 %p1, %r1", "setp.ge.u32 %p1, %‸r1", "here operand `a` of `setp`"),
        ("{%r3,", "{%r‸3,", "written once"),
        ("{%r3, %r4", "{%r3, %r4‸", "register 1 of 4: lane T holds row 2*(T%4) + e, column T/4 of matrix 1"),
        (", [%r1];\nDONE", ", [%‸r1];\nDONE", "written once"),
    ],
)
def test_what_is_said_of_a_thing(old: str, new: str, part: str) -> None:
    assert part in said(old, new)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("mov.f32 a, 0f3F8‸00000;", "1.0"),
        ("mov.f64 a, 0dC0000000000‸00000;", "-2.0"),
        ("mov.f32 a, 0f7F8‸00000;", "inf"),
    ],
)
def test_a_float_is_said_in_decimal(text: str, value: str) -> None:
    found = hover(*cursor(text))
    assert found is not None
    assert found.markdown.endswith(f"is {value}")


@pytest.mark.parametrize(
    "text",
    [
        "// ldma‸trix",
        "/* ldma‸trix */ ret;",
        "‸",
        "mov.b32 a‸, b;",
        "\n‸\n",
        "mov.b32 a, 12‸3;",
        ".nosu‸ch",
        "%no‸ne.x",
        "0f3‸F",
    ],
)
def test_of_some_things_nothing_is_said(text: str) -> None:
    assert nothing(text)


def test_who_holds_what_comes_before_everything_else_that_is_known() -> None:
    page = opcode_page(("ldmatrix", "sync", "aligned", "m8n8", "x4", "shared", "b16"))
    first = page.splitlines()
    assert first[0].startswith("**ldmatrix**: ")
    assert first[2] == "#### Who holds what"
    assert page.index("| T0 | 0 | T0 V0:R0 |") < page.index("```ptx") < page.index("PTX ISA")
    assert page.count("#### ") == 1
