"""Pictures of banks, swizzles, layouts and products hold in each cell what the value says of it."""

import re

import pytest

import ptxloom as pl
from ptxloom.atoms import TiledMma, make_tiled_copy_a, make_tiled_mma, mma_atom
from ptxloom.atoms.mma import Operand
from ptxloom.banks.swizzles import find_swizzles
from ptxloom.banks.tiles import make_tile
from ptxloom.layout import Layout, Swizzle, composition
from ptxloom.views import bank_pictures
from ptxloom.views.core.palette import HEAT, LIGHT, hue
from ptxloom.views.descriptors import swizzle_picture
from ptxloom.views.drawing import svg
from ptxloom.views.drawing.figure import Cell, Figure, Grid
from ptxloom.views.drawing.formats import as_bytes, as_svg
from ptxloom.views.layouts import layout_picture
from ptxloom.views.runs import profile_picture
from unit.views.drawn import Place, cells

MMA = make_tiled_mma("SM80_16x8x8_F32F16F16F32_TN", (2, 2, 1), (32, 16, 16))
X4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
HOSTILE = "a\x1b[31m \\input{/etc/passwd} <script>&'\" \u202e %$#_{}~^`"


def grid_of(figure: Figure, title: str) -> Grid:
    return next(grid for grid in figure.grids if title in grid.title)


@pytest.mark.parametrize("by", bank_pictures.COLOUR_BY)
@pytest.mark.parametrize("pitch", [64, 80, 128])
def test_each_bank_of_each_wavefront_is_the_lane_that_it_serves(pitch: int, by: str) -> None:
    report = pl.bank_conflicts(X4, [pitch * lane for lane in range(32)])
    figure = bank_pictures.figure(report, None, by)
    drawn = cells(as_svg(figure))
    for number, phase in enumerate(report.phases):
        grid = grid_of(figure, f"phase {number},")
        served = {(w, use.bank): use.lanes[w] for use in phase.banks for w in range(len(use.words))}
        assert len(grid.cells) == 32 * phase.wavefronts
        for (wavefront, bank), cell in grid.cells.items():
            lanes = served.get((wavefront, bank), ())
            assert cell.lines == ((f"{lanes[0]}{'+' * (len(lanes) > 1)}",) if lanes else ())
            assert cell.alarm == (bool(lanes) and wavefront > 0)
            box = drawn[Place(grid.title, str(wavefront + 1), str(bank))]
            assert box.lines == cell.lines
            assert box.fill == (hue((lanes[0] if by == "lane" else bank) // 4) if lanes else LIGHT.blank)


def test_before_stands_left_of_after() -> None:
    addresses = [128 * lane for lane in range(32)]
    before = pl.bank_conflicts(X4, addresses)
    after = pl.bank_conflicts(X4, [Swizzle(3, 4, 3)(address) for address in addresses])
    figure = bank_pictures.figure(after, before)
    assert [[grid.title.partition(":")[0] for grid in band if grid] for band in figure.bands] == [
        ["before", "after"]
    ] * 4
    assert sum(cell.alarm for grid in figure.grids for cell in grid.cells.values()) == 4 * 7 * 4


@pytest.mark.parametrize("tile", [(64, 64, "f16", None), (32, 32, "f16", None), (16, 40, "f32", 160)])
def test_each_piece_lies_where_the_arrangement_puts_it(tile: tuple[int, int, str, int | None]) -> None:
    found = find_swizzles(make_tile(*tile), ["ldmatrix.x4"])
    best = found.choices[0] if found.free else found.best
    figure = swizzle_picture.figure(found)
    for choice in (found.plain, best):
        arrangement = choice.arrangement
        seen = 0
        for cell in grid_of(figure, str(arrangement)).cells.values():
            if not cell.lines:
                continue
            seen += 1
            row, piece = map(int, re.findall(r"\d+", cell.lines[0]))
            place = row * arrangement.pitch_bytes + 16 * piece
            address = arrangement.swizzle(place) if arrangement.swizzle else place
            assert cell.tip.endswith(f"at {address:#x}")
            assert cell.fill == hue(piece)
        assert seen == min(16 * 8, found.tile.rows * found.tile.row_bytes // 16)
    costs = figure.grids[-1]
    assert costs.cells[0, 0].lines == (f"{found.plain.costs[0].wavefronts} of {found.plain.costs[0].ideal}",)


def test_each_offset_of_a_layout_stands_at_its_coordinates() -> None:
    layout = composition(Swizzle(2, 0, 3), Layout((8, 4), (4, 1)))
    drawn = cells(as_svg(layout_picture.figure(layout)))
    assert {(int(p.row), int(p.column)): int(box.lines[0]) for p, box in drawn.items()} == {
        (row, column): layout((row, column)) for row in range(8) for column in range(4)
    }


def holders(mma: TiledMma, operand: Operand, rows: int) -> dict[tuple[int, int], set[tuple[int, int]]]:
    """By place, every thread and value that holds it, asked of the layout one by one."""
    tv = mma.layout_tv(operand)
    found: dict[tuple[int, int], set[tuple[int, int]]] = {}
    for t in range(tv[0].size):
        for v in range(tv[1].size):
            at = tv((t, v))
            found.setdefault((at % rows, at // rows), set()).add((t, v))
    return found


@pytest.mark.parametrize("by", layout_picture.COLOUR_BY)
def test_each_element_of_a_tiled_mma_names_who_holds_it(by: str) -> None:
    figure = layout_picture.tiled_mma(MMA, by)
    drawn = cells(as_svg(figure))
    extents: tuple[tuple[Operand, int], ...] = (("a", 32), ("b", 16), ("c", 32))
    for operand, rows in extents:
        grid = grid_of(figure, f"{operand.upper()}: ")
        expected = holders(MMA, operand, rows)
        assert len(grid.cells) == len(expected)
        for (x, y), who in expected.items():
            row, column = (y, x) if operand == "b" else (x, y)
            box = drawn[Place(grid.title, str(row), str(column))]
            t, v = int(box.lines[0][1:].partition("+")[0]), int(box.lines[1][1:])
            assert (t, v) in who
            assert ("+" in box.lines[0]) == (len(who) > 1)
            assert box.fill == hue(v if by == "register" else t // 4)


def test_every_atom_and_copy_is_drawn_in_every_place() -> None:
    copy = make_tiled_copy_a("SM75_U32x2_LDSM_N", MMA)
    for grid in layout_picture.tiled_copy(copy).grids:
        assert len(grid.cells) == 32 * 16
    figure = layout_picture.mma_atom(mma_atom("SM80_16x8x8_F32F16F16F32_TN"))
    assert [len(grid.cells) for grid in figure.grids] == [64, 128, 128]
    with pytest.raises(pl.UsageError, match="colour_by is 'matrix'; it must be one of lane, register"):
        pl.draw(copy, colour_by="matrix")


def test_heat_is_darker_where_it_costs_more() -> None:
    text = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k()
{
.reg .b32 %a, %v;
.shared .align 128 .b8 tile[4096];
mov.u32 %a, %tid.x;
shl.b32 %a, %a, 7;
ld.shared.b32 %v, [%a];
ret;
}
"""
    module = pl.parse(text, "k.ptx")
    profile = pl.kernel(module, "k").launch(1, 32, [], profile=True).profile
    assert profile is not None
    for function in (module.functions["k"], None):
        (grid,) = profile_picture.figure(profile, function).grids
        rows = {grid.cells[row, 6].lines[0].strip(): row for row in range(len(grid.rows))}
        hot, cold = rows["ld.shared.b32 %v, [%a];"], rows["ret;"]
        assert grid.rows[hot] == "10"
        assert grid.cells[hot, 6].fill == HEAT[-1]
        assert grid.cells[cold, 6].fill == HEAT[0]
        assert grid.cells[hot, 3].lines == ("32",)
        assert grid.cells[hot, 4] == Cell(("31",), alarm=True)


@pytest.mark.parametrize("form", ["svg", "html", "tex", "png", "pdf"])
def test_no_name_steers_a_terminal_a_page_or_tex(form: str) -> None:
    grid = Grid(
        HOSTILE, (HOSTILE,), (HOSTILE,), {(0, 0): Cell((HOSTILE,), tip=HOSTILE)}, HOSTILE, HOSTILE, notes=(HOSTILE,)
    )
    data = as_bytes(Figure(HOSTILE, ((grid,),), (HOSTILE,)), form)
    if form in {"png", "pdf"}:
        return
    comment, _, text = data.decode().partition("\n")
    assert "\x1b" not in comment + text
    assert "\u202e" not in comment + text
    assert "<script>" not in text
    if form == "tex":
        nodes = "\n".join(line.partition(") {")[2] for line in text.splitlines() if line.startswith("\\node"))
        assert nodes.count("input") >= 6  # title and note of the picture and of the grid, names, axes, and the cell's
        assert "\\input" not in nodes
        assert not re.search(r"(?<!\\)[%$#_~^]", nodes)


def test_what_many_cells_share_is_worked_out_once_and_still_theirs() -> None:
    figure = layout_picture.figure(Layout((2, 2)))
    assert as_svg(figure).count("<rect ") == 1 + 4 + 8  # the ground, the cells, the legend
    assert svg.FONT in as_svg(figure)
