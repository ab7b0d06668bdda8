"""Renderings as files that open. `pytest tests/golden --update` rewrites them; look at the result before committing."""

import cProfile
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from pkgutil import walk_packages
from types import CodeType
from typing import Any, Final

import numpy as np
import pytest

import ptxloom as pl
import ptxloom.views
from golden.command_lines import COMMANDS, printed
from machine.instruments.test_shared_map import swizzled
from ptxloom.atoms import atom, make_tiled_copy_a, make_tiled_mma
from ptxloom.banks.swizzles import find_swizzles
from ptxloom.banks.tiles import make_tile
from ptxloom.comparison import Comparison, Precision, Reference
from ptxloom.comparison import compare as held_against
from ptxloom.descriptors import Box, InstructionDescriptor, SharedOperand, SharedTile, encode_im2col, encode_tiled
from ptxloom.diagnosis import Diagnosis, examine
from ptxloom.difference import ModuleDifference, compare
from ptxloom.hazards.kinds import KINDS
from ptxloom.inspection import Inspection, inspect
from ptxloom.layout import Swizzle, composition
from ptxloom.machine.results.trace import TraceRecord
from ptxloom.syntax.tree import Function
from ptxloom.tellings import OpcodeTellings, Telling
from ptxloom.views import bank_pictures
from ptxloom.views.core.json_text import to_text
from ptxloom.views.core.style import Style
from ptxloom.views.descriptors import descriptor_pages, tensor_map_pages
from ptxloom.views.drawing.formats import as_bytes, as_svg
from ptxloom.views.findings import finding_reports, machine_readable
from ptxloom.views.findings.sarif import sarif
from ptxloom.views.fragments import fragment_picture, maps, places
from ptxloom.views.layouts import layout_picture
from ptxloom.views.modules import difference_records, differences, inspections, trees
from ptxloom.views.runs import (
    comparison_reports,
    hazard_reports,
    launch_templates,
    profile_picture,
    profiles,
    shared_maps,
    summary,
    tellings_text,
)
from ptxloom.views.runs.run_reports import Run
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
TOLD: Final = OpcodeTellings(
    "xor",
    ("xor.type d, a, b;",),
    ("meaning/logic.py:12  bits combined",),
    ("apply", "read", "write"),
    (),
    (Telling("flow/blocks.py", 25, True, ("xor",)), Telling("flow/blocks.py", 90, False, ("xor",))),
)
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

X1: Final = pl.fragment("ldmatrix.sync.aligned.m8n8.x1.shared.b16")
MMA_PRODUCT: Final = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
TILED: Final = make_tiled_mma("SM80_16x8x8_F32F16F16F32_TN", (1, 2, 1), (16, 16, 16))
SWIZZLED_64: Final = pl.bank_conflicts(
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16", [Swizzle(2, 4, 3)(64 * lane) for lane in range(32)]
)
SMALL: Final = """\
.version 9.0
.target sm_90
.address_size 64
.visible .entry small()
{
\t.reg .b32 %t, %a, %v, %d<4>, %c<4>;
\t.shared .align 128 .b8 tile[4096];
\tmov.u32 %t, %tid.x;
\tshl.b32 %a, %t, 4;
\tadd.u32 %v, %t, 1006648320;
\tst.shared.v4.b32 [%a], {%v, %v, %v, %v};
\tbar.sync 0;
\tand.b32 %a, %t, 15;
\tshl.b32 %a, %a, 6;
\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0, %d1, %d2, %d3}, [%a];
\tmov.b32 %c0, 0;
\tmov.b32 %c1, 0;
\tmov.b32 %c2, 0;
\tmov.b32 %c3, 0;
\tmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%d0, %d1}, {%d2}, {%c0, %c1, %c2, %c3};
\tst.shared.b32 [%a], %c0;
\tret;
}
"""
RACING: Final = """\
.version 9.0
.target sm_90
.address_size 64
.visible .entry racing()
{
\t.reg .b32 %t, %a, %v, %n;
\t.reg .pred %p;
\t.shared .align 4 .b8 tile[512];
\tmov.u32 %t, %tid.x;
\tshl.b32 %a, %t, 2;
\tst.shared.b32 [%a], %t;
\txor.b32 %a, %a, 128;
\tld.shared.b32 %v, [%a];  // no barrier before it
\tmov.b32 %n, 4;
again:
\tadd.u32 %v, %v, %t;
\tsub.u32 %n, %n, 1;
\tsetp.ne.u32 %p, %n, 0;
\t@%p bra again;
\tst.shared.b32 [%a], %v;
\tret;
}
"""


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


def downgraded() -> Comparison:
    """Sums that were rounded to f16 on their way to a float."""
    wanted = np.linspace(1.0, 9.0, 64).reshape(8, 8)
    got = wanted.astype(np.float16).astype(np.float32)
    return held_against(got, Reference(wanted, against="A @ B"), name="C", precision=Precision("f16"))


def beginning(name: str) -> str:
    """A launch file begun for an example."""
    module = pl.parse((EXAMPLES / name).read_text(encoding="utf-8"), name)
    return launch_templates.template(module, next(iter(module.functions)), name)


def fragment_svg(fragment: pl.Fragment) -> str:
    return as_svg(fragment_picture.figure(fragment))


def drawn(value: object, form: str = "svg") -> str:
    return pl.draw(value, form).decode()


def function_of(text: str) -> Function:
    """The kernel of a text."""
    return next(iter(pl.parse(text, "kernel.ptx").functions.values()))


def launched(text: str, **options: Any) -> pl.LaunchResult:
    module = pl.parse(text, "kernel.ptx")
    return pl.kernel(module, next(iter(module.functions))).launch(1, 64, [], **options)


def race() -> pl.Hazard:
    """Two warps that meet in shared memory."""
    return launched(RACING, checks=["racecheck"]).hazards[0]


def traced(pattern: str) -> TraceRecord:
    """The first time that an instruction ran."""
    return launched(SMALL, trace=[pl.Trace(pattern, warps=(0,), limit=1)]).trace[0]


def misloaded() -> Diagnosis:
    """Why the kernel that the tutorial begins with is wrong."""
    root = Path(__file__).parents[2]
    compiled = pl.kernel(pl.load(root / "examples/tutorial/wrong.ptx"), "product")
    a, b = np.ones((16, 64), np.float16), np.ones((64, 8), np.float16)  # a matrix of ones hides nothing
    ran = compiled.launch(1, 32, [a, b, np.zeros((16, 8), np.float32)], provenance=True)
    assert ran.provenance is not None
    (found,) = examine(ran.provenance, "C = A @ B", names={0: "A", 1: "B", 2: "C"}).found
    return found


def profiled() -> pl.Profile:
    found = launched(SMALL, profile=True).profile
    assert found is not None
    return found


RENDERINGS: Final[dict[str, Callable[[], str]]] = {
    "map_x4_trans.txt": lambda: maps.full(X4_TRANS),
    "map_x4_trans.ansi": lambda: maps.full(X4_TRANS, Style(colour=True)),
    "map_x4_trans.svg": lambda: fragment_svg(X4_TRANS),
    "map_x4_trans.md": lambda: maps.markdown(X4_TRANS),
    "map_fp4.txt": lambda: maps.full(FP4),
    "map_fp4.svg": lambda: fragment_svg(FP4),
    "map_mma_a.txt": lambda: maps.full(MMA_A),
    "map_mma_a.svg": lambda: fragment_svg(MMA_A),
    "map_wgmma_d.txt": lambda: maps.full(WGMMA_D),
    "map_wgmma_d.svg": lambda: fragment_svg(WGMMA_D),
    "map_wgmma_metadata.txt": lambda: maps.full(pl.fragment("wgmma.sp.m64n8k32.f32.f16.f16", "e")),
    "map_wmma_a.txt": lambda: maps.full(pl.fragment("wmma.load.a.row.m8n32k16.shared.f16")),
    "map_tensor_memory.txt": lambda: maps.full(pl.fragment("tcgen05.ld.16x256b.x16.b32")),
    "map_tensor_memory.svg": lambda: fragment_svg(pl.fragment("tcgen05.st.16x32bx2.x2.unpack::16b.b32")),
    "lane_5.txt": lambda: places.full_lane(X4_TRANS, X4_TRANS.held_by(5)),
    "lane_5.csv": lambda: places.as_csv(X4_TRANS, X4_TRANS.held_by(5)),
    "descriptor_k_128B.txt": lambda: descriptor_pages.full(K_128B),
    "descriptor_k_128B.svg": lambda: as_svg(descriptor_pages.figure(K_128B)),
    "descriptor_mn_64B.txt": lambda: descriptor_pages.full(MN_64B.operand),
    "descriptor_mn_64B.svg": lambda: as_svg(descriptor_pages.figure(MN_64B.operand)),
    "descriptor_swapped.ansi": lambda: descriptor_pages.full(SWAPPED, Style(colour=True), assumed=True),
    "descriptor_tile.txt": lambda: descriptor_pages.full_tile(MN_64B),
    "tensor_map_edge.txt": lambda: tensor_map_pages.full(EDGE),
    "tensor_map_edge.svg": lambda: as_svg(tensor_map_pages.figure(EDGE)),
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
    "diff.json": lambda: difference_records.as_json(edited()),
    "shared.txt": lambda: shared_maps.full(swizzled(), Shown(values=True)),
    "shared.svg": lambda: as_svg(shared_maps.figure(swizzled(), Shown(by_chunk=True))),
    "shared.html": lambda: as_bytes(shared_maps.figure(swizzled(wrong=True), Shown()), "html").decode(),
    "comparison.txt": lambda: comparison_reports.full(different()),
    "comparison.ansi": lambda: comparison_reports.full(different(), Style(colour=True)),
    "comparison_downgrade.txt": lambda: comparison_reports.full(downgraded()),
    "comparison.json": lambda: to_text(comparison_reports.record(different())),
    "launch_hgemm.toml": lambda: beginning("hgemm.ptx"),
    "launch_triton_matmul.toml": lambda: beginning("triton_matmul.ptx"),
    "picture_product.svg": lambda: drawn(MMA_PRODUCT),
    "picture_product.html": lambda: drawn(MMA_PRODUCT, "html"),
    "picture_product.tex": lambda: drawn(MMA_PRODUCT, "tex"),
    "picture_where.svg": lambda: as_svg(fragment_picture.figure(X4_TRANS, "matrix", X4_TRANS.held_by(5))),
    "picture_dark.svg": lambda: pl.draw(X1, colour_by="register", dark=True, transparent=True).decode(),
    "picture_layout.svg": lambda: drawn(composition(Swizzle(2, 0, 3), pl.layout.Layout((8, 8), (8, 1)))),
    "picture_copy_atom.svg": lambda: drawn(atom("SM75_U16x4_LDSM_T")),
    "picture_mma_atom.svg": lambda: drawn(atom("SM80_16x8x8_F32F16F16F32_TN")),
    "picture_tiled_copy.svg": lambda: drawn(make_tiled_copy_a("SM75_U32x4_LDSM_N", TILED)),
    "picture_tiled_mma.svg": lambda: drawn(TILED),
    "picture_banks.svg": lambda: drawn(PITCH_64),
    "picture_banks_swizzled.svg": lambda: as_svg(bank_pictures.figure(SWIZZLED_64, PITCH_64, "bank")),
    "picture_swizzle.svg": lambda: drawn(find_swizzles(make_tile(32, 64, "f16"), ["ldmatrix.x4", "cp.async"])),
    "picture_padding.svg": lambda: drawn(find_swizzles(make_tile(8, 24, "f32"), ["ld.shared.b32@column"])),
    "picture_why.svg": lambda: drawn(misloaded()),
    "picture_race.svg": lambda: drawn(race()),
    "picture_trace.svg": lambda: drawn(traced("ldmatrix")),
    "picture_trace_mma.svg": lambda: drawn(traced("mma")),
    "picture_trace_lanes.svg": lambda: drawn(traced("st.shared")),
    "picture_profile.svg": lambda: as_svg(profile_picture.figure(profiled(), function_of(SMALL))),
    "picture_profile.html": lambda: drawn(profiled(), "html"),
    "picture_graph.svg": lambda: drawn(pl.flow_graph(function_of(RACING))),
    "tree.txt": lambda: trees.text(pl.parse(BROKEN, "broken.ptx")),
    "picture_tensor_d.svg": lambda: drawn(pl.fragment("tcgen05.mma.m64n32", "d")),
    "picture_tensor_pair.svg": lambda: drawn(pl.fragment("tcgen05.mma.cta_group::2.m128n128", "d")),
    "picture_tensor_scales.svg": lambda: drawn(pl.fragment("tcgen05.mma.kind::mxf4.m128n64", "sfb")),
    "picture_instruction_descriptor.svg": lambda: drawn(InstructionDescriptor("f16", 128, 96, "bf16", "bf16")),
    "picture_descriptor.svg": lambda: drawn(pl.MatrixDescriptor(0x400, 16, 1024, "128B")),
    "picture_descriptor_tile.svg": lambda: drawn(SharedTile(8, 64, "bf16")),
    "picture_tensor_map.svg": lambda: drawn(encode_tiled("INT64", 0, (16,), (), (16,))),
    "profile.json": lambda: profiles.as_json(profiled()),
    "shared.json": lambda: shared_maps.as_json(swizzled()),
    "layout.txt": lambda: layout_picture.text(composition(Swizzle(2, 0, 3), pl.layout.Layout((8, 8), (8, 1)))),
    "race.gitlab.json": lambda: hazard_reports.gitlab([race()]),
    "race.junit.xml": lambda: hazard_reports.junit([race()]),
    "summary_run.md": lambda: summary.of_run(Run("k", 1, 64, 12, (race(),)), "racecheck watched"),
    "summary_tests.md": lambda: summary.of_tests(
        [race()], [summary.CostChange("k", "cost", {"wavefronts": 8}, {"wavefronts": 1})]
    ),
    "opcode.txt": lambda: tellings_text.page(TOLD),
    "race.sarif": lambda: hazard_reports.sarif([race()], "0.0.0", KINDS),
    **{name: partial(printed, words) for name, words in COMMANDS.items()},
}

NO_VIEWS: Final = {"core", "drawing", "notebook", "formulas"}
"""What draws and lays out whatever a view says, passes views on to notebooks, or is a sentence in a hover."""
RESULTS: Final = {"str", "str | None", "Figure", "Figure | Scene", "Scene"}


def views() -> dict[str, CodeType]:
    """Every public function of `ptxloom.views` that gives a text or a picture: module and name, and its code."""
    found: dict[str, CodeType] = {}
    for info in walk_packages(ptxloom.views.__path__, "ptxloom.views."):
        if info.ispkg or NO_VIEWS & {*info.name.split(".")}:
            continue
        for name, one in vars(import_module(info.name)).items():
            is_own = isfunction(one) and one.__module__ == info.name and not name.startswith("_")
            if is_own and one.__annotations__.get("return") in RESULTS:
                found[f"{info.name}.{name}"] = one.__code__
    return found


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_rendering_is_what_a_human_approved(name: str, request: pytest.FixtureRequest) -> None:
    path, text = FILES / name, RENDERINGS[name]()
    if request.config.getoption("--update"):
        path.write_text(text, encoding="utf-8", newline="")
    assert text == path.read_text(encoding="utf-8")


def test_every_view_has_a_golden_file() -> None:
    """Watched while files are rendered until each was called: a view that is not is one without a golden file."""
    wanted, called, before = views(), set[object](), sys.getprofile()
    for name in sorted(RENDERINGS, key=lambda name: name in COMMANDS):  # commands take longer, and call few more
        if not called.issuperset(wanted.values()):
            with cProfile.Profile() as profile:
                RENDERINGS[name]()
            called |= {entry.code for entry in profile.getstats()}
    sys.setprofile(before)
    assert len(wanted) > 80
    assert [name for name, code in wanted.items() if code not in called] == []


def test_no_golden_file_is_left_over() -> None:
    assert {p.name for p in FILES.iterdir()} == RENDERINGS.keys()
