"""Pictures of layouts say what the layouts say."""

import re
import xml.etree.ElementTree as ET

from ptxloom.atoms import copy_atoms, make_tiled_copy_a, make_tiled_mma, mma_atom
from ptxloom.layout import Layout, Swizzle, composition, recast
from ptxloom.views.drawing.figure import Figure
from ptxloom.views.drawing.formats import as_svg
from ptxloom.views.layouts import layout_picture

SVG = "{http://www.w3.org/2000/svg}"
MMA = make_tiled_mma("SM80_16x8x16_F32F16F16F32_TN", (2, 2, 1), (32, 32, 16))


def cells(figure: Figure) -> list[str]:
    """The labels of every cell of the SVG, in order."""
    root = ET.fromstring(as_svg(figure))  # noqa: S314 - our own text
    found = [group for group in root.findall(f"{SVG}g") if group.find(f"{SVG}text") is not None]
    return [" ".join(text.text or "" for text in group.findall(f"{SVG}text")) for group in found]


def test_a_layout_draws_every_value_once_in_its_place() -> None:
    layout = composition(Swizzle(2, 0, 3), Layout((8, 4), (4, 1)))
    assert cells(layout_picture.figure(layout)) == [str(value) for value in layout.offsets()]
    assert cells(layout_picture.figure(Layout(5, 3))) == ["0", "3", "6", "9", "12"]


def test_the_text_is_a_table_of_rows() -> None:
    assert layout_picture.text(Layout((2, 3), (3, 1))) == "(2,3):(3,1)\n 0 1 2\n 3 4 5\n"
    assert layout_picture.text(Layout((64, 64))) == "(64,64):(1,64)\n"


def test_a_tiled_copy_names_every_thread_and_value_of_its_tile() -> None:
    copy = make_tiled_copy_a("SM75_U32x4_LDSM_N", MMA)
    drawn = cells(layout_picture.tiled_copy(copy))
    assert len(drawn) == 2 * 32 * 16
    destination = drawn[32 * 16 :]
    assert {re.sub(r"\+\d+", "", label) for label in destination} == {
        f"T{t} V{v}" for t in range(128) if t // 32 in {0, 1} for v in range(8)
    }
    assert all("+1 " in label for label in destination)  # the two warps along N hold the same


def test_a_tiled_mma_and_an_atom_draw_a_b_and_c() -> None:
    assert len(cells(layout_picture.tiled_mma(MMA))) == 32 * 16 + 32 * 16 + 32 * 32
    drawn = cells(layout_picture.mma_atom(mma_atom("m16n8k16.row.col.f32.f16.f16.f32")))
    assert len(drawn) == 256 + 128 + 128
    assert len(set(drawn[128:384])) == 256  # after B, which stands above


def test_a_copy_atom_draws_rows_of_16_bytes() -> None:
    for atom in copy_atoms():
        drawn = cells(layout_picture.copy_atom(atom))
        bits = atom.instruction.held.bits
        tv = recast(atom.ref_layout, 1, bits)
        assert sorted(drawn) == sorted(f"T{t} V{v}" for t in range(32) for v in range(tv[1].size))
