"""Renderings as files that open. `pytest tests/golden --update` rewrites them; look at the result before committing."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import ptxloom as pl
from machine.instruments.test_shared_map import swizzled
from ptxloom.comparison import Comparison, Reference
from ptxloom.comparison import compare as held_against
from ptxloom.descriptors import Box, SharedOperand, SharedTile, encode_im2col, encode_tiled
from ptxloom.difference import ModuleDifference, compare
from ptxloom.inspection import Inspection, inspect
from ptxloom.views import bank_pictures
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import Style
from ptxloom.views.descriptors import descriptor_pages, tensor_map_pages
from ptxloom.views.findings import finding_reports, machine_readable
from ptxloom.views.findings.sarif import sarif
from ptxloom.views.fragments import maps, places
from ptxloom.views.fragments.fragment_picture import svg
from ptxloom.views.modules import differences, inspections, trees
from ptxloom.views.runs import comparison_reports, launch_templates, shared_maps
from ptxloom.views.runs.shared_maps import Shown

FILES: Final = Path(__file__).parent / "files"

BROKEN: Final = """\
.version 9.0
.target sm_90a
.address_size 64
.visible .entry f(.param .u64 a)
{
\t.reg .b32 %r<5>;
\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r0;
\tret;
"""
X4_TRANS: Final = pl.fragment("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16")
FP4: Final = pl.fragment("ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64")
PITCH_64: Final = pl.bank_conflicts("ldmatrix.sync.aligned.m8n8.x2.shared.b16", [64 * lane for lane in range(32)])
EXAMPLES: Final = Path(__file__).parents[2] / "examples"
MMA_A: Final = pl.fragment("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "a")
WGMMA_D: Final = pl.fragment("wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16", "d")

K_128B: Final = SharedOperand(pl.MatrixDescriptor(0x400, 16, 1024, "128B"), 64, 16)
MN_64B: Final = SharedTile(128, 64, "bf16", "mn", "64B", 0x1000)
SWAPPED: Final = SharedOperand(pl.MatrixDescriptor(0x400, 1024, 16, "128B"), 64, 16)
EDGE: Final = Box(encode_tiled("FLOAT16", 0x10000, (60, 30), (128,), (64, 8), swizzle="128B"), (16, 26), 0x400)
PIXELS: Final = Box(
    encode_im2col("FLOAT16", 0, (64, 5, 4, 2), (128, 640, 2560), (-1, -1), (-1, -1), 32, 12, swizzle="64B"),
    (32, 2, -1, 0), 0x1000, (1, 2),
)  # fmt: skip


def broken() -> tuple[pl.Diagnostic, ...]:
    return pl.parse(BROKEN, "broken.ptx").diagnostics


def hgemm() -> Inspection:
    return inspect(pl.parse((EXAMPLES / "hgemm.ptx").read_text(encoding="utf-8"), "hgemm.ptx"))


def edited() -> ModuleDifference:
    """A kernel beside itself with other names, a `.trans` forgotten, and a barrier less."""
    text = (EXAMPLES / "hgemm.ptx").read_text(encoding="utf-8")
    head, barrier, rest = text.rpartition("bar.sync")
    other = head + "//" + barrier + rest.replace(".trans", "", 1)
    other = other.replace(".x4.trans", ".x4", 1).replace("%r", "%reg").replace("hgemm_param", "gemm_param")
    return compare(pl.parse(text, "hgemm.ptx"), pl.parse(other, "edited.ptx"))


def different() -> Comparison:
    """A column block too large by a half, one element that is no number."""
    wanted = np.arange(1.0, 513.0).reshape(16, 32).astype(np.float32)
    got = wanted.copy()
    got[:, 8:16] *= 1.5
    got[3, 9] = np.nan
    return held_against(got, Reference(wanted, against="A @ B"), name="C")


def beginning(name: str) -> str:
    """A launch file begun for an example."""
    module = pl.parse((EXAMPLES / name).read_text(encoding="utf-8"), name)
    return launch_templates.template(module, next(iter(module.functions)), name)


RENDERINGS: Final[dict[str, Callable[[], str]]] = {
    "map_x4_trans.txt": lambda: maps.full(X4_TRANS),
    "map_x4_trans.ansi": lambda: maps.full(X4_TRANS, Style(colour=True)),
    "map_x4_trans.svg": lambda: svg(X4_TRANS),
    "map_x4_trans.md": lambda: maps.markdown(X4_TRANS),
    "map_fp4.txt": lambda: maps.full(FP4),
    "map_fp4.svg": lambda: svg(FP4),
    "map_mma_a.txt": lambda: maps.full(MMA_A),
    "map_mma_a.svg": lambda: svg(MMA_A),
    "map_wgmma_d.txt": lambda: maps.full(WGMMA_D),
    "map_wgmma_d.svg": lambda: svg(WGMMA_D),
    "map_wgmma_metadata.txt": lambda: maps.full(pl.fragment("wgmma.sp.m64n8k32.f32.f16.f16", "e")),
    "map_wmma_a.txt": lambda: maps.full(pl.fragment("wmma.load.a.row.m8n32k16.shared.f16")),
    "map_tensor_memory.txt": lambda: maps.full(pl.fragment("tcgen05.ld.16x256b.x16.b32")),
    "map_tensor_memory.svg": lambda: svg(pl.fragment("tcgen05.st.16x32bx2.x2.unpack::16b.b32")),
    "lane_5.txt": lambda: places.full_lane(X4_TRANS, X4_TRANS.held_by(5)),
    "lane_5.csv": lambda: places.as_csv(X4_TRANS, X4_TRANS.held_by(5)),
    "descriptor_k_128B.txt": lambda: descriptor_pages.full(K_128B),
    "descriptor_k_128B.svg": lambda: descriptor_pages.svg(K_128B),
    "descriptor_mn_64B.txt": lambda: descriptor_pages.full(MN_64B.operand),
    "descriptor_mn_64B.svg": lambda: descriptor_pages.svg(MN_64B.operand),
    "descriptor_swapped.ansi": lambda: descriptor_pages.full(SWAPPED, Style(colour=True), assumed=True),
    "descriptor_tile.txt": lambda: descriptor_pages.full_tile(MN_64B),
    "tensor_map_edge.txt": lambda: tensor_map_pages.full(EDGE),
    "tensor_map_edge.svg": lambda: tensor_map_pages.svg(EDGE),
    "tensor_map_pixels.txt": lambda: tensor_map_pages.full(PIXELS),
    "findings.txt": lambda: finding_reports.full(broken()),
    "findings.ansi": lambda: finding_reports.full(broken(), Style(colour=True)),
    "findings.json": lambda: machine_readable.as_json(broken()),
    "findings.sarif": lambda: sarif(broken(), "0.0.0", {}),
    "findings.github": lambda: machine_readable.github(broken()),
    "banks.txt": lambda: bank_pictures.full(PITCH_64),
    "inspect_hgemm.txt": lambda: inspections.full(hgemm()),
    "inspect_hgemm.json": lambda: inspections.as_json([hgemm()]),
    "diff.txt": lambda: differences.full(edited()),
    "diff.json": lambda: differences.as_json(edited()),
    "shared.txt": lambda: shared_maps.full(swizzled(), Shown(values=True)),
    "shared.svg": lambda: shared_maps.svg(swizzled(), Shown(by_chunk=True)),
    "shared.html": lambda: shared_maps.html(swizzled(wrong=True), Shown()),
    "comparison.txt": lambda: comparison_reports.full(different()),
    "comparison.ansi": lambda: comparison_reports.full(different(), Style(colour=True)),
    "comparison.json": lambda: to_text(comparison_reports.record(different())),
    "launch_hgemm.toml": lambda: beginning("hgemm.ptx"),
    "launch_triton_matmul.toml": lambda: beginning("triton_matmul.ptx"),
    "tree.txt": lambda: trees.text(pl.parse(BROKEN, "broken.ptx")),
}


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_rendering_is_what_a_human_approved(name: str, request: pytest.FixtureRequest) -> None:
    path, text = FILES / name, RENDERINGS[name]()
    if request.config.getoption("--update"):
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_text(encoding="utf-8")


def test_no_golden_file_is_left_over() -> None:
    assert {p.name for p in FILES.iterdir()} == RENDERINGS.keys()


@pytest.mark.parametrize("fragment", [X4_TRANS, FP4, MMA_A], ids=str)
def test_the_picture_is_well_formed_and_labels_every_element(fragment: pl.Fragment) -> None:
    root = ET.fromstring(svg(fragment))  # noqa: S314 - our own text
    texts = [t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text")]
    for element in fragment.elements:
        assert f"V{fragment.value_of(element)}:R{element.register}" in texts
    assert sum(t.startswith("V") for t in texts) == len(fragment.elements)
    width, height = int(root.get("width", "0")), int(root.get("height", "0"))
    for box in root.iter("{http://www.w3.org/2000/svg}rect"):
        assert int(box.get("x", "0")) + int(box.get("width", "0")) <= width
        assert int(box.get("y", "0")) + int(box.get("height", "0")) <= height
