"""The pictures of every form say of each element what its fragment says, where its row's and column's names are."""

import base64
import re
import zlib
from io import BytesIO

import pytest
from PIL import Image

import ptxloom as pl
from ptxloom.isa.matrix import variants
from ptxloom.views.core.palette import DARK, HUES, LIGHT, hue
from ptxloom.views.drawing.formats import FORMATS, as_bytes, as_svg
from ptxloom.views.drawing.placing import place
from ptxloom.views.drawing.scene import Appearance, Box
from ptxloom.views.fragments import fragment_picture, product_picture
from ptxloom.views.fragments.colouring import COLOUR_BY, group_of
from ptxloom.views.fragments.places import sentence
from ptxloom.views.fragments.prefaces import matrix_title
from unit.views.drawn import Place, cells, of_svg, tables, tex_nodes

FORMS = tuple(dict.fromkeys(move.spelling for move in variants()))
PRODUCTS = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
)
X4 = pl.fragment("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")


def test_there_are_thirty_forms() -> None:
    assert len(FORMS) == 30


def address(fragment: pl.Fragment, matrix: int, row: int) -> str:
    return f"T{fragment.address_lane(matrix=matrix, row=row)}"


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("spelling", FORMS)
def test_the_svg_of_every_form_names_every_holder_in_its_place(spelling: str) -> None:
    fragment = pl.fragment(spelling)
    svg = as_svg(fragment_picture.figure(fragment))
    found = cells(svg)
    assert len(found) == len(fragment.elements)
    for element in fragment.elements:
        box = found[Place(matrix_title(fragment, element.matrix), str(element.row), str(element.column))]
        assert " ".join(box.lines) == fragment.label(element)
        assert box.tip == sentence(fragment, element)
        assert box.fill == hue(element.lane // 4)
        if element.column == 0:
            left = [b for b in of_svg(svg)[1] if b.y == box.y and b.x < box.x and len(b.lines) == 1]
            assert max(left, key=lambda b: b.x).lines == (address(fragment, element.matrix, element.row),)


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("spelling", FORMS)
def test_the_page_of_every_form_names_every_holder_in_its_place(spelling: str) -> None:
    fragment = pl.fragment(spelling)
    page = as_bytes(fragment_picture.figure(fragment), "html").decode()
    found = tables(page)
    assert cells(page[page.index("<svg") : page.index("</svg>") + 6]) == cells(
        as_svg(fragment_picture.figure(fragment))
    )
    for element in fragment.elements:
        title, row = matrix_title(fragment, element.matrix), str(element.row)
        text, tip = found[Place(title, row, str(element.column))]
        assert text == fragment.label(element)
        assert tip == sentence(fragment, element)
        assert found[Place(title, "", "address")] is not None
    assert len(found) == len(fragment.elements) + fragment.matrices


@pytest.mark.parametrize("spelling", PRODUCTS)
def test_a_product_has_a_at_the_left_and_b_above_what_they_make(spelling: str) -> None:
    figure = product_picture.figure(spelling)
    found = cells(as_svg(figure))
    operands = {name: pl.fragment(spelling, name) for name in "abd"}
    assert len(found) == sum(len(fragment.elements) for fragment in operands.values())
    boxes: dict[tuple[str, int, int], tuple[float, float]] = {}
    for name, fragment in operands.items():
        title = f"{name.upper()}, {fragment.width}-bit elements"
        for element in fragment.elements:
            box = found[Place(title, str(element.row), str(element.column))]
            assert " ".join(box.lines) == fragment.label(element)
            boxes[name, element.row, element.column] = box.x, box.y
    m, n, k = operands["d"].rows, operands["d"].columns, operands["a"].columns
    for row in range(m):  # the row of A ends where that of D begins
        assert boxes["a", row, k - 1][1] == boxes["d", row, 0][1]
        assert boxes["a", row, k - 1][0] < boxes["d", row, 0][0]
    for column in range(n):  # the column of B ends above that of D
        assert boxes["b", k - 1, column][0] == boxes["d", 0, column][0]
        assert boxes["b", k - 1, column][1] < boxes["d", 0, column][1]


@pytest.mark.parametrize("by", COLOUR_BY)
def test_a_colour_is_of_what_was_asked_for_and_the_legend_says_so(by: str) -> None:
    figure = fragment_picture.figure(X4, by)
    svg = as_svg(figure)
    found = cells(svg)
    for element in X4.elements:
        box = found[Place(f"matrix {element.matrix}", str(element.row), str(element.column))]
        assert box.fill == hue(group_of(X4, element, by))
    assert figure.legend is not None
    texts = [text.text for text in of_svg(svg)[0]]
    assert all(name in texts for _, name in figure.legend.entries)
    assert [colour for colour, _ in figure.legend.entries] == list(HUES[: len(figure.legend.entries)])


def test_banks_are_those_of_dense_rows_of_16_bytes() -> None:
    first = X4.holder(matrix=0, row=0, column=0)
    assert [group_of(X4, X4.holder(matrix=0, row=row, column=7), "bank") for row in range(8)] == [*range(8)]
    assert group_of(X4, first, "bank") == group_of(X4, X4.holder(matrix=3, row=0, column=6), "bank") == 0


def test_what_cannot_be_is_refused_in_a_sentence() -> None:
    with pytest.raises(pl.UsageError, match="colour_by is 'shape'; it must be one of lane, register, matrix, bank"):
        fragment_picture.figure(X4, "shape")
    with pytest.raises(pl.UsageError, match="form is 'gif'; it must be one of svg, html, tex, png, pdf"):
        pl.draw(X4, "gif")
    with pytest.raises(pl.UsageError, match="value is 3; it must be one that can be drawn"):
        pl.draw(3)
    with pytest.raises(pl.UsageError, match="colour_by is 'lane'; it must be left out"):
        pl.draw(pl.layout.Layout(4), colour_by="lane")
    with pytest.raises(pl.UnsupportedForm, match="holds not all of A, B and C in registers"):
        pl.draw("wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16")


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_picture_has_the_same_bytes(form: str) -> None:
    assert pl.draw(X4, form) == pl.draw(X4, form)


def test_the_tex_holds_every_label_of_the_svg() -> None:
    svg = as_svg(fragment_picture.figure(X4))
    texts, boxes = of_svg(svg)
    said = sorted([t.text for t in texts] + [line for box in boxes for line in box.lines])
    nodes = tex_nodes(pl.draw(X4, "tex").decode())
    signs = {r"$\downarrow$": "↓", r"$\rightarrow$": "→", r"\textendash": "–"}
    plain = [re.sub("|".join(map(re.escape, signs)), lambda m: signs[m[0]], node) for node in nodes]
    assert sorted(plain) == sorted(said)


@pytest.mark.parametrize(("dark", "transparent"), [(False, False), (True, False), (False, True)])
def test_the_png_has_the_colour_of_each_cell_in_its_place(dark: bool, transparent: bool) -> None:
    image = Image.open(BytesIO(pl.draw(X4, "png", dark=dark, transparent=transparent)))
    theme = DARK if dark else LIGHT
    scene = place(fragment_picture.figure(X4))
    assert image.size == (2 * scene.width, 2 * scene.height)
    pixels = image.convert("RGBA")
    ground = pixels.getpixel((0, 0))
    assert ground == ((0, 0, 0, 0) if transparent else (*bytes.fromhex(theme.ground[1:]), 255))
    for box in scene.marks:
        if isinstance(box, Box):
            corner = round(2 * box.x) + 4, round(2 * box.y) + 4
            assert pixels.getpixel(corner) == (*bytes.fromhex(theme.colour(box.fill)[1:]), 255)


def test_the_pdf_carries_its_font_and_draws_every_cell() -> None:
    data = pl.draw(X4, "pdf")
    assert data.startswith(b"%PDF-")
    assert data.count(b"/FontFile2") == 2
    scene = place(fragment_picture.figure(X4))
    assert b"/MediaBox [ 0 0 %g %g ]" % (scene.width * 0.75, scene.height * 0.75) in data
    streams = re.findall(rb"ASCII85Decode /FlateDecode \].*?stream\s+(.*?)~>", data, re.DOTALL)
    content = max((zlib.decompress(base64.a85decode(stream.strip())) for stream in streams[:1]), key=len).decode()
    boxes = [mark for mark in scene.marks if isinstance(mark, Box)]
    drawn = re.findall(r"n ([\d.]+) ([\d.]+) ([\d.]+) ([\d.]+) re B", content)
    assert [tuple(map(float, found)) for found in drawn] == [(b.x, b.y, b.width, b.height) for b in boxes]


def test_a_dark_picture_has_light_text_on_a_dark_ground_and_a_transparent_one_no_ground() -> None:
    dark = pl.draw(X4, dark=True).decode()
    assert f"fill='{DARK.ground}'/>" in dark
    assert f"fill='{DARK.ink}'" in dark
    clear = as_svg(fragment_picture.figure(X4), Appearance(LIGHT, transparent=True))
    assert LIGHT.ground not in re.findall(r"<rect width='\d+' height='\d+' fill='(#\w+)'/>", clear)


def test_a_picture_shrinks_to_its_frame() -> None:
    assert "style='max-width:100%;height:auto'" in pl.draw(X4).decode()


@pytest.mark.parametrize("value", [X4, PRODUCTS[0], pl.layout.Layout((8, 8))], ids=["fragment", "product", "layout"])
def test_nothing_is_cut_off(value: object) -> None:
    svg = pl.draw(value).decode()
    found = re.search(r"viewBox='0 0 (\d+) (\d+)'", svg)
    assert found is not None
    width, height = map(int, found.groups())
    texts, boxes = of_svg(svg)
    assert all(b.x >= 0 and b.x + b.width <= width and b.y >= 0 and b.y + b.height <= height for b in boxes)
    for box in boxes:
        assert all(len(line) * 11 * 0.602 <= box.width for line in box.lines)
    for text in texts:
        back = {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
        start = text.x - back * len(text.text) * 6.63
        assert start >= 0
        assert start + len(text.text) * 6.62 <= width
